/**
 * The rate limiter: a sliding window with at most `rate` permits in any interval.
 *
 * A permit becomes free when its interval is over. `rate-acquisition.ts` makes the attempts of one caller.
 */
import { OptionError } from '../errors.ts';
import { checkCount, checkOptions } from '../options/checks.ts';
import { type Memory, Requests } from '../requests/requests.ts';
import {
  rateLimiterAvailablePermits,
  rateLimiterGetConfig,
  rateLimiterRelease,
  rateLimiterSetRate,
  rateLimiterTrySetRate,
} from '../scripts/generated.ts';
import { RateAcquisition, type RatePlace, rateKeys, unsetError } from './rate-acquisition.ts';
import type { AcquireOptions, TryAcquireOptions } from './semaphore.ts';
import type { SynchronizerContext } from './synchronizer-context.ts';

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
  readonly #context: SynchronizerContext;
  readonly #requests: Requests;
  readonly #place: RatePlace;

  /** @internal */
  constructor(context: SynchronizerContext, clientId: string, name: string) {
    this.name = name;
    this.#context = context;
    const key = context.wire.rawName(name);
    this.#requests = new Requests(context, name, key);
    const wakeWaiters = () => this.#wakeWaiters();
    // Small requests do not wait behind large ones: each size has its own line.
    const lineFor = (count: number | '') => `rate limiter ${key} ${count}`;
    this.#place = { context, name, key, keys: rateKeys(key, clientId), lineFor, wakeWaiters };
  }

  /**
   * Sets the rate, unless the limiter has one.
   *
   * @returns false when the limiter has a rate already; it stays as it is
   */
  async trySetRate(options: RateOptions): Promise<boolean> {
    const rate = checkRate(options);
    const { status } = await this.#requests.change('set the rate of', (memory) =>
      rateLimiterTrySetRate.run(...this.#call(memory, rate)),
    );
    if (status === 'set') this.#wakeWaiters();
    return status === 'set';
  }

  /**
   * Sets the rate, whether or not the limiter has one, and starts over: earlier grants no longer count, except those
   * of other clients under their own limit.
   */
  async setRate(options: RateOptions): Promise<void> {
    const rate = checkRate(options);
    await this.#requests.change('set the rate of', (memory) =>
      rateLimiterSetRate.run(...this.#call(memory, rate)),
    );
    this.#wakeWaiters();
  }

  /**
   * Takes permits, all at once; waits without limit.
   *
   * @throws the reason of `signal`; an aborted call takes nothing
   * @throws OptionError when `permits` exceeds the rate; DriverError when the limiter has no rate
   */
  async acquire(permits = 1, options?: AcquireOptions): Promise<void> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    const { signal } = checkOptions('acquirePermits', options);
    if (!(await this.#take(count, Number.POSITIVE_INFINITY, signal))) {
      throw new Error('a wait without a limit ended');
    }
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
  async tryAcquire(permits = 1, options?: TryAcquireOptions): Promise<boolean> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    const { signal, waitMs = 0 } = checkOptions('tryAcquirePermits', options);
    return this.#take(count, waitMs, signal);
  }

  /**
   * Gives unused permits back before their interval ends. The number of free permits never exceeds the rate.
   *
   * @throws OutcomeUnknownError when the server did not answer in time; the release is retried in the background and
   * takes effect once
   */
  async release(permits = 1): Promise<void> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    this.#context.runtime.assertOpen();
    if (count === 0) return;
    const { status } = await this.#requests.owe('release', (memory) =>
      rateLimiterRelease.run(...this.#call(memory, { count })),
    );
    if (status === 'unset') throw unsetError(this.name);
    this.#wakeWaiters();
  }

  /** How many permits are free now. */
  async availablePermits(): Promise<number> {
    const { driver } = this.#context.wire;
    const reply = await this.#requests.read('ask for permits of', () =>
      rateLimiterAvailablePermits.run(driver, this.#place.keys, {}),
    );
    if (reply.status === 'unset') throw unsetError(this.name);
    return reply.count;
  }

  /** The configuration of the limiter; null when it has no rate. */
  async getConfig(): Promise<RateConfig | null> {
    const { driver } = this.#context.wire;
    const reply = await this.#requests.read('ask for the rate of', () =>
      rateLimiterGetConfig.run(driver, { config: this.#place.key }, {}),
    );
    if (reply.status === 'unset') return null;
    const { rate, intervalMs, keepAliveMs } = reply;
    return { mode: reply.mode === '1' ? 'perClient' : 'overall', rate, intervalMs, keepAliveMs };
  }

  async #take(count: number, waitMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    this.#context.runtime.assertOpen();
    signal?.throwIfAborted();
    if (count === 0) return true;
    const granted = await new RateAcquisition(this.#place, count).take({ waitMs, signal });
    if (granted instanceof Error) throw granted;
    return granted !== null;
  }

  /** The waiters of this process look at once. Those of other processes get no message and look after their pause. */
  #wakeWaiters(): void {
    this.#context.runtime.lines.wakeAll(this.#place.lineFor(''));
  }

  #call<Args>({ answer, rememberMs }: Memory, args: Args) {
    const { driver } = this.#context.wire;
    return [driver, { ...this.#place.keys, answer }, { ...args, rememberMs }] as const;
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
