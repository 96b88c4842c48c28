/**
 * The requests of one synchronizer that change a count. Each takes effect once, even if its reply is lost.
 *
 * Every request has a unique id and a key under which the script remembers its answer; a repeat gets the remembered
 * answer. Acquisitions, which a caller can give up, are left to each primitive.
 */

import { serverTime } from '../clock.ts';
import { OutcomeUnknownError } from '../errors.ts';
import { answerKey } from '../keys.ts';
import type { OwnerNumbers } from '../runtime/owner.ts';
import { retry, retryCommand } from '../runtime/retry.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type AnswerRetention, retainedMs, UNANSWERED_MS } from './answer-retention.ts';

/** What requests need of their client. */
export interface RequestContext {
  readonly runtime: Runtime;
  readonly numbers: OwnerNumbers;
  readonly answerRetention: AnswerRetention;
}

/** Where the answer of a request is remembered, and for how long. */
export interface Memory {
  readonly answer: string;
  readonly rememberMs: number;
}

export class Requests {
  readonly #context: RequestContext;
  readonly #name: string;
  readonly #key: string;

  /** @param name the user's name, for messages */
  constructor(context: RequestContext, name: string, key: string) {
    this.#context = context;
    this.#name = name;
    this.#key = key;
  }

  /** The key for the answer of a new request. */
  nextAnswerKey(): string {
    return answerKey(this.#key, this.#context.numbers.next());
  }

  /** Runs a call that changes nothing. */
  read<T>(verb: string, call: () => Promise<T>): Promise<T> {
    this.#context.runtime.assertOpen();
    return retry(this.#context.runtime, this.#what(verb), call);
  }

  /** Runs a change once, or rejects; an OutcomeUnknownError says that it may have run. */
  async change<T>(verb: string, call: (memory: Memory) => Promise<T>): Promise<T> {
    this.#context.runtime.assertOpen();
    return this.#changeOnce(verb, this.#memory(), call);
  }

  /**
   * Runs a change once that others depend on. Without an answer in time the call rejects, and is retried in the
   * background if it may have run; with `evenIfNotRun`, also if it has not.
   */
  async changeSurely<T>(
    verb: string,
    call: (memory: Memory) => Promise<T>,
    { evenIfNotRun = false } = {},
  ): Promise<T> {
    const memory = this.#memory();
    const since = serverTime(this.#context.runtime.clock);
    try {
      return await this.#changeOnce(verb, memory, call);
    } catch (error) {
      if (evenIfNotRun || error instanceof OutcomeUnknownError)
        this.#retryInBackground(verb, since, () => call(memory));
      throw error;
    }
  }

  /** Runs a change once, in the background. */
  changeInBackground(verb: string, call: (memory: Memory) => Promise<unknown>): void {
    const memory = this.#memory();
    this.#retryInBackground(verb, serverTime(this.#context.runtime.clock), () => call(memory));
  }

  #memory(): Memory {
    return { answer: this.nextAnswerKey(), rememberMs: retainedMs(this.#context.runtime.rememberMs) };
  }

  async #changeOnce<T>(verb: string, memory: Memory, call: (memory: Memory) => Promise<T>): Promise<T> {
    let isRepeated = false;
    const reply = await retryCommand(this.#context.runtime, this.#what(verb), call(memory), () => {
      isRepeated = true;
      return () => call(memory);
    });
    // If the request was repeated, an earlier copy may still be on its way.
    if (!isRepeated) this.#context.answerRetention.arrived(this.#key, memory.answer);
    return reply;
  }

  #what(verb: string): string {
    return `${verb} "${this.#name}"`;
  }

  #retryInBackground(verb: string, since: number, call: () => Promise<unknown>): void {
    const { clock, backgroundRetry } = this.#context.runtime;
    const leftMs = since + UNANSWERED_MS - serverTime(clock);
    backgroundRetry.repeatUntilAnswered(this.#what(verb), leftMs, call);
  }
}
