/**
 * The client: puts driver and runtime together and hands out locks.
 */
import { randomUUID } from 'node:crypto';
import { withDeadline } from './drivers/deadline.ts';
import { detectDriver } from './drivers/detect.ts';
import type { Driver } from './drivers/driver.ts';
import { openIoredis, type ServerTarget } from './drivers/open.ts';
import { toHoldfastError } from './drivers/outcome.ts';
import { type Description, describe, list } from './inspect/locks.ts';
import { type Capabilities, probe, warnOfEviction } from './inspect/server.ts';
import { checkName, checkOptions, checkTarget, DEFAULTS } from './options.ts';
import { Answers } from './primitives/answers.ts';
import { CountDownLatch } from './primitives/count-down-latch.ts';
import { Crowds } from './primitives/crowd.ts';
import { ExclusiveLock, type LockContext } from './primitives/exclusive-lock.ts';
import { FairProtocol } from './primitives/fair-lock.ts';
import { ExclusiveFencedLock, type FencedLock, type FencedLockOptions } from './primitives/fenced-lock.ts';
import { type FencedRegister, GuardedRegister, RegisterWriter } from './primitives/fenced-register.ts';
import type { Lock } from './primitives/lock.ts';
import { MultiLock } from './primitives/multi-lock.ts';
import { HeldPermits } from './primitives/permit.ts';
import { renewPermits } from './primitives/permit-protocol.ts';
import { PermitExpirableSemaphore } from './primitives/permit-semaphore.ts';
import { RateLimiter } from './primitives/rate-limiter.ts';
import {
  type ReadWriteLock,
  type ReadWriteLockOptions,
  type ReadWriteRenewals,
  TwoSidedLock,
} from './primitives/read-write-lock.ts';
import { renewReads } from './primitives/read-write-protocol.ts';
import { RedLock } from './primitives/red-lock.ts';
import { REENTRANT_SCRIPTS, ReentrantProtocol } from './primitives/reentrant-lock.ts';
import type { SynchronizerContext } from './primitives/requests.ts';
import { renewWith } from './primitives/scripted-protocol.ts';
import { Semaphore } from './primitives/semaphore.ts';
import { SIMPLE_SCRIPTS, SimpleProtocol } from './primitives/simple-lock.ts';
import { type Backoff, spinning } from './primitives/spin-lock.ts';
import { WebLocks } from './primitives/web-locks.ts';
import type { Wire } from './primitives/wire.ts';
import { type Clock, SystemClock } from './runtime/clock.ts';
import type { ClientEvents } from './runtime/events.ts';
import { Owner, OwnerNumbers, Section, Sections } from './runtime/owner.ts';
import type { Renew } from './runtime/protocol.ts';
import { Runtime } from './runtime/runtime.ts';
import { closeOnSignals } from './signals.ts';
import { publish } from './telemetry/channels.ts';
import { type Listener, Listeners } from './telemetry/listeners.ts';

/** How a client behaves. Every option has a default. */
export interface ClientOptions {
  /** The lease of a hold taken without `leaseMs`, renewed every third of it; 30 000. */
  watchdogMs?: number | undefined;
  /** Our own deadline on every call to the server, whatever the client library does; 3 000. */
  commandTimeoutMs?: number | undefined;
  /** Turns a name into the key that stands for it, like Redisson's `nameMapper`. */
  mapName?: ((name: string) => string) | undefined;
  /** Releases everything on SIGTERM and SIGINT before the process ends; false. */
  closeOnSignals?: boolean | undefined;
  /** How long a fair waiter may be silent before others skip it, by Redisson's rules; 300 000. */
  fairWaitMs?: number | undefined;
  /** Replica acknowledgements that an acquisition needs. This version waits for none, and refuses to pretend. */
  replicas?: 0 | 'auto' | undefined;
  /** How long to wait for them; 1 000. */
  replicaTimeoutMs?: number | undefined;
  /** The failover guard, which this version does not have. */
  guard?: false | undefined;
  /** Sharded channels, for Clusters, which this version does not speak to. */
  shardedPubSub?: 'auto' | false | undefined;
}

/** Where to connect: one server, or a private one for development and tests. */
export type Target = ServerTarget | { embedded: true };

