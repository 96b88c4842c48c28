/**
 * The calls of one synchronizer that change a count: each takes effect once, though its reply be lost.
 *
 * Every request has an id that is never used again and a key under which the script remembers its answer;
 * asked again, the server answers from memory. Acquiring, which can be given up, is left to its primitive.
 */
import { classify } from '../drivers/outcome.ts';
import { OutcomeUnknownError } from '../errors.ts';
import { endedKey } from '../keys.ts';
import { LATE_MS } from '../runtime/bar.ts';
import type { OwnerNumbers } from '../runtime/owner.ts';
import { persist } from '../runtime/persist.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type Answers, UNANSWERED_MS } from './answers.ts';
import type { Crowds } from './crowd.ts';
import type { Wire } from './wire.ts';

/** What all synchronizers of a client share. */
export interface SynchronizerContext {
  readonly runtime: Runtime;
  readonly numbers: OwnerNumbers;
  readonly wire: Wire;
  readonly answers: Answers;
  readonly crowds: Crowds;
}

/** What requests need of it; locks have that too. */
export type RequestContext = Pick<SynchronizerContext, 'runtime' | 'numbers' | 'answers'>;

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

  /** Where the answer of a new request will be kept. */
  nextAnswerKey(): string {
    return endedKey(this.#key, this.#context.numbers.next());
  }

  /** Asks without changing anything. */
  read<T>(verb: string, call: () => Promise<T>): Promise<T> {
    this.#context.runtime.assertOpen();
    return this.#persist(verb, call);
  }

  /** Changes something once, or says that it is not known whether it did. */
  change<T>(verb: string, call: (memory: Memory) => Promise<T>): Promise<T> {
    this.#context.runtime.assertOpen();
    const rememberMs = Math.max(LATE_MS, this.#context.runtime.rememberMs);
    const memory = { answer: this.nextAnswerKey(), rememberMs };
    return this.#persist(verb, () => call(memory));
  }

  /**
   * Changes something once that somebody relies on. Without an answer in time the call rejects, and goes on in
   * the background if it may have run; with `evenIfNotRun`, also if it has not.
   */
  async owe<T>(
    verb: string,
    call: (memory: Memory) => Promise<T>,
    { evenIfNotRun = false } = {},
  ): Promise<T> {
    const memory = this.#lastingMemory();
    let isFirst = true;
    try {
      const reply = await this.#persist(verb, async () => {
        try {
          return await call(memory);
        } catch (error) {
          isFirst = false;
          throw error;
        }
      });
      if (isFirst) this.#context.answers.arrived(this.#key, memory.answer);
      return reply;
    } catch (error) {
      const goesOn = evenIfNotRun ? classify(error) !== 'refused' : error instanceof OutcomeUnknownError;
      if (goesOn) this.#settle(verb, () => call(memory));
      throw error;
    }
  }

  /** Changes something once, in the background. */
  oweLater(verb: string, call: (memory: Memory) => Promise<unknown>): void {
    const memory = this.#lastingMemory();
    this.#settle(verb, () => call(memory));
  }

  #lastingMemory(): Memory {
    return { answer: this.nextAnswerKey(), rememberMs: UNANSWERED_MS };
  }

  #persist<T>(verb: string, call: () => Promise<T>): Promise<T> {
    const { clock, commandTimeoutMs } = this.#context.runtime;
    return persist(clock, commandTimeoutMs, `${verb} "${this.#name}"`, call);
  }

  #settle(verb: string, call: () => Promise<unknown>): void {
    this.#context.runtime.settler.settle(`${verb} "${this.#name}"`, UNANSWERED_MS, call);
  }
}
