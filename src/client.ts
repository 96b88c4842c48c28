/**
 * The client: connecting, reports about its servers, events, and closing.
 */
import { SystemClock } from './clock.ts';
import { openDriver } from './drivers/connect.ts';
import { connectionNameOf } from './drivers/connect-settings.ts';
import { detectDriver, type RedisClient } from './drivers/detect.ts';
import type { Driver } from './drivers/driver.ts';
import type { Report } from './events.ts';
import type { Hold } from './locks/hold.ts';
import type { Lock, WithLockOptions } from './locks/lock.ts';
import { ObservedClient } from './observed-client.ts';
import { checkNames, checkOptions } from './options/checks.ts';
import type { ClientOptions, CloseOptions } from './options/client-options.ts';
import { checkSettings, type Settings } from './options/settings.ts';
import { checkTarget, type Target } from './options/target.ts';
import { closeOnSignals } from './process-signals.ts';
import { Wiring } from './wiring.ts';

/** The parts of a client. */
interface Made {
  readonly driver: Driver;
  readonly settings: Settings;
  readonly expectedReplicas?: number;
  /** The name for connections besides the user's; left out where the driver's client has it. */
  readonly connectionName?: string;
  /** Called once everything is closed. */
  readonly whenClosed?: () => Promise<void>;
}

/**
 * A client creates locks, all of which share its connection, its watchdog and its identity.
 *
 * @example
 * ```ts
 * import { Holdfast } from 'holdfast';
 *
 * await using client = await Holdfast.connect('redis://127.0.0.1:6379');
 * await client.getLock('invoice:42').withLock(async () => {
 *   console.log('no other owner is here');
 * });
 * ```
 */
