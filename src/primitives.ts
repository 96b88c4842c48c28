/**
 * Creates the locks and synchronizers of a client. That sends no lock command; the first call on a lock does.
 */
import { randomUUID } from 'node:crypto';
import { CountDownLatch, latchFitsCluster } from './counters/count-down-latch.ts';
import { PermitExpirableSemaphore } from './counters/permit-semaphore.ts';
import { RateLimiter } from './counters/rate-limiter.ts';
import { Semaphore } from './counters/semaphore.ts';
import type { SemaphoreOptions } from './counters/semaphore-creation.ts';
import { OptionError } from './errors.ts';
import { type FencedRegister, RedisFencedRegister, RegisterWriter } from './fencing/fenced-register.ts';
import { MultiLock } from './groups/multi-lock.ts';
import { RedLock } from './groups/red-lock.ts';
import { FairProtocol } from './locks/fair-lock.ts';
import { type FencedLock, type FencedLockOptions, ProtocolFencedLock } from './locks/fenced-lock.ts';
import type { Lock } from './locks/lock.ts';
import { ProtocolLock } from './locks/protocol-lock.ts';
import {
  ProtocolReadWriteLock,
  type ReadWriteLock,
  type ReadWriteLockOptions,
} from './locks/read-write-lock.ts';
import { ReentrantProtocol } from './locks/reentrant-lock.ts';
import { SimpleProtocol } from './locks/simple-lock.ts';
import { type SpinLockOptions, spinning } from './locks/spin-lock.ts';
import { WebLocks } from './locks/web-locks.ts';
import { checkName, checkOptions } from './options/checks.ts';
import type { LockKindOptions } from './options/client-options.ts';
import { Owner, Section } from './runtime/owner.ts';
import type { Wiring } from './wiring.ts';

/** The locks and synchronizers of a `Holdfast` client. */
export abstract class Primitives {
  /** The UUID in every owner field of this client. */
  readonly id: string = randomUUID();
  readonly #writer = new RegisterWriter(this.id);
  #locks: WebLocks | undefined;

  /** @internal */
  abstract readonly wiring: Wiring;

  /** The reentrant lock: the watchdog renews it, and messages wake its waiters. */
  getLock(name: string, options?: LockKindOptions): Lock {
    return this.#lock(this.#reentrant('lock', name, options));
  }

  /** The lock of `getLock`, on the same keys; an owner that takes it again gets a `ReentryError`. */
  getNonReentrantLock(name: string, options?: LockKindOptions): Lock {
    return this.#lock(this.#reentrant('nonReentrant', name, options), { reentrant: false });
  }

  /**
   * The fair lock: first come, first served, across processes, in one queue with Redisson's waiters.
   *
   * @example
   * ```ts
   * const desk = client.getFairLock('help-desk');
   * const served: number[] = [];
   * await Promise.all([1, 2, 3].map((ticket) => desk.withLock(() => served.push(ticket))));
   * console.log(served.join(', ')); // 1, 2, 3
   * ```
   */
  getFairLock(name: string, options?: LockKindOptions): Lock {
    return this.#lock(this.#fair(name, options));
  }

  /** The lock of `getFairLock`, on the same keys; an owner that takes it again gets a `ReentryError`. */
  getNonReentrantFairLock(name: string, options?: LockKindOptions): Lock {
    return this.#lock(this.#fair(name, options), { reentrant: false });
  }

  /** The lock of `getLock`, on the same keys; its waiters poll with growing pauses. */
  getSpinLock(name: string, options?: SpinLockOptions): Lock {
    const { guard } = checkOptions('spinLock', options);
    return this.#lock(this.#reentrant('spin', name, { guard }, spinning(options?.backoff)));
  }

