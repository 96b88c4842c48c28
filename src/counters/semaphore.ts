/**
 * The semaphore: a number of permits that any client takes and gives back.
 *
 * Permits have no owner and no lease: the permits of a process that dies stay taken. Every acquisition and release
 * counts exactly once. `semaphore-acquisition.ts` makes the attempts of one caller.
 */
import { tracesAcquisitions } from '../channels.ts';
import { AcquireTimeoutError, OptionError } from '../errors.ts';
import type { Link } from '../linked-list.ts';
import { checkCount, checkOptions } from '../options/checks.ts';
import type { Memory } from '../requests/requests.ts';
import type { Interruptible } from '../runtime/runtime.ts';
import {
  semaphoreAvailablePermits,
  semaphoreDrainPermits,
  semaphoreRelease,
  semaphoreReleaseIfExists,
} from '../scripts/generated.ts';
import { AcquireMethods, type AcquireOptions, type TryAcquireOptions } from './acquire-methods.ts';
import type { SynchronizerContext } from './counter.ts';
import { PermitSection } from './permit-section.ts';
import { SemaphoreAcquisition } from './semaphore-acquisition.ts';
import { MOST_PERMITS, SemaphoreCounter, type SetPermitsOptions } from './semaphore-counter.ts';
import { type Difference, SemaphoreCreation, type SemaphoreOptions } from './semaphore-creation.ts';

/** How to take permits for some work. */
export interface WithPermitOptions extends AcquireOptions {
  /** How many permits to take; 1. */
  permits?: number | undefined;
  /** How long to wait at most, then `AcquireTimeoutError`; default: no limit. */
  waitMs?: number | undefined;
}

/** The answer to a release: there is no semaphore to give permits back to. */
function isMissing(released: boolean): boolean {
  return !released;
}

/**
 * A number of permits that processes and machines share, made by `client.getSemaphore(name)`.
 *
 * @example
 * ```ts
 * const downloads = client.getSemaphore('downloads', { permits: 3 });
 * await downloads.withPermit(async () => {
 *   console.log(await downloads.availablePermits()); // 2
 * });
 * ```
 */
export class Semaphore {
  readonly name: string;
  readonly #counter: SemaphoreCounter;
  readonly #acquireMethods: AcquireMethods;
  readonly #creation: SemaphoreCreation;

  /** @internal */
  constructor(context: SynchronizerContext, name: string, options?: SemaphoreOptions) {
    const { permits } = checkOptions('semaphore', options);
    this.name = name;
    const counter = new SemaphoreCounter(context, 'semaphore', name);
    this.#counter = counter;
    const creation = new SemaphoreCreation(counter, permits, (wanted) => this.#compare(wanted));
    this.#creation = creation;
    this.#acquireMethods = new AcquireMethods(
      context.runtime,
      MOST_PERMITS,
      (count, section) => new SemaphoreAcquisition(counter, creation, count, section),
    );
  }

  /**
   * Sets the number of permits, unless it is set already.
   *
   * @param options `ttlMs`: the semaphore expires after this time; default: never
   * @returns false when the number is set already; it stays as it is
   */
  trySetPermits(permits: number, options?: SetPermitsOptions): Promise<boolean> {
    return this.#counter.trySetPermits(permits, options);
  }

  /**
   * Takes permits, all at once; waits without limit.
   *
   * @throws the reason of `signal`; an aborted call takes nothing
   */
  acquire(permits = 1, options?: AcquireOptions): Promise<void> {
    return this.#acquireMethods.acquire(permits, options);
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
  tryAcquire(permits = 1, options?: TryAcquireOptions): Promise<boolean> {
    return this.#acquireMethods.tryAcquire(permits, options);
  }

  /**
   * Gives permits back, whichever client took them; a missing semaphore is created with them. With `{ permits }` it is
   * created with that number when this client first uses it; if it vanishes later, its permits are gone too, and the
   * next acquisition creates it anew.
   *
   * @throws OutcomeUnknownError when the server did not answer in time; the release is retried in the background and
   * takes effect once
   */
  async release(permits = 1): Promise<void> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    const { context, keys, wake } = this.#counter;
    context.runtime.assertOpen();
    if (count === 0) return;
    if (this.#creation.creates) {
      const releaseCreated = async (memory: Memory) => {
        await this.#creation.ensure();
        return this.#releaseIfExists(count, memory);
      };
      await this.#counter.giveBack(count, releaseCreated, isMissing);
      return;
    }
    const release = this.#counter.requestWith(semaphoreRelease, keys, { count, ...wake });
    this.#counter.changed(await this.#counter.giveBack(count, release, () => false));
  }

