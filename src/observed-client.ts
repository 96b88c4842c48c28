/**
 * What a client tells people and tools: its events, the locks on the servers, the servers' features and health.
 */
import { tellEvent } from './channels.ts';
import type { ClientEvents, Reported } from './events.ts';
import type { Description, InspectOptions, ListOptions } from './inspect/description.ts';
import { checkName, checkOptions } from './options/checks.ts';
import { toHoldfastError } from './outcome.ts';
import type { Capabilities } from './preflight/capabilities.ts';
import { checkHealth, type Health } from './preflight/health.ts';
import { Primitives } from './primitives.ts';
import { debugIfAsked } from './telemetry/debug.ts';
import { type Listener, Listeners } from './telemetry/listeners.ts';
import { Warnings } from './telemetry/warnings.ts';

export abstract class ObservedClient extends Primitives {
  /** @internal */
  protected readonly warnings = new Warnings();
  readonly #listeners = new Listeners();
  readonly #label: string;

  constructor(label: string) {
    super();
    this.#label = label;
    debugIfAsked();
  }

  /**
   * Describes what is under a name, for people and tools: its kind, its holders, the rest of their leases, its waiters.
   *
   * A semaphore without leases and a latch are whole numbers in Redis, like any counter: `as` says which it is.
   *
   * @example
   * ```ts
   * await using hold = await client.getLock('invoice:42').lock();
   * const found = await client.inspect('invoice:42');
   * if (found.kind === 'lock') {
   *   const [{ owner, heldSince, remainingMs }] = found.holders;
   *   console.log(owner === hold.owner, heldSince !== null, remainingMs > 20_000); // true true true
   * }
   * ```
   */
  async inspect(name: string, options?: InspectOptions): Promise<Description> {
    const key = this.wiring.wire().keyOf(checkName(name));
    const checked = checkOptions('inspect', options);
    return this.read(`inspect "${name}"`, () => this.wiring.inspector.inspect(key, checked));
  }

  /**
   * Describes the locks and synchronizers whose keys match a glob pattern, in the order of their keys. Walks the whole
   * key space with SCAN, in slices: for people, not for programs. Other keys are left out.
   *
   * @example
   * ```ts
   * await using hold = await client.getLock('report:daily').lock();
   * for (const { key, kind } of await client.list('report:*')) {
   *   console.log(key, kind); // report:daily lock
   * }
   * ```
   */
  async list(pattern = '*', options?: ListOptions): Promise<Description[]> {
    const keys = this.wiring.driver.keyPrefix + checkName(pattern);
    const checked = checkOptions('list', options);
    return this.read('list locks', () => this.wiring.inspector.list(keys, checked));
  }

  /**
   * The features of the server, and the client's choices based on them. The client asks once, again after calls have
   * failed, and every 30 s while in use.
   *
   * @throws DriverError when the server cannot be used: a replica, a node of a Cluster, too old
   */
  async capabilities(): Promise<Capabilities> {
    return this.read('read the capabilities of the server', () => this.wiring.preflight.capabilities());
  }

  /**
   * The health right now: asks every primary, once. Never rejects, and takes at most one `commandTimeoutMs`.
   *
   * @example
   * ```ts
   * const { status, problems } = await client.health();
   * for (const { code, message } of problems) console.warn(code, message);
   * console.log(status); // ok
   * ```
   */
  async health(): Promise<Health> {
    const { runtime, preflight } = this.wiring;
    // A client that drains takes no new locks: its process should get no new work.
    if (runtime.closing !== undefined) {
      const { code, message } = runtime.closing;
      return { status: 'down', latencyMs: null, problems: [{ code, message }], nodes: [] };
    }
    return checkHealth({
      preflight,
      warnings: this.warnings,
      clock: runtime.clock,
      withinMs: runtime.commandTimeoutMs,
      holdsAtRisk: () => [...runtime.tenures].filter(({ renewalFailing }) => renewalFailing).length,
    });
  }

  /**
   * Calls the listener at every event of that name. An error it throws becomes a process warning and changes nothing.
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

  /** Like `on`, for the next event of that name only. */
  once<Name extends keyof ClientEvents>(event: Name, listener: Listener<Name>): this {
    this.#listeners.add(event, listener, { once: true });
    return this;
  }

  /** Stops calling a listener that was given to `on` or `once`. */
  off<Name extends keyof ClientEvents>(event: Name, listener: Listener<Name>): this {
    this.#listeners.remove(event, listener);
    return this;
  }

  /** @internal */
  protected report<Name extends keyof ClientEvents>(event: Name, payload: Reported[Name]): void {
    if (event === 'warning' && !this.warnings.isNews(payload as ClientEvents['warning'])) return;
    // Events that name an owner name its client too.
    const told = ('owner' in payload ? { ...payload, label: this.#label } : payload) as ClientEvents[Name];
    tellEvent(this.id, event, told);
    this.#listeners.emit(event, told);
  }

  /** @internal */
  protected async read<T>(what: string, read: () => Promise<T>): Promise<T> {
    this.wiring.runtime.assertOpen();
    try {
      return await read();
    } catch (error) {
      throw toHoldfastError(error, what);
    }
  }
}
