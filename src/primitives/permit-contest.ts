/**
 * The attempts of one call to take permits of a semaphore, for the engine that repeats them.
 *
 * An attempt is repeated under its own id until it is answered, and an answered one is over: the next try is
 * a new attempt. So there is at most one attempt at a time whose outcome is not known, and when the caller
 * gives up, that one is undone: what it took goes back, and if it has not run yet it never will.
 */
import { DriverError } from '../errors.ts';
import { semaphoreChannel } from '../keys.ts';
import type { Busy, Contest, Granted, Waiting } from '../runtime/acquire.ts';
import { LATE_MS } from '../runtime/bar.ts';
import { POLL_MS } from '../runtime/poll.ts';
import { semaphoreAcquire, semaphoreUndo } from '../scripts/generated.ts';
import { UNANSWERED_MS } from './answers.ts';
import type { Requests, SynchronizerContext } from './requests.ts';

const TAKEN: Granted<true> = { granted: true, value: true };
const SHORT: Busy = { granted: false, remainingMs: -1 };

/** Where a semaphore is, and how to reach it. */
export interface SemaphorePlace {
  readonly context: SynchronizerContext;
  readonly requests: Requests;
  readonly name: string;
  readonly key: string;
}

export class PermitContest implements Contest<true> {
  readonly what: string;
  readonly waiting: Waiting;
  readonly #place: SemaphorePlace;
  readonly #count: number;
  /** Where the answer of the attempt is kept that is under way, or took what is not collected yet. */
  #answer: string | undefined;
  #hadTrouble = false;

  constructor(place: SemaphorePlace, count: number) {
    this.#place = place;
    this.#count = count;
    this.what = `acquire ${count} of "${place.name}"`;
    this.waiting = {
      kind: 'messages',
      channel: semaphoreChannel(place.key),
      pollMs: POLL_MS,
      shared: true,
    };
  }

  async attempt(): Promise<Granted<true> | Busy> {
    const { context, requests, key, name } = this.#place;
    const { granting, rememberMs } = context.wire;
    this.#answer ??= requests.nextAnswerKey();
    const answer = this.#answer;
    const keys = { permits: key, answer };
    // Where a copy may be on its way, too few must stay too few until it cannot arrive any more.
    const shortMs = this.#hadTrouble ? Math.max(LATE_MS, rememberMs) : rememberMs;
    let status: 'taken' | 'short' | 'undone';
    try {
      const args = { count: this.#count, takenMs: UNANSWERED_MS, shortMs };
      ({ status } = await granting.permits({ name, key }, semaphoreAcquire, keys, args));
    } catch (error) {
      this.#hadTrouble = true;
      throw error;
    }
    // Given up meanwhile: whatever it took is being given back.
    if (this.#answer !== answer) return SHORT;
    if (status === 'taken') return TAKEN;
    this.#answer = undefined;
    if (status === 'short') return SHORT;
    // Only a defect of ours could repeat an attempt that was given up.
    throw new DriverError(`An attempt to take "${name}" is over and was repeated`);
  }

  /**
   * The caller has what was taken: from here on it is not undone. Between the server's answer and this moment the
   * caller may have been aborted, and nobody else would give the permits back.
   */
  collect(): void {
    const answer = this.#answer;
    this.#answer = undefined;
    const { context, key } = this.#place;
    if (!this.#hadTrouble && answer !== undefined) context.answers.arrived(key, answer);
  }

  /** Undoes the attempt whose outcome is not known or not collected. Calling it again does nothing. */
  abandon(): void {
    const answer = this.#answer;
    if (answer === undefined) return;
    this.#answer = undefined;
    const { context, key, name } = this.#place;
    const { driver, publish } = context.wire;
    const args = { count: this.#count, publish, channel: semaphoreChannel(key), rememberMs: LATE_MS };
    context.runtime.settler.settle(`give back permits of "${name}"`, UNANSWERED_MS, async () => {
      const reply = await semaphoreUndo.run(driver, { permits: key, answer }, args);
      if (reply.status === 'returned') context.wire.announced(reply.announced);
    });
  }
}