  /**
   * The reentrant lock with fencing tokens: `hold.token` rises with every hold.
   *
   * @example
   * ```ts
   * const stock = client.getFencedLock('stock:7');
   * const first = await stock.withLock((hold) => hold.token);
   * const second = await stock.withLock((hold) => hold.token);
   * console.log(second > first); // true
   * ```
   */
  getFencedLock(name: string, options?: FencedLockOptions): FencedLock {
    this.#used();
    const { context, renewals } = this.wiring;
    const wire = this.wiring.wire(checkOptions('fencedLock', options).guard);
    return new ProtocolFencedLock(context, wire, checkName(name), renewals.reentrant, options);
  }

  /**
   * A value in Redis that only the newest token of a fenced lock can write.
   *
   * @example
   * ```ts
   * const level = client.getFencedRegister('stock:7');
   * await client.getFencedLock('stock:7').withLock(async ({ token }) => {
   *   const before = Number((await level.read(token))?.value ?? 0);
   *   await level.write(String(before + 1), token); // throws StaleTokenError for a holder that slept too long
   * });
   * ```
   */
  getFencedRegister(name: string): FencedRegister {
    this.#used();
    return new RedisFencedRegister(this.wiring.runtime, this.wiring.wire(), checkName(name), this.#writer);
  }

  /** The plain `SET key token NX PX` lock, for sharing keys with redlock-style libraries. */
  getSimpleLock(name: string, options?: LockKindOptions): Lock {
    const { renewals } = this.wiring;
    return this.#lock(new SimpleProtocol(this.#wireFor(options), checkName(name), renewals.simple));
  }

  /**
   * A semaphore: any caller can take and return its permits.
   *
   * With `{ permits }` the first call creates the semaphore if it does not exist, and an acquisition that finds it gone
   * creates it again. An existing semaphore keeps its number.
   *
   * @example
   * ```ts
   * const transfers = client.getSemaphore('transfers', { permits: 3 });
   * console.log(await transfers.tryAcquire(3)); // true
   * console.log(await transfers.tryAcquire()); // false
   * await transfers.release(3);
   * ```
   *
   * @throws OptionError
   */
  getSemaphore(name: string, options?: SemaphoreOptions): Semaphore {
    this.#used();
    return new Semaphore(this.wiring.synchronizers, checkName(name), options);
  }

  /**
   * A semaphore whose permits have ids and leases: the permits of a dead process become free again. `{ permits }`
   * creates a semaphore that does not exist, as with `getSemaphore`; an existing one keeps its number until
   * `setPermits` changes it.
   *
   * @throws OptionError
   */
  getPermitExpirableSemaphore(name: string, options?: SemaphoreOptions): PermitExpirableSemaphore {
    this.#used();
    const { synchronizers, permits } = this.wiring;
    return new PermitExpirableSemaphore(synchronizers, checkName(name), permits, options);
  }

  /** A latch that opens when its count reaches zero. */
  getCountDownLatch(name: string): CountDownLatch {
    this.#used();
    const latch = new CountDownLatch(this.wiring.synchronizers, checkName(name));
    if (this.wiring.driver.topology === 'cluster' && !latchFitsCluster(this.wiring.wire().keyOf(name))) {
      throw new OptionError(
        `In a Cluster, the name of a count-down latch must not have braces, as "${name}" has: Redisson's rules put ` +
          'the name in braces to derive the channel, which would then be in another slot than the latch',
      );
    }
    return latch;
  }

  /** A sliding-window rate limiter: at most a set number of permits in any interval. */
  getRateLimiter(name: string): RateLimiter {
    this.#used();
    return new RateLimiter(this.wiring.synchronizers, this.id, checkName(name));
  }

  /** Many readers or one writer, with `readLock()` and `writeLock()`. */
  getReadWriteLock(name: string, options?: ReadWriteLockOptions): ReadWriteLock {
    this.#used();
    const { context, renewals } = this.wiring;
    const wire = this.wiring.wire(checkOptions('readWriteLock', options).guard);
    return new ProtocolReadWriteLock(context, wire, checkName(name), renewals.readWrite, options);
  }

  /** Locks shaped like the browser's `navigator.locks`, on the keys of `getReadWriteLock`. */
  get locks(): WebLocks {
    this.#locks ??= new WebLocks({
      clientId: this.id,
      report: this.wiring.runtime.report,
      owner: () => this.owner(),
      lock: (name) => {
        this.#used();
        // As in the standard's queue, a stream of shared requests does not starve an exclusive one.
        const options = { prefer: 'writer' };
        return new ProtocolReadWriteLock(
          this.wiring.context,
          this.wiring.wire(),
          name,
          this.wiring.renewals.readWrite,
          options,
        );
      },
    });
    return this.#locks;
  }

  /**
   * All of the given locks as one; every caller takes them in the same order. They may be of different kinds and
   * come from different clients.
   *
   * @example
   * ```ts
   * const transfer = client.getMultiLock(client.getLock('account:1'), client.getFairLock('account:2'));
   * await transfer.withLock(() => console.log('no other owner has either')); // no other owner has either
   * ```
   *
   * @throws OptionError when a lock is named twice, or is itself made of locks
   */
  getMultiLock(...locks: Lock[]): Lock {
    this.#used();
    return new MultiLock(...locks);
  }

  /**
   * A majority of the given locks as one: each from a different client, on independent servers. A server that has
   * just started does not vote until one lease has passed.
   *
   * @example
   * ```ts
   * const servers = await Promise.all([startServer(), startServer(), startServer()]);
   * const clients = await Promise.all(servers.map(({ url }) => Holdfast.connect(url, { watchdogMs: 1_000 })));
   * const [first] = clients as [Holdfast];
   * const lock = first.getRedLock(...clients.map((each) => each.getLock('import')));
   * await lock.withLock(() => servers[2]?.kill());
   * await Promise.all([...clients, ...servers].map((each) => each.close()));
   * ```
   *
   * @throws OptionError when two locks come from one client
   */
  getRedLock(...locks: Lock[]): Lock {
    this.#used();
    return new RedLock(...locks);
  }

  /** A new identity that can hold locks and re-enter them, the counterpart of a thread. */
  owner(): Owner {
    return new Owner(this.id);
  }

  /**
   * Runs code as one owner: a lock taken twice inside is re-entered.
   *
   * @example
   * ```ts
   * await client.scope(async () => {
   *   const lock = client.getLock('ledger');
   *   await lock.lock();
   *   await lock.lock();
   *   console.log(await lock.getHoldCount()); // 2
   *   await lock.unlock();
   *   await lock.unlock();
   * });
   * ```
   */
  scope<T>(work: () => T | Promise<T>): Promise<T> {
    const { sections } = this.wiring.context;
    const parent = sections.current();
    return sections.run(new Section(parent?.owner ?? this.owner(), parent), work);
  }

  #wireFor(options: LockKindOptions | undefined) {
    return this.wiring.wire(checkOptions('lockKind', options).guard);
  }

  #reentrant(
    kind: ReentrantProtocol['kind'],
    name: string,
    options?: LockKindOptions,
    spin?: ReturnType<typeof spinning>,
  ): ReentrantProtocol {
    const { renewals } = this.wiring;
    return new ReentrantProtocol(this.#wireFor(options), checkName(name), renewals.reentrant, kind, spin);
  }

  #fair(name: string, options?: LockKindOptions): FairProtocol {
    return new FairProtocol(this.#wireFor(options), checkName(name), this.wiring.renewals.reentrant);
  }

  #lock(
    protocol: ReentrantProtocol | FairProtocol | SimpleProtocol,
    { reentrant } = { reentrant: true },
  ): Lock {
    this.#used();
    return new ProtocolLock(this.wiring.context, protocol, { reentrant });
  }

  /** Every use needs an open client; the first use starts the server check in the background. */
  #used(): void {
    this.wiring.runtime.assertOpen();
    this.wiring.preflight.begin();
  }
}
