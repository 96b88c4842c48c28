/**
 * The public interface of every kind of lock.
 */
import type { Owner } from '../runtime/owner.ts';
import type { Hold } from './hold.ts';

/** How to take a lock. */
export interface LockOptions {
  /** The hold ends after this time unless extended. Left out, the watchdog renews it while the process lives. */
  leaseMs?: number | undefined;
  /** Stops the waiting; the call rejects with the signal's reason. Has no effect once the lock is held. */
  signal?: AbortSignal | undefined;
  /** Takes the lock as this owner, which can then re-enter it; see `client.owner()`. */
  owner?: Owner | undefined;
  /** Ends the hold after this time whatever happens: a safety net for a forgotten `unlock()`. */
  maxHoldMs?: number | undefined;
}

/** How to take a lock that may be busy. */
export interface TryLockOptions extends LockOptions {
  /** How long to wait at most; 0, the default, tries once. */
  waitMs?: number | undefined;
}

/** How to take a lock for some work, with callbacks. The owner is that of the section, or a new one. */
export interface WithLockOptions<H extends Hold = Hold> extends Omit<LockOptions, 'owner'> {
  /** How long to wait at most, then `AcquireTimeoutError`. Left out, the call waits as long as it takes. */
  waitMs?: number | undefined;
  /** Called with the hold before the work; an error it throws rejects the call, and the work does not run. */
  onAcquire?: ((hold: H) => unknown) | undefined;
  /** Called after the release; an error it throws becomes an `error` event of the client. */
  onRelease?: ((hold: H, released: boolean) => unknown) | undefined;
}

/** The owner whose hold is meant. */
export interface OwnerOption {
  /** Left out: the owner of the section the calling code is in. */
  owner?: Owner | undefined;
}

/** A lock that one owner at a time holds, across processes and machines. */
export interface Lock<H extends Hold = Hold> {
  readonly name: string;
  /**
   * Takes the lock, waiting as long as it takes.
   *
   * @throws LeaseLostError when the grant came after its deadline; the lock is then released
   *
   * @example
   * ```ts
   * await using hold = await client.getLock('nightly-report').lock();
   * console.log(`held by ${hold.owner} for ${hold.remainingMs} ms at least`);
   * ```
   */
  lock(options?: LockOptions): Promise<H>;
  /**
   * Takes the lock if possible within `waitMs`, and answers null otherwise.
   *
   * @throws LeaseLostError when the grant came after its deadline; the lock is then released
   *
   * @example
   * ```ts
   * const hold = await client.getLock('nightly-report').tryLock({ waitMs: 200, leaseMs: 10_000 });
   * if (hold === null) console.log('another owner holds the lock');
   * else await hold.unlock();
   * ```
   */
  tryLock(options?: TryLockOptions): Promise<H | null>;
  /**
   * Runs the work while holding the lock. Inside, taking the same lock again re-enters it.
   *
   * Rejects with `LeaseLostError` when the lease was lost while the work ran, even if the work resolved, or before the
   * work could begin. An error thrown by the work is passed on as it is, whatever else goes wrong.
   *
   * @example
   * ```ts
   * const total = await client.getLock('stock:7').withLock(async (hold) => {
   *   hold.assertHeld();
   *   return 41 + 1;
   * }, { waitMs: 5_000 });
   * console.log(total);
   * ```
   */
  withLock<T>(work: (hold: H) => T | Promise<T>, options?: WithLockOptions<H>): Promise<T>;
  /**
   * Releases the latest hold of the owner: the owner of the scope or section, or an explicit one.
   *
   * @throws NotHeldError when that owner does not hold the lock, or has lost it
   */
  unlock(options?: OwnerOption): Promise<void>;
  /**
   * Frees the lock from the holders it has at the time of the call. Answers whether it had any. An owner that takes the
   * lock after the call keeps it, however late the call reaches the server.
   *
   * @throws DriverError when the key holds something that is not a lock; the key stays untouched
   */
  forceUnlock(): Promise<boolean>;
  /** Whether any owner holds the lock. */
  isLocked(): Promise<boolean>;
  /** Whether the owner holds the lock, according to the server. */
  isHeld(options?: OwnerOption): Promise<boolean>;
  /** How many times the owner has entered the lock; 0 when it does not hold it. */
  getHoldCount(options?: OwnerOption): Promise<number>;
  /** The time left of the holder's lease: `null` when the lock is free, `Infinity` when it has no expiry. */
  getRemainingMs(): Promise<number | null>;
}
