/**
 * The attempts of one call to take permits of a rate limiter, for the engine that repeats them.
 *
 * All attempts of a call carry the same random id, which names its entry in the history: whichever of them takes
 * the permits, the others find that entry and take nothing. When the caller gives up while one of them may have
 * run or may yet run, the entry is taken out again, and none will ever make it anew.
 */
import { randomBytes } from 'node:crypto';
import { DriverError, OptionError } from '../errors.ts';
import { endedKey, ratePermitsKey, rateValueKey } from '../keys.ts';
import type { Busy, Contest, Granted, Waiting } from '../runtime/acquire.ts';
import { LATE_MS } from '../runtime/bar.ts';
import { jittered, POLL_MS } from '../runtime/poll.ts';
import { rateLimiterAcquire, rateLimiterUndo } from '../scripts/generated.ts';
import { UNANSWERED_MS } from './answers.ts';
import type { SynchronizerContext } from './requests.ts';

const OVER: Granted<true> = { granted: true, value: true };

/** Where a rate limiter is, and how to reach it. */
export interface RatePlace {
  readonly context: SynchronizerContext;
  readonly name: string;
  readonly key: string;
  readonly keys: RateKeys;
  /** Permits may be free that those who wait in this process do not know of. */
  readonly wakeWaiters: () => void;
}

type RateKeys = ReturnType<typeof rateKeys>;

/** The limit of all and that of one client: which of them is in force is written in the limiter. */
export function rateKeys(key: string, clientId: string) {
  return {
    config: key,
    overallValue: rateValueKey(key),
    overallHistory: ratePermitsKey(key),
    clientValue: rateValueKey(key, clientId),
    clientHistory: ratePermitsKey(key, clientId),
  };
}

export function unsetError(name: string): DriverError {
  return new DriverError(`The rate limiter "${name}" is not initialized: call trySetRate first`);
}

export class RateContest implements Contest<true> {
  readonly what: string;
  readonly waiting: Waiting;
  /** Why it will never be granted. */
  refusal: Error | undefined;
  readonly #place: RatePlace;
  readonly #count: number;
  readonly #id = randomBytes(16);
  readonly #answer: string;
  #waitMs = 0;
  /** An attempt got no answer, so a copy of it may come at any time. */
  #hadTrouble = false;
  /** An attempt may have run, or may yet run, that nobody knows the outcome of. */
  #isInDoubt = false;
  #isGivenUp = false;

  constructor(place: RatePlace, count: number) {
    this.#place = place;
    this.#count = count;
    this.#answer = endedKey(place.key, this.#id.toString('hex'));
    this.what = `acquire ${count} of "${place.name}"`;
    this.waiting = {
      kind: 'spin',
      // Nobody announces that permits came back early, or that the rate changed.
      nextDelayMs: () => Math.min(this.#waitMs, jittered(POLL_MS)),
    };
  }

  async attempt(): Promise<Granted<true> | Busy> {
    const { context, keys, name } = this.#place;
    const args = { count: this.#count, id: this.#id, rememberMs: this.#hadTrouble ? LATE_MS : 0 };
    this.#isInDoubt = true;
    let reply: Awaited<ReturnType<typeof rateLimiterAcquire.run>>;
    try {
      reply = await rateLimiterAcquire.run(context.wire.driver, { ...keys, answer: this.#answer }, args);
    } catch (error) {
      this.#hadTrouble = true;
      throw error;
    }
    // Given up meanwhile: whatever it took is being given back.
    if (this.#isGivenUp) return { granted: false, remainingMs: -1 };
    // After a grant, copies find the entry or the mark.
    this.#isInDoubt = this.#hadTrouble && reply.status !== 'granted';
    switch (reply.status) {
      case 'granted':
        return OVER;
      case 'short':
        this.#waitMs = reply.waitMs;
        return { granted: false, remainingMs: reply.waitMs };
      case 'excess':
        this.refusal = new OptionError(
          `Requested permits amount cannot exceed defined rate: ${this.#count} of "${name}", whose rate is ${reply.rate}`,
        );
        return OVER;
      case 'unset':
        this.refusal = unsetError(name);
        return OVER;
      case 'undone':
        // Only a defect of ours could repeat an attempt that was given up.
        throw new DriverError(`An attempt to take "${name}" is over and was repeated`);
    }
  }

  /** Undoes the attempts whose outcome is not known, if there are any. Calling it again does nothing. */
  abandon(): void {
    if (!this.#isInDoubt) return;
    this.#isInDoubt = false;
    this.#isGivenUp = true;
    const { context, keys, name, wakeWaiters } = this.#place;
    const args = { count: this.#count, id: this.#id, rememberMs: LATE_MS };
    context.runtime.settler.settle(`give back permits of "${name}"`, UNANSWERED_MS, async () => {
      const reply = await rateLimiterUndo.run(context.wire.driver, { ...keys, answer: this.#answer }, args);
      if (reply.status === 'returned') wakeWaiters();
    });
  }
}
