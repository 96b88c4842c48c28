/**
 * One call that acquires permits of a rate limiter.
 *
 * All attempts of a call carry the same random id, which names its entry in the history. Once one attempt has taken
 * the permits, the others find that entry and take nothing. If the caller gives up while an attempt may have run or
 * may still run, the entry is removed, and no attempt can add it again.
 */
import { randomBytes } from 'node:crypto';
import { DriverError, OptionError } from '../errors.ts';
import { endedKey, ratePermitsKey, rateValueKey } from '../keys.ts';
import { UNANSWERED_MS } from '../requests/answers.ts';
import { Acquisition } from '../runtime/acquire.ts';
import type { Waiting } from '../runtime/line.ts';
import { jittered, POLL_MS } from '../runtime/poller.ts';
import { LATE_MS } from '../runtime/tombstone.ts';
import { rateLimiterAcquire, rateLimiterUndo } from '../scripts/generated.ts';
import type { SynchronizerContext } from './synchronizer-context.ts';

/** Where a rate limiter is, and how to reach it. */
export interface RatePlace {
  readonly context: SynchronizerContext;
  readonly name: string;
  readonly key: string;
  readonly keys: RateKeys;
  /** The line of the waiters for this number of permits; for '', the prefix of all these lines. */
  readonly lineFor: (count: number | '') => string;
  /** Makes the waiters of this process look again, because permits may have become free. */
  readonly wakeWaiters: () => void;
}

type RateKeys = ReturnType<typeof rateKeys>;
type Answer = Awaited<ReturnType<typeof rateLimiterAcquire.run>>;

/** The keys of the shared limit and of this client's limit. The limiter's configuration says which limit applies. */
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

/** Results in true, or in the error that says why the permits will never be granted. */
export class RateAcquisition extends Acquisition<true | Error, Answer> {
  readonly #place: RatePlace;
  readonly #count: number;
  readonly #id = randomBytes(16);
  readonly #answer: string;
  #waitMs = 0;

  constructor(place: RatePlace, count: number) {
    super(place.context.runtime, place.lineFor(count));
    this.#place = place;
    this.#count = count;
    this.#answer = endedKey(place.key, this.#id.toString('hex'));
  }

  protected get what(): string {
    return `acquire ${this.#count} of "${this.#place.name}"`;
  }

  protected get waiting(): Waiting {
    // The server announces neither permits that are released early nor a new rate.
    return { kind: 'spin', nextDelayMs: () => Math.min(this.#waitMs, jittered(POLL_MS)) };
  }

  protected override get isShared(): boolean {
    return true;
  }

  protected attempt(): Promise<Answer> {
    const { context, keys } = this.#place;
    const args = { count: this.#count, id: this.#id, rememberMs: this.hadTrouble ? LATE_MS : 0 };
    return rateLimiterAcquire.run(context.wire.driver, { ...keys, answer: this.#answer }, args);
  }

  protected busyMs(answer: Answer): number | undefined {
    if (answer.status !== 'short') return undefined;
    this.#waitMs = answer.waitMs;
    return answer.waitMs;
  }

  protected accept(answer: Answer, isDoubtful: boolean): true | Error {
    const { name } = this.#place;
    if (isDoubtful && answer.status !== 'granted') this.abandon();
    switch (answer.status) {
      case 'excess':
        return new OptionError(
          `Requested permits amount cannot exceed defined rate: ${this.#count} of "${name}", whose rate is ${answer.rate}`,
        );
      case 'unset':
        return unsetError(name);
      case 'undone':
        // Only a bug in holdfast could repeat an attempt that was given up.
        return new DriverError(`An attempt to take "${name}" is over and was repeated`);
      default:
        return true;
    }
  }

  protected abandon(): void {
    const { context, keys, name, wakeWaiters } = this.#place;
    const args = { count: this.#count, id: this.#id, rememberMs: LATE_MS };
    context.runtime.backgroundRetry.settle(`give back permits of "${name}"`, UNANSWERED_MS, async () => {
      const reply = await rateLimiterUndo.run(context.wire.driver, { ...keys, answer: this.#answer }, args);
      if (reply.status === 'returned') wakeWaiters();
    });
  }
}