/** What a client is made of; tests replace the clock. */
interface Parts {
  readonly driver: Driver;
  readonly options: ReturnType<typeof checkOptions<'client'>>;
  readonly clock?: Clock;
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
  readonly #driver: Driver;
  readonly #runtime: Runtime;
  readonly #context: LockContext;
  readonly #wire: Wire;
  readonly #synchronizers: SynchronizerContext;
  readonly #permits: HeldPermits;
  readonly #writer = new RegisterWriter(this.id);
  readonly #renewReentrant: Renew;
  readonly #renewSimple: Renew;
  readonly #renewReadWrite: ReadWriteRenewals;
  #locks: WebLocks | undefined;
  readonly #listeners = new Listeners();
  readonly #whenClosed: (() => Promise<void>) | undefined;
  #forgetSignals: (() => void) | undefined;
  #capabilities: Promise<Capabilities> | undefined;
  #warnedOfPublish = false;
  #closing: Promise<void> | undefined;

  private constructor({ driver, options, clock = new SystemClock(), whenClosed }: Parts) {
    const { watchdogMs, commandTimeoutMs, fairWaitMs, mapName } = { ...DEFAULTS, ...options };
    this.#driver = withDeadline(driver, clock, commandTimeoutMs);
    this.#whenClosed = whenClosed;
    this.#runtime = new Runtime({
      driver: this.#driver,
      clock,
      watchdogMs,
      commandTimeoutMs,
      report: (event, payload) => this.#report(event, payload),
    });
    const numbers = new OwnerNumbers(this.id);
    this.#context = { clientId: this.id, runtime: this.#runtime, numbers, sections: new Sections() };
    this.#wire = {
      driver: this.#driver,
      publish: 'PUBLISH',
      rememberMs: this.#runtime.rememberMs,
      commandTimeoutMs,
      fairWaitMs,
      rawName: (name) => driver.keyPrefix + checkName(mapName(name)),
      announced: (taken) => this.#announced(taken),
    };
    this.#synchronizers = {
      runtime: this.#runtime,
      numbers,
      wire: this.#wire,
      answers: new Answers(clock, this.#wire),
      crowds: new Crowds(),
    };
    this.#renewReentrant = renewWith(REENTRANT_SCRIPTS, this.#wire);
    this.#renewSimple = renewWith(SIMPLE_SCRIPTS, this.#wire);
    this.#renewReadWrite = { read: renewReads(this.#wire), write: this.#renewReentrant };
    this.#permits = new HeldPermits(renewPermits(this.#wire));
    if (options.closeOnSignals) this.#forgetSignals = closeOnSignals(() => this.close());
  }

  /**
   * Connects with connections of our own, and resolves when the server has answered.
   *
   * @throws OptionError, or DriverError when the server cannot be reached
   */
  static async connect(target: string | Target, options?: ClientOptions): Promise<Holdfast> {
    const checked = checkOptions('client', options);
    const { embedded, ...where } = checkTarget(target);
    const commandTimeoutMs = checked.commandTimeoutMs ?? DEFAULTS.commandTimeoutMs;
    if (!embedded) {
      const driver = await openIoredis(where as ServerTarget, { commandTimeoutMs });
      return Holdfast.#connected({ driver, options: checked });
    }
    const { startEmbeddedServer } = await import('./embedded/start.ts');
    const server = await startEmbeddedServer();
    try {
      const driver = await openIoredis({ url: server.url }, { commandTimeoutMs });
      return await Holdfast.#connected({ driver, options: checked, whenClosed: () => server.close() });
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  static async #connected(parts: Parts): Promise<Holdfast> {
    const client = new Holdfast(parts);
    try {
      await client.capabilities();
      return client;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  /**
   * Uses a client you have: ioredis 5 or 6, iovalkey, node-redis 5 or 6. It is never closed nor reconfigured;
   * what needs a connection of its own gets a duplicate of it.
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
    return new Holdfast({ driver: detectDriver(redisClient), options: checkOptions('client', options) });
  }

  /** The reentrant lock: kept alive by the watchdog, waiters woken by messages. */
  getLock(name: string): Lock {
    return this.#lock(new ReentrantProtocol(this.#wire, checkName(name), this.#renewReentrant));
  }

  /** The same lock on the same keys; taking it again by the same owner throws `ReentryError`. */
  getNonReentrantLock(name: string): Lock {
    const protocol = new ReentrantProtocol(this.#wire, checkName(name), this.#renewReentrant);
    return this.#lock(protocol, { reentrant: false });
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
  getFairLock(name: string): Lock {
    return this.#lock(new FairProtocol(this.#wire, checkName(name), this.#renewReentrant));
  }

  /** The same lock on the same keys; taking it again by the same owner throws `ReentryError`. */
  getNonReentrantFairLock(name: string): Lock {
    const protocol = new FairProtocol(this.#wire, checkName(name), this.#renewReentrant);
    return this.#lock(protocol, { reentrant: false });
  }

  /** The same lock on the same keys; it waits by asking again with growing pauses. */
  getSpinLock(name: string, backoff?: Backoff): Lock {
    const spin = spinning(backoff);
    return this.#lock(new ReentrantProtocol(this.#wire, checkName(name), this.#renewReentrant, spin));
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
    return new ExclusiveFencedLock(this.#context, this.#wire, checkName(name), this.#renewReentrant, options);
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
    return new GuardedRegister(this.#runtime, this.#wire, checkName(name), this.#writer);
  }

  /** The plain `SET key token NX PX` lock, for sharing keys with redlock-style libraries. */
  getSimpleLock(name: string): Lock {
    return this.#lock(new SimpleProtocol(this.#wire, checkName(name), this.#renewSimple));
  }

  /** So many permits, which anybody takes and gives back. */
  getSemaphore(name: string): Semaphore {
    this.#used();
    return new Semaphore(this.#synchronizers, checkName(name));
  }

  /** So many permits with ids and leases: those of a process that died come back. */
  getPermitExpirableSemaphore(name: string): PermitExpirableSemaphore {
    this.#used();
    return new PermitExpirableSemaphore(this.#synchronizers, checkName(name), this.#permits);
  }

  /** A gate that opens once enough have counted down. */
  getCountDownLatch(name: string): CountDownLatch {
    this.#used();
    return new CountDownLatch(this.#synchronizers, checkName(name));
  }

  /** So many permits within any stretch of time of a given length. */
  getRateLimiter(name: string): RateLimiter {
    this.#used();
    return new RateLimiter(this.#synchronizers, this.id, checkName(name));
  }

  /** Many readers or one writer, with `readLock()` and `writeLock()`. */
  getReadWriteLock(name: string, options?: ReadWriteLockOptions): ReadWriteLock {
    this.#used();
    return new TwoSidedLock(this.#context, this.#wire, checkName(name), this.#renewReadWrite, options);
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
        return new TwoSidedLock(this.#context, this.#wire, name, this.#renewReadWrite, options);
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
    const { sections } = this.#context;
    const parent = sections.current();
    return sections.run(new Section(parent?.owner ?? this.owner(), parent), work);
  }

  /** What stands under a name, for people and tools. */
  async inspect(name: string): Promise<Description> {
    const key = this.#wire.rawName(checkName(name));
    return this.#read(`inspect "${name}"`, () => describe(this.#driver, key));
  }

  /** The locks whose keys match a glob pattern. Walks the whole key space: for people, not for programs. */
  async list(pattern = '*'): Promise<Description[]> {
    return this.#read('list locks', () => list(this.#driver, this.#driver.keyPrefix + checkName(pattern)));
  }

  /** What was found out about the server, and what was chosen accordingly. Asked once. */
  async capabilities(): Promise<Capabilities> {
    return this.#read('ask what the server can do', () => this.#probe());
  }

  on<Name extends keyof ClientEvents>(event: Name, listener: Listener<Name>): this {
    this.#listeners.add(event, listener);
    return this;
  }

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
    // Sent before the connection is closed, and not waited for by anything that matters more.
    const flushed = this.#synchronizers.answers.flush();
    await this.#runtime.close();
    await flushed;
    await this.#whenClosed?.();
  }

  #lock(
    protocol: ReentrantProtocol | FairProtocol | SimpleProtocol,
    { reentrant } = { reentrant: true },
  ): Lock {
    this.#used();
    return new ExclusiveLock(this.#context, protocol, { reentrant });
  }

  /** Something is asked for: the client must be open, and the server is looked at if it has not been yet. */
  #used(): void {
    this.#runtime.assertOpen();
    // Nobody waits for it, and a server that cannot be reached is told to who uses what was asked for.
    void this.#probe().catch(() => undefined);
  }

  #probe(): Promise<Capabilities> {
    if (this.#capabilities === undefined) {
      this.#capabilities = probe(this.#driver);
      this.#capabilities.then(
        (found) => warnOfEviction(found, (event, payload) => this.#report(event, payload)),
        () => {
          this.#capabilities = undefined;
        },
      );
    }
    return this.#capabilities;
  }

  async #read<T>(what: string, read: () => Promise<T>): Promise<T> {
    this.#runtime.assertOpen();
    try {
      return await read();
    } catch (error) {
      throw toHoldfastError(error, what);
    }
  }

  #report<Name extends keyof ClientEvents>(event: Name, payload: ClientEvents[Name]): void {
    publish(this.id, event, payload);
    this.#listeners.emit(event, payload);
  }

  #announced(taken: number): void {
    if (taken === 1 || this.#warnedOfPublish) return;
    this.#warnedOfPublish = true;
    this.#report('warning', {
      code: 'HOLDFAST_NO_PUBLISH',
      message:
        'The server refused the wake-up of a release (no permission to PUBLISH?): waiters fall back on polling',
    });
  }
}
