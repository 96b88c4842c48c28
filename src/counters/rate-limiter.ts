/**
 * The rate limiter: a sliding window with at most `rate` permits in any interval.
 *
 * A permit becomes free when its interval is over. `rate-acquisition.ts` makes the attempts of one caller.
 */
import { OptionError } from '../errors.ts';
import { checkCount, checkOptions } from '../options/checks.ts';
import {
  rateLimiterAvailablePermits,
  rateLimiterGetConfig,
  rateLimiterRelease,
  rateLimiterSetRate,
  rateLimiterTrySetRate,
} from '../scripts/generated.ts';
import { AcquireMethods, type AcquireOptions, type TryAcquireOptions } from './acquire-methods.ts';
import type { SynchronizerContext } from './counter.ts';
import { RateAcquisition, RateCounter, unsetError } from './rate-acquisition.ts';

/** An entry of the history stores the number of permits in four bytes. */
const MOST_PERMITS = 2 ** 32 - 1;

/** The rate, and whether all clients share it. */
export interface RateOptions {
  /** One limit for all clients, or one for each client. */
  mode: 'overall' | 'perClient';
  /** The number of permits … */
  rate: number;
  /** … in any interval of this length. */
  intervalMs: number;
  /** How long the limiter is kept after its last use, at least `intervalMs`; 0, the default: forever. */
  keepAliveMs?: number | undefined;
}

/** The configuration of a rate limiter. */
export interface RateConfig extends RateOptions {
  /** 0: the limiter is kept forever. */
  keepAliveMs: number;
}

/** The answer to one request for permits. */
export interface RateTaken {
  /** Whether the permits were taken. */
  readonly granted: boolean;
  /** How many permits are left now. */
  readonly remaining: number;
  /** In how many ms there will be enough, if no other caller takes them; 0 when granted. */
  readonly retryAfterMs: number;
}

/**
 * A limit on how often something is done, shared by processes and machines, made by
 * `client.getRateLimiter(name)`.
 *
 * @example
 * ```ts
 * const mails = client.getRateLimiter('mails');
 * await mails.trySetRate({ mode: 'overall', rate: 100, intervalMs: 60_000 });
 * await mails.acquire();
 * console.log(await mails.availablePermits()); // 99
 * ```
 */
export class RateLimiter {
  readonly name: string;
  readonly #counter: RateCounter;
  readonly #acquireMethods: AcquireMethods;

