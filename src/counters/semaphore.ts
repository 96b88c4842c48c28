/**
 * The semaphore: a number of permits that any client takes and gives back.
 *
 * Permits have no owner and no lease: the permits of a process that dies stay taken. Every acquisition and release
 * counts exactly once. `permit-acquisition.ts` makes the attempts of one caller.
 */
import { AcquireTimeoutError, OptionError } from '../errors.ts';
import { semaphoreChannel } from '../keys.ts';
import type { Link } from '../linked-list.ts';
import { checkCount, checkOptions } from '../options/checks.ts';
import { type Memory, Requests } from '../requests/requests.ts';
import type { Interruptible } from '../runtime/runtime.ts';
import {
  semaphoreAddPermits,
  semaphoreAvailablePermits,
  semaphoreDrainPermits,
  semaphoreRelease,
  semaphoreReleaseIfExists,
  semaphoreTrySetPermits,
} from '../scripts/generated.ts';
import { PermitAcquisition } from './permit-acquisition.ts';
import type { SynchronizerContext } from './synchronizer-context.ts';

/** Redisson reads a number of permits as a Java `int`. */
const MOST_PERMITS = 2 ** 31 - 1;

/** How to wait for permits. */
export interface AcquireOptions {
  /** Stops the waiting; the call rejects with the signal's reason and takes nothing. */
  signal?: AbortSignal | undefined;
}

/** How to set the permits of a semaphore. */
export interface SetPermitsOptions {
  /** The semaphore expires after this time; default: never. */
  ttlMs?: number | undefined;
}

/** How to try to take permits. */
export interface TryAcquireOptions extends AcquireOptions {
  /** How long to wait at most; 0, the default, tries once. */
  waitMs?: number | undefined;
}

/** How to take permits for some work. */
export interface WithPermitOptions extends AcquireOptions {
  /** How many permits to take; 1. */
  permits?: number | undefined;
  /** How long to wait at most, then `AcquireTimeoutError`; default: no limit. */
  waitMs?: number | undefined;
}

/**
 * A number of permits that processes and machines share, made by `client.getSemaphore(name)`.
 *
 * @example
 * ```ts
 * const downloads = client.getSemaphore('downloads');
 * await downloads.trySetPermits(3);
 * await downloads.withPermit(async () => {
 *   console.log(await downloads.availablePermits()); // 2
 * });
 * ```
 */
export class Semaphore {
  readonly name: string;
  readonly #context: SynchronizerContext;
  readonly #requests: Requests;
  readonly #key: string;

  /** @internal */
  constructor(context: SynchronizerContext, name: string) {
    this.name = name;
    this.#context = context;
    this.#key = context.wire.rawName(name);
    this.#requests = new Requests(context, name, this.#key);
  }