export class Holdfast extends ObservedClient implements AsyncDisposable {
  /** @internal */
  readonly wiring: Wiring;
  readonly #whenClosed: (() => Promise<void>) | undefined;
  #forgetSignals: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  private constructor({ driver, settings, expectedReplicas = 0, connectionName, whenClosed }: Made) {
    super(settings.label);
    this.#whenClosed = whenClosed;
    const clock = new SystemClock();
    const report: Report = (event, payload) => this.report(event, payload);
    const { warnings } = this;
    const parts = {
      id: this.id,
      driver,
      settings,
      clock,
      report,
      warnings,
      expectedReplicas,
      connectionName,
    };
    this.wiring = new Wiring(parts);
    const { closeOnSignals: onSignals } = settings;
    if (onSignals !== false) {
      const atFirst = onSignals === true ? {} : onSignals;
      this.#forgetSignals = closeOnSignals((options) => this.close(options), atFirst);
    }
  }

  /**
   * Opens connections with ioredis, and resolves when the server has answered. The target is one server, Sentinels,
   * a Cluster, a fixed primary, or an embedded server for development.
   *
   * @throws OptionError, or DriverError when the server cannot be reached or does not support the options
   */
  static async connect(target: string | Target, options?: ClientOptions): Promise<Holdfast> {
    const settings = checkSettings(options);
    const where = checkTarget(target);
    const { commandTimeoutMs } = settings;
    const opening = { commandTimeoutMs, connectionName: connectionNameOf(settings.label) };
    if (where.kind !== 'embedded') {
      const driver = await openDriver(where, opening);
      const counted = where.kind === 'fixed' ? { expectedReplicas: where.expectedReplicas } : {};
      return Holdfast.#connected({ driver, settings, ...counted });
    }
    const { startEmbeddedServer } = await import('./embedded/start.ts');
    const server = await startEmbeddedServer();
    try {
      const driver = await openDriver({ kind: 'server', server: { url: server.url } }, opening);
      return await Holdfast.#connected({ driver, settings, whenClosed: () => server.close() });
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  static async #connected(parts: Made): Promise<Holdfast> {
    const client = new Holdfast(parts);
    try {
      await client.read('read the capabilities of the server', () =>
        client.wiring.preflight.assertFulfilled(),
      );
      return client;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  /**
   * Bring your own client. holdfast never closes or reconfigures it, and opens further connections with the same
   * settings where it needs them.
   *
   * - ioredis 5 or 6, iovalkey: `new Redis(…)`, also with Sentinels, and `new Cluster(…)`
   * - node-redis 5 or 6: `createClient`, `createClientPool`, `createSentinel`, `createCluster`, after `connect()`
   * - Valkey GLIDE from 2.3: `GlideClient`, `GlideClusterClient`; or `{ client, config }` where the client does not show its
   *   configuration, which holdfast needs to open further connections
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
   * @throws OptionError, also for a client of a version that is too old
   */
  static from(redisClient: RedisClient, options?: ClientOptions): Holdfast {
    const settings = checkSettings(options);
    const connectionName = connectionNameOf(settings.label);
    return new Holdfast({ driver: detectDriver(redisClient, connectionName), settings, connectionName });
  }

  /**
   * Runs work while holding the locks of all these names, the locks of `getLock`, taken as one multi lock. Every caller
   * takes them in the same order, whatever the order of the names: two callers cannot deadlock. A name that is given
   * twice counts once.
   *
   * @example
   * ```ts
   * await client.withLocks(['account:7', 'account:3'], async (hold) => {
   *   console.log(hold.name); // account:3 + account:7
   * });
   * ```
   *
   * @throws OptionError for an empty list, before anything is sent; otherwise what `withLock` throws
   */
  async withLocks<T>(
    names: readonly string[],
    work: (hold: Hold) => T | Promise<T>,
    options?: WithLockOptions,
  ): Promise<T> {
    // Two names may be mapped to one key: that is one lock.
    const locks = new Map<string, Lock>();
    const { keyOf } = this.wiring.wire();
    for (const name of checkNames(names)) {
      const key = keyOf(name);
      if (!locks.has(key)) locks.set(key, this.getLock(name));
    }
    return this.getMultiLock(...locks.values()).withLock(work, options);
  }

  /**
   * Stops new work, rejects waiters with `ClosedError`, notifies holders, releases their holds and closes the
   * connections that holdfast opened. Takes at most about one `commandTimeoutMs`.
   *
   * With `drainMs`, what is held goes on for at most that long first: it is renewed, and can be re-entered, extended and
   * released. Acquisitions and waits are refused from the call on. The drain ends when nothing is held any more. A
   * second call can shorten it, and without `drainMs` it ends it.
   *
   * @example
   * ```ts
   * const hold = await client.getLock('nightly').lock();
   * setTimeout(() => void hold.unlock(), 50); // the work is done
   * await client.close({ drainMs: 10_000 });
   * console.log(hold.signal.aborted); // false
   * ```
   *
   * @throws OptionError
   */
  close(options?: CloseOptions): Promise<void> {
    let drainMs: number;
    try {
      ({ drainMs = 0 } = checkOptions('close', options));
    } catch (error) {
      return Promise.reject(error);
    }
    if (this.#closing === undefined) this.#closing = this.#close(drainMs);
    else this.wiring.runtime.shortenDrain(drainMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(drainMs: number): Promise<void> {
    const drained = drainMs > 0 ? this.wiring.runtime.drain(drainMs) : undefined;
    if (drained !== undefined) await drained;
    this.#forgetSignals?.();
    this.wiring.preflight.close();
    // Sent before the connection closes, but the releases must not wait for it. A server that does not know these scripts
    // yet takes two round trips, so they count among what the runtime waits for.
    const { backgroundRetry } = this.wiring.runtime;
    backgroundRetry.began();
    const lastCalls = Promise.all([
      this.wiring.synchronizers.answerRetention.flush(),
      this.wiring.ownRecord.forget(),
    ]).finally(() => backgroundRetry.ended());
    this.wiring.context.sections.close();
    await this.wiring.runtime.close();
    await lastCalls;
    await this.#whenClosed?.();
  }
}
