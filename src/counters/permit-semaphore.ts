/**
 * The permit-expirable semaphore: permits with an id and a lease. The holder learns when the lease ends.
 *
 * A permit that is not given back becomes free when its lease ends. `expirable-permit-acquisition.ts` acquires
 * permits; `expirable-permit.ts` keeps a permit while it is held.
 */
import { tracesRenewals } from '../channels.ts';
import { AcquireTimeoutError, NotHeldError, OptionError, OutcomeUnknownError } from '../errors.ts';
import { checkCount, checkOptions, checkPermitId, checkPermitLeaseMs } from '../options/checks.ts';
import type { Grant } from '../runtime/lease-deadline.ts';
import { NO_EXPIRY_MS } from '../runtime/protocol.ts';
import {
  permitSemaphoreGetLease,
  permitSemaphoreSetPermits,
  permitSemaphoreUpdateLease,
} from '../scripts/generated.ts';
import { traceRenewal } from '../tracing.ts';
import type { SynchronizerContext } from './counter.ts';
import {
  HeldPermit,
  type HeldPermits,
  type Permit,
  type PermitOptions,
  type TryPermitOptions,
  type WithExpirablePermitOptions,
} from './expirable-permit.ts';
import { ExpirablePermitAcquisition } from './expirable-permit-acquisition.ts';
import { ExpirablePermitProtocol, leaseArgument, permitBytes } from './expirable-permit-protocol.ts';
import { runWithExpirablePermit } from './run-with-expirable-permit.ts';
import { MOST_PERMITS, SemaphoreCounter } from './semaphore-counter.ts';
import { SemaphoreCreation, type SemaphoreOptions } from './semaphore-creation.ts';

/** Each permit has an id to send and an expiry to store: a call for more permits would keep the server busy. */
const MOST_AT_ONCE = 10_000;

/**
 * Permits with ids and leases that processes and machines share, made by
 * `client.getPermitExpirableSemaphore(name)`.
 *
 * @example
 * ```ts
 * const crawlers = client.getPermitExpirableSemaphore('crawlers', { permits: 5 });
 * {
 *   await using permit = await crawlers.acquire();
 *   permit.assertHeld();
 *   console.log(await crawlers.availablePermits()); // 4
 * }
 * console.log(await crawlers.availablePermits()); // 5
 * ```
 */
export class PermitExpirableSemaphore {
  readonly name: string;
  readonly #counter: SemaphoreCounter;
  readonly #held: HeldPermits;
  readonly #protocol: ExpirablePermitProtocol;
  readonly #creation: SemaphoreCreation;

  /** @internal */
  constructor(context: SynchronizerContext, name: string, held: HeldPermits, options?: SemaphoreOptions) {
    const { permits } = checkOptions('semaphore', options);
    this.name = name;
    this.#counter = new SemaphoreCounter(context, 'permitSemaphore', name);
    this.#held = held;
    this.#protocol = new ExpirablePermitProtocol(this.#counter, held.renew);
    const compare = (wanted: number) => this.#protocol.compare(wanted);
    this.#creation = new SemaphoreCreation(this.#counter, permits, compare);
  }

  /**
   * Takes a permit; waits without limit.
   *
   * @throws the reason of `signal`; an aborted call takes nothing
   * @throws LeaseLostError when the grant arrived after its deadline; the permit is given back
   */
  async acquire(options?: PermitOptions): Promise<Permit> {
    const [permit] = await this.#takeAtLast(1, options);
    return permit as Permit;
  }

  /** Takes this many permits, all at once. */
  async acquireMany(permits: number, options?: PermitOptions): Promise<Permit[]> {
    return this.#takeAtLast(checkCount(permits, 'permits', 1, MOST_AT_ONCE), options);
  }

