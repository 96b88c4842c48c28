/**
 * The permit-expirable semaphore: so many permits, each with an id, a lease and a holder who is told its end.
 *
 * A permit that is not given back comes back when its lease is over. How permits are asked for is in
 * `expiring-permit-acquisition.ts`, what becomes of one that is held in `permit.ts`.
 */
import { NotHeldError, OutcomeUnknownError } from '../errors.ts';
import { checkCount, checkOptions, checkPermitId, checkPermitLeaseMs } from '../options/checks.ts';
import { Requests } from '../requests/requests.ts';
import type { Grant } from '../runtime/lease.ts';
import {
  permitSemaphoreCountPermits,
  permitSemaphoreGetLease,
  permitSemaphoreReleaseAll,
  permitSemaphoreSetPermits,
  permitSemaphoreUpdateLease,
  semaphoreAddPermits,
  semaphoreTrySetPermits,
} from '../scripts/generated.ts';
import { ExpiringPermitAcquisition } from './expiring-permit-acquisition.ts';
import { HeldPermit, type HeldPermits, type Permit } from './permit.ts';
import { leaseArgument, PermitProtocol, permitBytes } from './permit-protocol.ts';
import type { SynchronizerContext } from './synchronizer-context.ts';

/** Redisson reads a number of permits as a Java `int`. */
const MOST_PERMITS = 2 ** 31 - 1;

/** Each permit has an id to send and a time to keep: a call for more would keep the server busy. */
const MOST_AT_ONCE = 10_000;

/** How to take permits. */
export interface PermitOptions {
  /** The permit comes back after this time; `Infinity`: never by itself. Left out, it is kept while this process lives. */
  leaseMs?: number | undefined;
  /** Stops the waiting; the call rejects with the signal's reason, and nothing stays taken. */
  signal?: AbortSignal | undefined;
}

/** How to take permits that may not be there. */
export interface TryPermitOptions extends PermitOptions {
  /** How long to wait at most; 0, the default, tries once. */
  waitMs?: number | undefined;
}