  /** @internal */
  constructor(context: SynchronizerContext, clientId: string, name: string) {
    this.name = name;
    const counter = new RateCounter(context, clientId, name);
    this.#counter = counter;
    this.#acquireMethods = new AcquireMethods(
      context.runtime,
      MOST_PERMITS,
      (count) => new RateAcquisition(counter, count),
    );
  }

  /**
   * Sets the rate, unless the limiter has one.
   *
   * @returns false when the limiter has a rate already; it stays as it is
   */
  async trySetRate(options: RateOptions): Promise<boolean> {
    const rate = checkRate(options);
    const { requests, keys } = this.#counter;
    const trySet = this.#counter.requestWith(rateLimiterTrySetRate, keys, rate);
    const { status } = await requests.change('set the rate of', trySet);
    if (status === 'set') this.#counter.wakeWaiters();
    return status === 'set';
  }

  /**
   * Sets the rate, whether or not the limiter has one, and starts over: earlier grants no longer count, except those
   * of other clients under their own limit.
   */
  async setRate(options: RateOptions): Promise<void> {
    const rate = checkRate(options);
    const { requests, keys } = this.#counter;
    await requests.change('set the rate of', this.#counter.requestWith(rateLimiterSetRate, keys, rate));
    this.#counter.wakeWaiters();
  }

  /**
   * Takes permits, all at once; waits without limit.
   *
   * @throws the reason of `signal`; an aborted call takes nothing
   * @throws OptionError when `permits` exceeds the rate; DriverError when the limiter has no rate
   */
  acquire(permits = 1, options?: AcquireOptions): Promise<void> {
    return this.#acquireMethods.acquire(permits, options);
  }

  /**
   * Takes permits if they are available within `waitMs`.
   *
   * @example
   * ```ts
   * const uploads = client.getRateLimiter('uploads');
   * await uploads.trySetRate({ mode: 'overall', rate: 5, intervalMs: 60_000 });
   * console.log(await uploads.tryAcquire(5)); // true
   * console.log(await uploads.tryAcquire(1, { waitMs: 50 })); // false
   * ```
   *
   * @throws OptionError when `permits` exceeds the rate; DriverError when the limiter has no rate
   */
  tryAcquire(permits = 1, options?: TryAcquireOptions): Promise<boolean> {
    return this.#acquireMethods.tryAcquire(permits, options);
  }

  /**
   * Asks for permits once, as `tryAcquire` does, and answers what is left, or when to come back: what an HTTP server
   * tells with 429. The server computes it on its own clock, together with the grant.
   *
   * @example
   * ```ts
   * const searches = client.getRateLimiter('searches');
   * await searches.trySetRate({ mode: 'overall', rate: 2, intervalMs: 60_000 });
   * console.log(await searches.take()); // { granted: true, remaining: 1, retryAfterMs: 0 }
   * const { granted, remaining, retryAfterMs } = await searches.take(2);
   * console.log(granted, remaining, retryAfterMs > 59_000); // false 1 true
   * ```
   *
   * @throws OptionError when `permits` exceeds the rate; DriverError when the limiter has no rate
   */
  async take(permits = 1): Promise<RateTaken> {
    const count = checkCount(permits, 'permits', 1, MOST_PERMITS);
    const acquisition = new RateAcquisition(this.#counter, count);
    const result = await acquisition.take({ waitMs: 0, signal: undefined });
    if (result instanceof Error) throw result;
    const granted = result !== null;
    return {
      granted,
      remaining: acquisition.remaining,
      retryAfterMs: granted ? 0 : acquisition.waitMs,
    };
  }

  /**
   * Gives unused permits back before their interval ends. The number of free permits never exceeds the rate.
   *
   * @throws OutcomeUnknownError when the server did not answer in time; the release is retried in the background and
   * takes effect once
   */
  async release(permits = 1): Promise<void> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    const { context, keys } = this.#counter;
    context.runtime.assertOpen();
    if (count === 0) return;
    const release = this.#counter.requestWith(rateLimiterRelease, keys, { count });
    const { status } = await this.#counter.giveBack(count, release, (reply) => reply.status === 'unset');
    if (status === 'unset') throw unsetError(this.name);
    this.#counter.wakeWaiters();
  }

  /** How many permits are free now. */
  async availablePermits(): Promise<number> {
    const { context, requests, keys } = this.#counter;
    const reply = await requests.read('read the permits of', () =>
      rateLimiterAvailablePermits.run(context.wire.driver, keys, {}),
    );
    if (reply.status === 'unset') throw unsetError(this.name);
    return reply.count;
  }

  /** The configuration of the limiter; null when it has no rate. */
  async getConfig(): Promise<RateConfig | null> {
    const { context, requests, key } = this.#counter;
    const reply = await requests.read('read the rate of', () =>
      rateLimiterGetConfig.run(context.wire.driver, { config: key }, {}),
    );
    if (reply.status === 'unset') return null;
    const { rate, intervalMs, keepAliveMs } = reply;
    return { mode: reply.mode === '1' ? 'perClient' : 'overall', rate, intervalMs, keepAliveMs };
  }
}

function checkRate(options: RateOptions) {
  const { mode, rate, intervalMs, keepAliveMs = 0 } = checkOptions('rate', options);
  if (mode === undefined || rate === undefined || intervalMs === undefined) {
    throw new OptionError('A rate needs mode, rate and intervalMs');
  }
  if (keepAliveMs !== 0 && keepAliveMs < intervalMs) {
    throw new OptionError(`keepAliveMs must be 0 or at least intervalMs, not ${keepAliveMs}`);
  }
  return { mode: mode === 'perClient' ? '1' : '0', rate, intervalMs, keepAliveMs };
}