  /**
   * Takes a permit if one is available within `waitMs`.
   *
   * @example
   * ```ts
   * const seats = client.getPermitExpirableSemaphore('seats');
   * await seats.trySetPermits(1);
   * const seat = await seats.tryAcquire({ leaseMs: 10_000 });
   * console.log(await seats.tryAcquire({ waitMs: 50 })); // null
   * console.log(await seat?.release()); // true
   * ```
   */
  async tryAcquire(options?: TryPermitOptions): Promise<Permit | null> {
    const { waitMs = 0, ...permitOptions } = checkOptions('tryTakePermit', options);
    return (await this.#take(1, waitMs, permitOptions))?.[0] ?? null;
  }

  /** Takes this many permits if they are available within `waitMs`, all or none. */
  async tryAcquireMany(permits: number, options?: TryPermitOptions): Promise<Permit[] | null> {
    const count = checkCount(permits, 'permits', 1, MOST_AT_ONCE);
    const { waitMs = 0, ...permitOptions } = checkOptions('tryTakePermit', options);
    return this.#take(count, waitMs, permitOptions);
  }

  /**
   * Takes a permit, runs the work, and gives the permit back, however the work ends. An error of the work is rethrown.
   * If the permit is lost meanwhile, `permit.signal` aborts, and the call rejects with `LeaseLostError`.
   *
   * @example
   * ```ts
   * const renderers = client.getPermitExpirableSemaphore('renderers', { permits: 2 });
   * const pages = await renderers.withPermit(async ({ signal }) => {
   *   signal.throwIfAborted(); // or hand it to fetch and the like
   *   return 42;
   * });
   * console.log(pages, await renderers.availablePermits()); // 42 2
   * ```
   *
   * @throws AcquireTimeoutError after `waitMs`
   */
  async withPermit<T>(
    work: (permit: Permit) => T | Promise<T>,
    options?: WithExpirablePermitOptions,
  ): Promise<T> {
    const { waitMs, ...permitOptions } = checkOptions('withExpirablePermit', options);
    if (typeof work !== 'function') throw new OptionError('withPermit needs a function to run');
    const permits = await this.#take(1, waitMs ?? Number.POSITIVE_INFINITY, permitOptions);
    if (permits === null) throw new AcquireTimeoutError(this.name, waitMs ?? 0);
    return runWithExpirablePermit(permits[0] as Permit, work, this.#counter.context.runtime.report);
  }

  /**
   * Gives a permit back, whichever client took it.
   *
   * @throws NotHeldError when the permit is not taken, or its lease had ended
   * @throws OutcomeUnknownError when the server did not answer in time; the release is retried in the background
   */
  async release(id: string): Promise<void> {
    if (!(await this.tryRelease(id))) throw this.#notHeld(id);
  }

  /**
   * Gives a permit back, whichever client took it; or several, all or none.
   *
   * @returns for one: whether it was taken and its lease had not ended; for several: how many were given back
   * @throws OutcomeUnknownError when the server did not answer in time; the release is retried in the background
   */
  async tryRelease(id: string): Promise<boolean>;
  async tryRelease(ids: readonly string[]): Promise<number>;
  async tryRelease(given: string | readonly string[]): Promise<boolean | number> {
    const { runtime, numbers } = this.#counter.context;
    if (Array.isArray(given)) {
      const ids = given.map(checkPermitId);
      runtime.assertOpen();
      return ids.length === 0 ? 0 : this.#releaseAll(ids);
    }
    const id = checkPermitId(given);
    runtime.assertOpen();
    const held = this.#held.find(this.#protocol, id);
    if (held !== undefined && !held.isLeft) return held.release();
    // Of two releases of one permit, the first must find it. Its error goes to its own caller.
    await held?.release().catch(() => undefined);
    return this.#protocol.releaseSurely(runtime, id, numbers.next());
  }

  /**
   * Sets the lease of a permit, longer or shorter, counted from now; `Infinity` makes it permanent. The watchdog no
   * longer renews the permit afterwards.
   *
   * @returns false when the permit is not taken, or its lease has ended
   */
  async updateLease(id: string, leaseMs: number): Promise<boolean> {
    checkPermitId(id);
    checkPermitLeaseMs(leaseMs);
    const { runtime } = this.#counter.context;
    runtime.assertOpen();
    const sentAt = runtime.leaseClock.sendTime();
    const changed = this.#held.find(this.#protocol, id)?.leaseChanging(sentAt, leaseMs);
    const args = { leaseMs: leaseArgument(leaseMs), ...this.#counter.wake, id: permitBytes(id) };
    const update = async () => {
      const { status } = await this.#counter.requests.change(
        'update the lease of a permit of',
        this.#counter.requestWith(permitSemaphoreUpdateLease, this.#protocol.keys, args),
      );
      return [status === 'updated' ? 1 : 0];
    };
    const [held] = await (tracesRenewals() ? traceRenewal(runtime, 1, update) : update());
    changed?.(held === 1);
    return held === 1;
  }

  /**
   * The time left of a permit's lease on the server; -1 for a permanent permit.
   *
   * @throws NotHeldError when the permit is not taken, or its lease has ended
   */
  async getLeaseMs(id: string): Promise<number> {
    const { context, requests, wake } = this.#counter;
    const args = { ...wake, id: permitBytes(checkPermitId(id)) };
    const reply = await requests.read('read the lease of a permit of', () =>
      permitSemaphoreGetLease.run(context.wire.driver, this.#protocol.keys, args),
    );
    if (reply.status === 'missing') throw this.#notHeld(id);
    return reply.status === 'permanent' ? NO_EXPIRY_MS : reply.remainingMs;
  }

  /**
   * Sets the number of permits, unless it is set already.
   *
   * @returns false when the number is set already; it stays as it is
   */
  trySetPermits(permits: number): Promise<boolean> {
    return this.#counter.trySetPermits(permits);
  }

  /** Sets the total of free and taken permits; if reduced, the number of free permits may be below 0 for a while. */
  async setPermits(permits: number): Promise<void> {
    const args = { count: checkCount(permits, 'permits', 0, MOST_PERMITS), ...this.#counter.wake };
    const set = this.#counter.requestWith(permitSemaphoreSetPermits, this.#protocol.keys, args);
    this.#counter.changed(await this.#counter.requests.change('set the permits of', set));
  }

  /** Adds permits, or removes them if negative; then the number of free permits may be below 0 for a while. */
  async addPermits(permits: number): Promise<void> {
    checkCount(permits, 'permits', -MOST_PERMITS, MOST_PERMITS);
    await this.#creation.ensure();
    await this.#counter.addPermits(permits);
  }

  /** How many permits are free; below 0 when more permits are taken than the semaphore has. */
  async availablePermits(): Promise<number> {
    return (await this.#count()).free;
  }

  /** How many permits are taken. */
  async acquiredPermits(): Promise<number> {
    return (await this.#count()).taken;
  }

  /** How many permits there are, free and taken; 0 when the number was never set. */
  async getPermits(): Promise<number> {
    const { exists, free, taken } = await this.#count();
    return exists ? free + taken : 0;
  }

  async #count(): ReturnType<ExpirablePermitProtocol['count']> {
    this.#counter.context.runtime.assertOpen();
    await this.#creation.ensure();
    return this.#protocol.count();
  }

  async #takeAtLast(count: number, options: PermitOptions | undefined): Promise<Permit[]> {
    const permitOptions = checkOptions('takePermit', options);
    const permits = await this.#take(count, Number.POSITIVE_INFINITY, permitOptions);
    if (permits === null) throw new Error('A wait without a limit ended without a result');
    return permits;
  }

  async #take(count: number, waitMs: number, { leaseMs, signal }: PermitOptions): Promise<Permit[] | null> {
    const { runtime } = this.#counter.context;
    const hold = (grant: Grant): Permit =>
      new HeldPermit(runtime, this.#held, this.#protocol, grant, leaseMs === undefined);
    const acquisition = new ExpirablePermitAcquisition(
      runtime,
      this.#protocol,
      this.#creation,
      count,
      leaseMs ?? runtime.watchdogMs,
      hold,
    );
    return acquisition.take({ waitMs, signal });
  }

  async #releaseAll(ids: readonly string[]): Promise<number> {
    const leaving = ids.map((id) => this.#held.find(this.#protocol, id)?.leaving());
    const tell = (isReleased: boolean) => {
      for (const left of leaving) left?.(isReleased);
    };
    try {
      const count = await this.#protocol.releaseAll(ids);
      tell(count > 0);
      return count;
    } catch (error) {
      // These permits may have been given back, or soon will be: their holders must not rely on them any more.
      tell(error instanceof OutcomeUnknownError);
      throw error;
    }
  }

  #notHeld(id: string): NotHeldError {
    return new NotHeldError(
      this.name,
      `has no permit ${id}: it was never granted, was released, or its lease has ended`,
    );
  }
}