/**
 * Permits with ids and leases that processes and machines share, made by
 * `client.getPermitExpirableSemaphore(name)`.
 *
 * @example
 * ```ts
 * const crawlers = client.getPermitExpirableSemaphore('crawlers');
 * await crawlers.trySetPermits(5);
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
  readonly #context: SynchronizerContext;
  readonly #held: HeldPermits;
  readonly #protocol: PermitProtocol;
  readonly #requests: Requests;

  /** @internal */
  constructor(context: SynchronizerContext, name: string, held: HeldPermits) {
    this.name = name;
    this.#context = context;
    this.#held = held;
    this.#protocol = new PermitProtocol(context.wire, name, held.renew);
    this.#requests = new Requests(context, name, this.#protocol.key);
  }

  /**
   * Takes a permit, waiting as long as it takes.
   *
   * @throws the reason of `signal`; a call that is given up takes nothing
   * @throws LeaseLostError when the grant came after its deadline; it is taken back
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
   * Takes a permit if one can be had within `waitMs`.
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
    const { waitMs = 0, ...wish } = checkOptions('tryTakePermit', options);
    const permits = await this.#take(1, waitMs, wish);
    return permits?.[0] ?? null;
  }

  /** Takes this many permits if they can be had within `waitMs`, all of them or none. */
  async tryAcquireMany(permits: number, options?: TryPermitOptions): Promise<Permit[] | null> {
    const count = checkCount(permits, 'permits', 1, MOST_AT_ONCE);
    const { waitMs = 0, ...wish } = checkOptions('tryTakePermit', options);
    return this.#take(count, waitMs, wish);
  }

  /**
   * Gives a permit back, whoever took it.
   *
   * @throws NotHeldError when it is not there, or its time was over
   * @throws OutcomeUnknownError when the server did not answer in time; it goes on in the background
   */
  async release(id: string): Promise<void> {
    if (!(await this.tryRelease(id))) throw this.#notHeld(id);
  }

  /**
   * Gives a permit back, whoever took it; or several, all of them or none.
   *
   * @returns for one: whether it was there and its time not over; for several: how many were given back
   * @throws OutcomeUnknownError when the server did not answer in time; it goes on in the background
   */
  async tryRelease(id: string): Promise<boolean>;
  async tryRelease(ids: readonly string[]): Promise<number>;
  async tryRelease(given: string | readonly string[]): Promise<boolean | number> {
    const { runtime, numbers } = this.#context;
    if (Array.isArray(given)) {
      const ids = given.map(checkPermitId);
      runtime.assertOpen();
      return ids.length === 0 ? 0 : this.#releaseAll(ids);
    }
    const id = checkPermitId(given);
    runtime.assertOpen();
    const held = this.#held.find(this.#protocol, id);
    if (held !== undefined && !held.isLeft) return held.release();
    // Of two releases of one permit, the first is to find it; how it ends is for its own caller to hear.
    await held?.release().catch(() => undefined);
    return this.#protocol.releaseSurely(runtime, id, numbers.next());
  }

  /**
   * Gives a permit another lease, longer or shorter, counted from now; `Infinity` makes it permanent. A permit
   * that the watchdog keeps is from then on kept by this lease alone.
   *
   * @returns false: it is not there, or its time is over
   */
  async updateLease(id: string, leaseMs: number): Promise<boolean> {
    checkPermitId(id);
    checkPermitLeaseMs(leaseMs);
    const { runtime, wire } = this.#context;
    runtime.assertOpen();
    const sentAt = runtime.leaseClock.sendTime();
    const changed = this.#held.find(this.#protocol, id)?.leaseChanging(sentAt, leaseMs);
    const args = { leaseMs: leaseArgument(leaseMs), ...this.#protocol.wake, id: permitBytes(id) };
    const { status } = await this.#requests.change(
      'change the lease of a permit of',
      ({ answer, rememberMs }) =>
        permitSemaphoreUpdateLease.run(
          wire.driver,
          { ...this.#protocol.keys, answer },
          { ...args, rememberMs },
        ),
    );
    changed?.(status === 'updated');
    return status === 'updated';
  }

  /**
   * How long a permit is taken yet, as the server has it; -1 for one that is permanent.
   *
   * @throws NotHeldError when it is not there, or its time is over
   */
  async getLeaseMs(id: string): Promise<number> {
    const args = { ...this.#protocol.wake, id: permitBytes(checkPermitId(id)) };
    const reply = await this.#requests.read('ask for the lease of a permit of', () =>
      permitSemaphoreGetLease.run(this.#context.wire.driver, this.#protocol.keys, args),
    );
    if (reply.status === 'missing') throw this.#notHeld(id);
    return reply.status === 'permanent' ? -1 : reply.remainingMs;
  }

  /**
   * Gives the semaphore its permits, unless it has been given some before.
   *
   * @returns false: it has permits already, and was left as it is
   */
  async trySetPermits(permits: number): Promise<boolean> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    const { wire } = this.#context;
    const args = { count, ttlMs: 0, ...this.#protocol.wake };
    const reply = await this.#requests.change('set permits of', ({ answer, rememberMs }) =>
      semaphoreTrySetPermits.run(
        wire.driver,
        { permits: this.#protocol.key, answer },
        { ...args, rememberMs },
      ),
    );
    if (reply.status === 'set') wire.announced(reply.announced);
    return reply.status === 'set';
  }

  /** Makes free and taken permits together as many as this; made smaller, fewer than 0 may be free for a while. */
  async setPermits(permits: number): Promise<void> {
    const args = { count: checkCount(permits, 'permits', 0, MOST_PERMITS), ...this.#protocol.wake };
    const { wire } = this.#context;
    const reply = await this.#requests.change('set permits of', ({ answer, rememberMs }) =>
      permitSemaphoreSetPermits.run(wire.driver, { ...this.#protocol.keys, answer }, { ...args, rememberMs }),
    );
    if (reply.status === 'set') wire.announced(reply.announced);
  }

  /** Makes the semaphore larger, or smaller by a negative number: then fewer than 0 may be free for a while. */
  async addPermits(permits: number): Promise<void> {
    const args = {
      count: checkCount(permits, 'permits', -MOST_PERMITS, MOST_PERMITS),
      ...this.#protocol.wake,
    };
    const { wire } = this.#context;
    const { announced } = await this.#requests.change('add permits to', ({ answer, rememberMs }) =>
      semaphoreAddPermits.run(wire.driver, { permits: this.#protocol.key, answer }, { ...args, rememberMs }),
    );
    wire.announced(announced);
  }

  /** How many permits are free; below 0 when the semaphore was made smaller than what is taken. */
  async availablePermits(): Promise<number> {
    return (await this.#count()).free;
  }

  /** How many permits are taken. */
  async acquiredPermits(): Promise<number> {
    return (await this.#count()).taken;
  }

  /** How many permits there are, free and taken; 0 when the semaphore was not given any. */
  async getPermits(): Promise<number> {
    const { exists, free, taken } = await this.#count();
    return exists ? free + taken : 0;
  }

  async #count(): Promise<{ exists: boolean; free: number; taken: number }> {
    const { driver } = this.#context.wire;
    const reply = await this.#requests.read('count permits of', () =>
      permitSemaphoreCountPermits.run(driver, this.#protocol.keys, this.#protocol.wake),
    );
    const exists = reply.status === 'permits';
    return { exists, free: exists ? reply.free : 0, taken: reply.taken };
  }

  async #takeAtLast(count: number, options: PermitOptions | undefined): Promise<Permit[]> {
    const wish = checkOptions('takePermit', options);
    const permits = await this.#take(count, Number.POSITIVE_INFINITY, wish);
    if (permits === null) throw new Error('a wait without a limit ended');
    return permits;
  }

  async #take(count: number, waitMs: number, { leaseMs, signal }: PermitOptions): Promise<Permit[] | null> {
    const { runtime } = this.#context;
    const isRenewed = leaseMs === undefined;
    const hold = (grant: Grant): Permit =>
      new HeldPermit(runtime, this.#held, this.#protocol, grant, isRenewed);
    const soughtMs = leaseMs ?? runtime.watchdogMs;
    return new ExpiringPermitAcquisition(runtime, this.#protocol, count, soughtMs, hold).take({
      waitMs,
      signal,
    });
  }

  async #releaseAll(ids: readonly string[]): Promise<number> {
    const { wire } = this.#context;
    const leaving = ids.map((id) => this.#held.find(this.#protocol, id)?.leaving());
    const tell = (isReleased: boolean) => {
      for (const left of leaving) left?.(isReleased);
    };
    const args = {
      ...this.#protocol.wake,
      tombstoneMs: this.#protocol.tombstoneMs,
      ids: ids.map(permitBytes),
    };
    const ended = this.#protocol.endedKeys(ids);
    try {
      const reply = await this.#requests.owe('release permits of', ({ answer, rememberMs }) => {
        const keys = { ...this.#protocol.keys, answer, ended };
        return permitSemaphoreReleaseAll.run(wire.driver, keys, { ...args, rememberMs });
      });
      tell(reply.status === 'released');
      if (reply.status === 'refused') return 0;
      wire.announced(reply.announced);
      return reply.count;
    } catch (error) {
      // What may have been given back, or is going to be, is not to be relied on any more.
      tell(error instanceof OutcomeUnknownError);
      throw error;
    }
  }

  #notHeld(id: string): NotHeldError {
    return new NotHeldError(
      this.name,
      `has no permit ${id}: it was never taken, was given back, or its time is over`,
    );
  }
}