  /**
   * Sets the number of permits, unless it is set already.
   *
   * @param options `ttlMs`: the semaphore expires after this time; default: never
   * @returns false when the number is set already; it stays as it is
   */
  async trySetPermits(permits: number, options?: SetPermitsOptions): Promise<boolean> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    const { ttlMs = 0 } = checkOptions('setPermits', options);
    const reply = await this.#requests.change('set permits of', (memory) =>
      semaphoreTrySetPermits.run(...this.#call(memory, { count, ttlMs })),
    );
    if (reply.status === 'set') this.#context.wire.announced(reply.announced);
    return reply.status === 'set';
  }

  /**
   * Takes permits, all at once; waits without limit.
   *
   * @throws the reason of `signal`; an aborted call takes nothing
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
   * const workers = client.getSemaphore('workers');
   * await workers.trySetPermits(5);
   * if (await workers.tryAcquire(2, { waitMs: 500 })) {
   *   console.log(await workers.availablePermits()); // 3
   *   await workers.release(2);
   * }
   * ```
   */
  async tryAcquire(permits = 1, options?: TryAcquireOptions): Promise<boolean> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    const { signal, waitMs = 0 } = checkOptions('tryAcquirePermits', options);
    return this.#take(count, waitMs, signal);
  }

  /**
   * Gives permits back, whichever client took them; a missing semaphore is created with them.
   *
   * @throws OutcomeUnknownError when the server did not answer in time; the release is retried in the background and
   * takes effect once
   */
  async release(permits = 1): Promise<void> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    this.#context.runtime.assertOpen();
    if (count === 0) return;
    const { announced } = await this.#requests.owe('release', (memory) =>
      semaphoreRelease.run(...this.#call(memory, { count })),
    );
    this.#context.wire.announced(announced);
  }

  /**
   * Gives permits back if the semaphore exists: one that expired is not created again.
   *
   * @returns false when the semaphore does not exist, and nothing was changed; also for 0 permits
   * @throws OutcomeUnknownError as `release` does
   */
  async releaseIfExists(permits = 1): Promise<boolean> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    this.#context.runtime.assertOpen();
    if (count === 0) return false;
    return this.#requests.owe('release', (memory) => this.#releaseIfExists(count, memory));
  }

  /** Adds permits, or removes them if negative; then the number of free permits may be below 0 for a while. */
  async addPermits(permits: number): Promise<void> {
    const count = checkCount(permits, 'permits', -MOST_PERMITS, MOST_PERMITS);
    const { announced } = await this.#requests.change('add permits to', (memory) =>
      semaphoreAddPermits.run(...this.#call(memory, { count })),
    );
    this.#context.wire.announced(announced);
  }

  /** Takes all free permits and returns how many they were. */
  async drainPermits(): Promise<number> {
    const { driver } = this.#context.wire;
    const { count } = await this.#requests.change('drain permits of', ({ answer, rememberMs }) =>
      semaphoreDrainPermits.run(driver, { permits: this.#key, answer }, { rememberMs }),
    );
    return count;
  }

  /** How many permits are free; below 0 when more permits are taken than the semaphore has. */
  async availablePermits(): Promise<number> {
    const { driver } = this.#context.wire;
    const { count } = await this.#requests.read('ask for permits of', () =>
      semaphoreAvailablePermits.run(driver, { permits: this.#key }, {}),
    );
    return count;
  }

  /**
   * Takes permits, runs the work, and gives the permits back once, however the work ends. An error of the work is
   * rethrown. A failed release is reported as the client's `error` event and retried in the background.
   *
   * Closing the client gives the permits back at once; the call then rejects with `ClosedError` when the work ends.
   *
   * @throws AcquireTimeoutError after `waitMs`
   */
  async withPermit<T>(work: () => T | Promise<T>, options?: WithPermitOptions): Promise<T> {
    const { permits = 1, waitMs, signal } = checkOptions('withPermit', options);
    if (typeof work !== 'function') throw new OptionError('withPermit needs a function to run');
    const count = checkCount(permits, 'permits', 1, MOST_PERMITS);
    const { runtime } = this.#context;
    let closed: unknown;
    // Permits have no lease: those not given back before the connection closes are lost.
    const interrupt = (reason: unknown) => {
      closed = reason;
      this.#requests.oweLater('release', (memory) => this.#releaseIfExists(count, memory));
    };
    // A closing client waits until it is known whether there are permits to give back.
    runtime.backgroundRetry.began();
    let place: Link<Interruptible>;
    try {
      if (!(await this.#take(count, waitMs ?? Number.POSITIVE_INFINITY, signal))) {
        throw new AcquireTimeoutError(this.name, waitMs ?? 0);
      }
      if (runtime.closed !== undefined) interrupt(undefined);
      runtime.assertOpen();
      place = runtime.underWay.add({ interrupt });
    } finally {
      runtime.backgroundRetry.ended();
    }
    try {
      const value = await work();
      if (closed !== undefined) throw closed;
      return value;
    } finally {
      runtime.underWay.remove(place);
      if (closed === undefined) await this.#giveBack(count);
    }
  }

  /** Never throws: a failed release must not hide the outcome of the work. */
  async #giveBack(count: number): Promise<void> {
    try {
      await this.#requests.owe('release', (memory) => this.#releaseIfExists(count, memory), {
        evenIfNotRun: true,
      });
    } catch (error) {
      this.#context.runtime.report('error', { error, during: `release "${this.name}"` });
    }
  }

  async #releaseIfExists(count: number, memory: Memory): Promise<boolean> {
    const reply = await semaphoreReleaseIfExists.run(...this.#call(memory, { count }));
    if (reply.status === 'released') this.#context.wire.announced(reply.announced);
    return reply.status === 'released';
  }

  async #take(count: number, waitMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { name } = this;
    this.#context.runtime.assertOpen();
    signal?.throwIfAborted();
    if (count === 0) return true;
    const place = { context: this.#context, requests: this.#requests, name, key: this.#key };
    return (await new PermitAcquisition(place, count).take({ waitMs, signal })) !== null;
  }

  #call<Args>({ answer, rememberMs }: Memory, args: Args) {
    const { driver, publish } = this.#context.wire;
    const channel = semaphoreChannel(this.#key);
    return [driver, { permits: this.#key, answer }, { ...args, publish, channel, rememberMs }] as const;
  }
}
