/**
 * The rate limiter: a sliding window, at most so many permits in any interval.
 *
 * Permits come back by themselves when their time is over. How the attempts of one caller are made is in
 * `rate-acquisition.ts`.
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

/** An entry of the history has four bytes for them. */
const MOST_PERMITS = 2 ** 32 - 1;

/** How many permits there are, and for whom. */
export interface RateOptions {
  /** One limit for everybody, or one for each client. */
  mode: 'overall' | 'perClient';
  /** So many permits … */
  rate: number;
  /** … in any interval of this length. */
  intervalMs: number;
  /** How long the limiter lives after it was last used, not less than `intervalMs`; 0, the default: for ever. */
  keepAliveMs?: number | undefined;
}

/** How a rate limiter is set. */
export interface RateConfig extends RateOptions {
  /** 0: it lives for ever. */
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
   * Gives the limiter its rate, unless it has one.
   *
   * @returns false: it has a rate already, and was left as it is
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
   * Gives the limiter its rate, whether it has one or not. It begins anew: what was granted before counts no
   * more, except what other clients were granted by their own limit.
   */
  async setRate(options: RateOptions): Promise<void> {
    const rate = checkRate(options);
    await this.#requests.change('set the rate of', (memory) =>
      rateLimiterSetRate.run(...this.#call(memory, rate)),
    );
    this.#wakeWaiters();
  }

  /**
   * Takes permits, all of them at once, waiting as long as it takes.
   *
   * @throws the reason of `signal`; a call that is given up takes nothing
   * @throws OptionError when the rate is lower than that; DriverError when the limiter has none
   */
  async acquire(permits = 1, options?: AcquireOptions): Promise<void> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    const { signal } = checkOptions('acquirePermits', options);
    if (!(await this.#take(count, Number.POSITIVE_INFINITY, signal))) {
      throw new Error('a wait without a limit ended');
    }
  }

  /**
   * Takes permits if they can be had within `waitMs`.
   *
   * @example
   * ```ts
   * const uploads = client.getRateLimiter('uploads');
   * await uploads.trySetRate({ mode: 'overall', rate: 5, intervalMs: 60_000 });
   * console.log(await uploads.tryAcquire(5)); // true
   * console.log(await uploads.tryAcquire(1, { waitMs: 50 })); // false
   * ```
   *
   * @throws OptionError when the rate is lower than that; DriverError when the limiter has none
   */
  async tryAcquire(permits = 1, options?: TryAcquireOptions): Promise<boolean> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    const { signal, waitMs = 0 } = checkOptions('tryAcquirePermits', options);
    return this.#take(count, waitMs, signal);
  }

  /**
   * Gives permits back before their time, because they were not needed. No more are free than the rate allows.
   *
   * @throws OutcomeUnknownError when the server did not answer in time; the release goes on in the background
   * and takes effect once
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

  /** How many permits could be taken at once, now. */
  async availablePermits(): Promise<number> {
    const { driver } = this.#context.wire;
    const reply = await this.#requests.read('ask for permits of', () =>
      rateLimiterAvailablePermits.run(driver, this.#place.keys, {}),
    );
    if (reply.status === 'unset') throw unsetError(this.name);
    return reply.count;
  }

  /** How the limiter is set; null when it has no rate. */
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

  /** Those of this process look at once; others, whom nobody tells, when it is time for them. */
  #wakeWaiters(): void {
    this.#context.runtime.lookAtAll(this.#place.lineFor(''));
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
