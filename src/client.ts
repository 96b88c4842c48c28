/**
 * The client: puts driver and runtime together and hands out locks.
 */
import { randomUUID } from 'node:crypto';
import { SystemClock } from './clock.ts';
import { CountDownLatch, latchFitsCluster } from './counters/count-down-latch.ts';
import { PermitExpirableSemaphore } from './counters/permit-semaphore.ts';
import { RateLimiter } from './counters/rate-limiter.ts';
import { Semaphore } from './counters/semaphore.ts';
import { openDriver } from './drivers/connect.ts';
import { detectDriver } from './drivers/detect.ts';
import type { Driver } from './drivers/driver.ts';
import { ClosedError, OptionError } from './errors.ts';
import type { ClientEvents, Report } from './events.ts';
import { type FencedRegister, RedisFencedRegister, RegisterWriter } from './fencing/fenced-register.ts';
import { MultiLock } from './groups/multi-lock.ts';
import { RedLock } from './groups/red-lock.ts';
import { type Description, describe, list } from './inspect/locks.ts';
import { FairProtocol } from './locks/fair-lock.ts';
import { ExclusiveFencedLock, type FencedLock, type FencedLockOptions } from './locks/fenced-lock.ts';
import type { Lock } from './locks/lock.ts';
import { ProtocolLock } from './locks/protocol-lock.ts';
import {
  ProtocolReadWriteLock,
  type ReadWriteLock,
  type ReadWriteLockOptions,
} from './locks/read-write-lock.ts';
import { ReentrantProtocol } from './locks/reentrant-lock.ts';
import { SimpleProtocol } from './locks/simple-lock.ts';
import { type Backoff, spinning } from './locks/spin-lock.ts';
import { WebLocks } from './locks/web-locks.ts';
import { checkName, checkOptions } from './options/checks.ts';
import type { ClientOptions, LockKindOptions } from './options/client-options.ts';
import { checkSettings, type Settings } from './options/settings.ts';
import { checkTarget, type Target } from './options/target.ts';
import { toHoldfastError } from './outcome.ts';
import type { Capabilities } from './preflight/capabilities.ts';
import { checkHealth, type Health } from './preflight/health.ts';
import { Owner, Section } from './runtime/owner.ts';
import { closeOnSignals } from './signals.ts';
import { publish } from './telemetry/channels.ts';
import { type Listener, Listeners } from './telemetry/listeners.ts';
import { Warnings } from './telemetry/warnings.ts';
import { Wiring } from './wiring.ts';

/** What a client is made of. */
interface Made {
  readonly driver: Driver;
  readonly settings: Settings;
  readonly expectedReplicas?: number;
  /** What to do once everything is closed. */
  readonly whenClosed?: () => Promise<void>;
}

/**
 * A client: the source of locks, all of which share its connection, its watchdog and its identity.
 *
 * @example
 * ```ts
 * import { Holdfast } from 'holdfast';
 *
 * await using client = await Holdfast.connect('redis://127.0.0.1:6379');
 * await client.getLock('invoice:42').withLock(async () => {
 *   console.log('nobody else is here');
 * });
 * ```
 */