  /**
   * Gives permits back if the semaphore exists: one that expired is not created again.
   *
   * @returns false when the semaphore does not exist, and nothing was changed; also for 0 permits
   * @throws OutcomeUnknownError as `release` does
   */
  async releaseIfExists(permits = 1): Promise<boolean> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    this.#counter.context.runtime.assertOpen();
    if (count === 0) return false;
    return this.#counter.giveBack(count, (memory) => this.#releaseIfExists(count, memory), isMissing);
  }

  /** Adds permits, or removes them if negative; then the number of free permits may be below 0 for a while. */
  async addPermits(permits: number): Promise<void> {
    checkCount(permits, 'permits', -MOST_PERMITS, MOST_PERMITS);
    await this.#creation.ensure();
    await this.#counter.addPermits(permits);
  }

  /** Takes all free permits and returns how many they were. */
  async drainPermits(): Promise<number> {
    const { context, requests, keys } = this.#counter;
    // It takes permits, as an acquisition does.
    context.runtime.assertAdmitting();
    await this.#creation.ensure();
    const drain = this.#counter.requestWith(semaphoreDrainPermits, keys, {});
    return (await requests.change('drain permits of', drain)).count;
  }

  /** How many permits are free; below 0 when more permits are taken than the semaphore has. */
  async availablePermits(): Promise<number> {
    this.#counter.context.runtime.assertOpen();
    await this.#creation.ensure();
    return this.#free();
  }

  /**
   * Takes permits, runs the work, and gives the permits back once, however the work ends. An error of the work is
   * rethrown. A failed release is reported as the client's `error` event and retried in the background.
   *
   * Closing the client gives the permits back, at once or when its `drainMs` is over; the call then rejects with
   * `ClosedError` when the work ends.
   *
   * @throws AcquireTimeoutError after `waitMs`
   */
  async withPermit<T>(work: () => T | Promise<T>, options?: WithPermitOptions): Promise<T> {
    const { permits = 1, waitMs, signal } = checkOptions('withPermit', options);
    if (typeof work !== 'function') throw new OptionError('withPermit needs a function to run');
    const count = checkCount(permits, 'permits', 1, MOST_PERMITS);
    const { context, requests } = this.#counter;
    const { runtime } = context;
    const section = tracesAcquisitions() ? new PermitSection() : undefined;
    let closed: unknown;
    // Permits have no lease: those not given back before the connection closes are lost.
    const interrupt = (reason: unknown) => {
      closed = reason;
      section?.lost('closed');
      requests.changeInBackground('release', (memory) => this.#releaseIfExists(count, memory));
    };
    // A closing client waits until it is known whether there are permits to give back.
    runtime.backgroundRetry.began();
    let place: Link<Interruptible>;
    try {
      if (!(await this.#acquireMethods.take(count, waitMs ?? Number.POSITIVE_INFINITY, signal, section))) {
        throw new AcquireTimeoutError(this.name, waitMs ?? 0);
      }
      if (runtime.closed !== undefined) interrupt(undefined);
      runtime.assertOpen();
      place = runtime.working.add({ interrupt });
    } finally {
      runtime.backgroundRetry.ended();
    }
    try {
      const value = await work();
      if (closed !== undefined) throw closed;
      return value;
    } finally {
      runtime.workEnded(place);
      if (closed === undefined) {
        const givingBack = this.#giveBack(count);
        await (section?.leaves(givingBack) ?? givingBack);
      }
    }
  }

  /** Never throws: a failed release must not hide the outcome of the work. */
  async #giveBack(count: number): Promise<void> {
    const { runtime } = this.#counter.context;
    const release = (memory: Memory) => this.#releaseIfExists(count, memory);
    // A closing client waits until the permits are back.
    runtime.backgroundRetry.began();
    try {
      await this.#counter.giveBack(count, release, isMissing, { evenIfNotRun: true });
    } catch (error) {
      runtime.report('error', { error, during: `release "${this.name}"` });
    } finally {
      runtime.backgroundRetry.ended();
    }
  }

  async #releaseIfExists(count: number, memory: Memory): Promise<boolean> {
    const { keys, wake } = this.#counter;
    const release = this.#counter.requestWith(semaphoreReleaseIfExists, keys, { count, ...wake });
    const reply = await release(memory);
    this.#counter.changed(reply);
    return reply.status === 'released';
  }

  async #free(): Promise<number> {
    const { context, requests, keys } = this.#counter;
    const { count } = await requests.read('read the permits of', () =>
      semaphoreAvailablePermits.run(context.wire.driver, keys, {}),
    );
    return count;
  }

  /** The server knows the free permits only: more than there should be at all are too many, fewer may be taken. */
  async #compare(wanted: number): Promise<Difference | null> {
    const free = await this.#free();
    // A semaphore that starts with no permits is used for signals: each release adds one, so any number is right.
    if (wanted === 0 || free <= wanted) return null;
    return { actual: `at least ${free}`, remedy: 'addPermits(n) with the difference' };
  }
}
