/**
 * One call that acquires permits of a rate limiter.
 *
 * All attempts of a call carry the same random id, which names its entry in the history. Once one attempt has taken
 * the permits, the others find that entry and take nothing. If the caller gives up while an attempt may have run or
 * may still run, the entry is removed, and no attempt can add it again.
 */
import { randomBytes } from 'node:crypto';
import { DriverError, OptionError } from '../errors.ts';
import { answerKey, ratePermitsKey, rateValueKey } from '../keys.ts';
import type { Waiting } from '../runtime/protocol.ts';
import { LATE_MS } from '../runtime/tombstone.ts';
import { jittered, POLL_MS } from '../runtime/wake/poller.ts';
import { rateLimiterAcquire, rateLimiterUndo } from '../scripts/generated.ts';
import { Counter, type SynchronizerContext } from './counter.ts';
import { CounterAcquisition, lineFor, permitsOf } from './counter-acquisition.ts';

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

/** The counter of a rate limiter. */
export class RateCounter extends Counter {
  readonly keys: ReturnType<typeof rateKeys>;

  constructor(context: SynchronizerContext, clientId: string, name: string) {
    super(context, 'rateLimiter', name);
    this.keys = rateKeys(this.key, clientId);
  }

  /** The waiters of this process look at once. Those of other processes get no message and look after their pause. */
  wakeWaiters(): void {
    this.context.runtime.lines.wakeAll(lineFor(this, ''));
  }
}

export function unsetError(name: string): DriverError {
  return new DriverError(`The rate limiter "${name}" is not initialized: call trySetRate first`);
}

/** Results in true, or in the error that says why the permits will never be granted. */
export class RateAcquisition extends CounterAcquisition<true | Error, Answer> {
  readonly #counter: RateCounter;
  readonly #id = randomBytes(16);
  readonly #answer: string;
  #waitMs = 0;
  #remaining = 0;

  constructor(counter: RateCounter, count: number) {
    super(counter.context.runtime, counter, count);
    this.#counter = counter;
    this.#answer = answerKey(counter.key, this.#id.toString('hex'));
  }

  /** When there will be enough permits, counted from the last refusal. */
  get waitMs(): number {
    return this.#waitMs;
  }

  /** How many permits the last answer left. */
  get remaining(): number {
    return this.#remaining;
  }

  protected get waiting(): Waiting {
    // The server announces neither permits that are released early nor a new rate.
    return { kind: 'spin', nextDelayMs: () => Math.min(this.#waitMs, jittered(POLL_MS)) };
  }

  protected attempt(isDoubtful: boolean): Promise<Answer> {
    const acquire = this.#counter.requestWith(rateLimiterAcquire, this.#counter.keys, this.#args);
    return acquire({ answer: this.#answer, rememberMs: isDoubtful ? LATE_MS : 0 });
  }

  protected busyMs(answer: Answer): number | undefined {
    if (answer.status !== 'short') return undefined;
    this.#waitMs = answer.waitMs;
    this.#remaining = answer.left;
    return answer.waitMs;
  }

  protected accept(answer: Answer, isDoubtful: boolean): true | Error {
    const { name } = this.#counter;
    if (isDoubtful && answer.status !== 'granted') this.abandon();
    switch (answer.status) {
      case 'excess':
        return new OptionError(
          `Cannot acquire ${permitsOf(name, this.count)}: its rate is ${answer.rate}, and a request cannot exceed the rate`,
        );
      case 'unset':
        return unsetError(name);
      case 'undone':
        return this.repeated();
      default:
        this.#remaining = answer.left;
        return true;
    }
  }

  protected abandon(): void {
    const undo = this.#counter.requestWith(rateLimiterUndo, this.#counter.keys, this.#args);
    this.giveBack(async () => {
      const reply = await undo({ answer: this.#answer, rememberMs: LATE_MS });
      if (reply.status === 'returned') this.#counter.wakeWaiters();
    });
  }

  get #args(): { count: number; id: Buffer } {
    return { count: this.count, id: this.#id };
  }
}