export class Holdfast implements AsyncDisposable {
  /** The UUID in every owner field of this client. */
  readonly id = randomUUID();
  readonly #wiring: Wiring;
  readonly #writer = new RegisterWriter(this.id);
  #locks: WebLocks | undefined;
  readonly #listeners = new Listeners();
  readonly #warnings = new Warnings();
  readonly #whenClosed: (() => Promise<void>) | undefined;
  #forgetSignals: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  private constructor({ driver, settings, expectedReplicas = 0, whenClosed }: Made) {
    this.#whenClosed = whenClosed;
    const clock = new SystemClock();
    const report: Report = (event, payload) => this.#report(event, payload);
    const warnings = this.#warnings;
    this.#wiring = new Wiring({ id: this.id, driver, settings, clock, report, warnings, expectedReplicas });
    if (settings.closeOnSignals) this.#forgetSignals = closeOnSignals(() => this.close());
  }

  /**
   * Connects with connections of our own, made with ioredis, and resolves when the server has answered: one server,
   * Sentinels, a Cluster, a fixed primary, or an embedded server for development.
   *
   * @throws OptionError, or DriverError when the server cannot be reached or cannot do what was asked for
   */
  static async connect(target: string | Target, options?: ClientOptions): Promise<Holdfast> {
    const settings = checkSettings(options);
    const where = checkTarget(target);
    const { commandTimeoutMs } = settings;
    if (where.kind !== 'embedded') {
      const driver = await openDriver(where, { commandTimeoutMs });
      const counted = where.kind === 'fixed' ? { expectedReplicas: where.expectedReplicas } : {};
      return Holdfast.#connected({ driver, settings, ...counted });
    }
    const { startEmbeddedServer } = await import('./embedded/start.ts');
    const server = await startEmbeddedServer();
    try {
      const driver = await openDriver({ kind: 'server', server: { url: server.url } }, { commandTimeoutMs });
      return await Holdfast.#connected({ driver, settings, whenClosed: () => server.close() });
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  static async #connected(parts: Made): Promise<Holdfast> {
    const client = new Holdfast(parts);
    try {
      await client.#read('ask what the server can do', () => client.#wiring.preflight.assertFulfilled());
      return client;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  /**
   * Uses a client you have. It is never closed or reconfigured; what needs a connection of its own gets one with the
   * same settings.
   *
   * - ioredis 5 or 6, iovalkey: `new Redis(…)`, also with Sentinels, and `new Cluster(…)`
   * - node-redis 5 or 6: `createClient`, `createClientPool`, `createSentinel`, `createCluster`, after `connect()`
   * - Valkey GLIDE 2: `GlideClient`, `GlideClusterClient`; or `{ client, config }` where the client does not show its
   *   configuration, from which connections of our own are made
   *
   * @example
   * ```ts
   * import { Redis } from 'ioredis';
   * import { Holdfast } from 'holdfast';
   *
   * const redis = new Redis('redis://127.0.0.1:6379');
   * const client = Holdfast.from(redis, { watchdogMs: 10_000 });
   * const hold = await client.getLock('import').tryLock();
   * await hold?.unlock();
   * await client.close();
   * await redis.quit();
   * ```
   *
   * @throws OptionError
   */
  static from(redisClient: unknown, options?: ClientOptions): Holdfast {
    return new Holdfast({ driver: detectDriver(redisClient), settings: checkSettings(options) });
  }

  /** The reentrant lock: kept alive by the watchdog, waiters woken by messages. */
  getLock(name: string, options?: LockKindOptions): Lock {
    return this.#lock(this.#reentrant(name, options));
  }

  /** The same lock on the same keys; taking it again by the same owner throws `ReentryError`. */
  getNonReentrantLock(name: string, options?: LockKindOptions): Lock {
    return this.#lock(this.#reentrant(name, options), { reentrant: false });
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

  /** The same lock on the same keys; taking it again by the same owner throws `ReentryError`. */
  getNonReentrantFairLock(name: string, options?: LockKindOptions): Lock {
    return this.#lock(this.#fair(name, options), { reentrant: false });
  }

  /** The same lock on the same keys; it waits by asking again with growing pauses. */
  getSpinLock(name: string, backoff?: Backoff, options?: LockKindOptions): Lock {
    return this.#lock(this.#reentrant(name, options, spinning(backoff)));
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
    const { context, renewals } = this.#wiring;
    const wire = this.#wiring.wire(checkOptions('fencedLock', options).guard);
    return new ExclusiveFencedLock(context, wire, checkName(name), renewals.reentrant, options);
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
    return new RedisFencedRegister(this.#wiring.runtime, this.#wiring.wire(), checkName(name), this.#writer);
  }

  /** The plain `SET key token NX PX` lock, for sharing keys with redlock-style libraries. */
  getSimpleLock(name: string, options?: LockKindOptions): Lock {
    const { renewals } = this.#wiring;
    return this.#lock(new SimpleProtocol(this.#wireFor(options), checkName(name), renewals.simple));
  }

  /** So many permits, which anybody takes and gives back. */
  getSemaphore(name: string): Semaphore {
    this.#used();
    return new Semaphore(this.#wiring.synchronizers, checkName(name));
  }

  /** So many permits with ids and leases: those of a process that died come back. */
  getPermitExpirableSemaphore(name: string): PermitExpirableSemaphore {
    this.#used();
    return new PermitExpirableSemaphore(this.#wiring.synchronizers, checkName(name), this.#wiring.permits);
  }

  /** A gate that opens once enough have counted down. */
  getCountDownLatch(name: string): CountDownLatch {
    this.#used();
    const latch = new CountDownLatch(this.#wiring.synchronizers, checkName(name));
    if (this.#wiring.driver.topology === 'cluster' && !latchFitsCluster(this.#wiring.wire().rawName(name))) {
      throw new OptionError(
        `In a Cluster, the name of a count-down latch can have no braces: with them its channel, which Redisson ` +
          `puts in braces of its own, falls into another slot than "${name}"`,
      );
    }
    return latch;
  }

  /** So many permits within any stretch of time of a given length. */
  getRateLimiter(name: string): RateLimiter {
    this.#used();
    return new RateLimiter(this.#wiring.synchronizers, this.id, checkName(name));
  }

  /** Many readers or one writer, with `readLock()` and `writeLock()`. */
  getReadWriteLock(name: string, options?: ReadWriteLockOptions): ReadWriteLock {
    this.#used();
    const { context, renewals } = this.#wiring;
    const wire = this.#wiring.wire(checkOptions('readWriteLock', options).guard);
    return new ProtocolReadWriteLock(context, wire, checkName(name), renewals.readWrite, options);
  }

  /** Locks shaped like the browser's `navigator.locks`, on the keys of `getReadWriteLock`. */
  get locks(): WebLocks {
    this.#locks ??= new WebLocks({
      clientId: this.id,
      report: (event, payload) => this.#report(event, payload),
      owner: () => this.owner(),
      lock: (name) => {
        this.#used();
        // As in the standard's queue, a stream of shared requests does not keep an exclusive one out.
        const options = { prefer: 'writer' };
        return new ProtocolReadWriteLock(
          this.#wiring.context,
          this.#wiring.wire(),
          name,
          this.#wiring.renewals.readWrite,
          options,
        );
      },
    });
    return this.#locks;
  }

  /**
   * All of the given locks as one, taken in one order by everybody. They may be of different kinds and come from
   * different clients.
   *
   * @example
   * ```ts
   * const transfer = client.getMultiLock(client.getLock('account:1'), client.getFairLock('account:2'));
   * await transfer.withLock(() => console.log('nobody else is at either')); // nobody else is at either
   * ```
   *
   * @throws OptionError when a lock is named twice, or is itself made of locks
   */
  getMultiLock(...locks: Lock[]): Lock {
    this.#used();
    return new MultiLock(...locks);
  }

  /**
   * A majority of the given locks as one: each from a client of its own, on independent servers. A server that has
   * just started does not vote for one lease.
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
    const { sections } = this.#wiring.context;
    const parent = sections.current();
    return sections.run(new Section(parent?.owner ?? this.owner(), parent), work);
  }

  /** What stands under a name, for people and tools. */
  async inspect(name: string): Promise<Description> {
    const key = this.#wiring.wire().rawName(checkName(name));
    return this.#read(`inspect "${name}"`, () => describe(this.#wiring.driver, key));
  }

  /** The locks whose keys match a glob pattern. Walks the whole key space: for people, not for programs. */
  async list(pattern = '*'): Promise<Description[]> {
    return this.#read('list locks', () =>
      list(this.#wiring.driver, this.#wiring.driver.keyPrefix + checkName(pattern)),
    );
  }

  /**
   * What the server offers, and what was chosen accordingly. Asked once, again when calls have failed since, and every
   * 30 s while the client is used.
   *
   * @throws DriverError when the server cannot be used: a replica, one of a Cluster, too old
   */
  async capabilities(): Promise<Capabilities> {
    return this.#read('ask what the server can do', () => this.#wiring.preflight.capabilities());
  }

  /**
   * How things are right now: asks every primary, once. Never rejects, and takes at most one `commandTimeoutMs`.
   *
   * @example
   * ```ts
   * const { status, problems } = await client.health();
   * for (const { code, message } of problems) console.warn(code, message);
   * console.log(status); // ok
   * ```
   */
  async health(): Promise<Health> {
    const { runtime, preflight } = this.#wiring;
    if (runtime.isClosed) {
      const { code, message } = new ClosedError();
      return { status: 'down', latencyMs: null, problems: [{ code, message }], nodes: [] };
    }
    return checkHealth({
      preflight,
      warnings: this.#warnings,
      clock: runtime.clock,
      withinMs: runtime.commandTimeoutMs,
      holdsAtRisk: () => [...runtime.tenures].filter(({ renewalFailing }) => renewalFailing).length,
    });
  }

  /**
   * Calls the listener at every event of that name. What it throws becomes a warning of the process and changes nothing.
   *
   * @example
   * ```ts
   * client.on('lost', ({ name, reason }) => {
   *   console.log(name, reason); // stuck forced
   * });
   * await client.getLock('stuck').lock();
   * await client.getLock('stuck').forceUnlock();
   * ```
   */
  on<Name extends keyof ClientEvents>(event: Name, listener: Listener<Name>): this {
    this.#listeners.add(event, listener);
    return this;
  }

  /** Stops calling a listener that was given to `on`. */
  off<Name extends keyof ClientEvents>(event: Name, listener: Listener<Name>): this {
    this.#listeners.remove(event, listener);
    return this;
  }

  /**
   * Stops new work, turns waiters away with `ClosedError`, tells holders, releases what they hold and drops our
   * own connections. Takes at most about one `commandTimeoutMs`.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#forgetSignals?.();
    this.#wiring.preflight.close();
    // Sent before the connection is closed, and not waited for by anything that matters more.
    const flushed = this.#wiring.synchronizers.answers.flush();
    await this.#wiring.runtime.close();
    await flushed;
    await this.#whenClosed?.();
  }

  #wireFor(options: LockKindOptions | undefined) {
    return this.#wiring.wire(checkOptions('lockKind', options).guard);
  }

  #reentrant(name: string, options?: LockKindOptions, spin?: ReturnType<typeof spinning>): ReentrantProtocol {
    const { renewals } = this.#wiring;
    return new ReentrantProtocol(this.#wireFor(options), checkName(name), renewals.reentrant, spin);
  }

  #fair(name: string, options?: LockKindOptions): FairProtocol {
    return new FairProtocol(this.#wireFor(options), checkName(name), this.#wiring.renewals.reentrant);
  }

  #lock(
    protocol: ReentrantProtocol | FairProtocol | SimpleProtocol,
    { reentrant } = { reentrant: true },
  ): Lock {
    this.#used();
    return new ProtocolLock(this.#wiring.context, protocol, { reentrant });
  }

  /** Something is asked for: the client must be open, and the server is looked at if it has not been yet. */
  #used(): void {
    this.#wiring.runtime.assertOpen();
    this.#wiring.preflight.begin();
  }

  async #read<T>(what: string, read: () => Promise<T>): Promise<T> {
    this.#wiring.runtime.assertOpen();
    try {
      return await read();
    } catch (error) {
      throw toHoldfastError(error, what);
    }
  }

  #report<Name extends keyof ClientEvents>(event: Name, payload: ClientEvents[Name]): void {
    if (event === 'warning' && !this.#warnings.isNews(payload as ClientEvents['warning'])) return;
    publish(this.id, event, payload);
    this.#listeners.emit(event, payload);
  }
}
