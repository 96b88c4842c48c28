/**
 * `client.locks`: the browser's Web Locks API, across processes.
 *
 * A thin layer over the read/write lock: `exclusive` is its write side, `shared` its read side. This file has the
 * standard's arguments, their rules, and the list of requests that hold a lock or wait in this client.
 */
import { LeaseLostError, OptionError } from '../errors.ts';
import type { Report } from '../events.ts';
import { checkName, checkOptions } from '../options/checks.ts';
import type { Owner } from '../runtime/owner.ts';
import type { Hold } from './hold.ts';
import type { ProtocolReadWriteLock } from './read-write-lock.ts';
import { workHolding } from './run-holding.ts';

/** Whether a lock is held alone or together with others, as in the standard. */
export type WebLockMode = 'exclusive' | 'shared';

/** How to request a lock, as in the standard. */
export interface WebLockOptions {
  /** `'exclusive'`, the default: no other request holds it. `'shared'`: only other shared requests hold it. */
  mode?: WebLockMode | undefined;
  /** Does not wait: the callback gets null when the lock is not available at once. */
  ifAvailable?: boolean | undefined;
  /** Takes the lock from its holders. Only with `exclusive`, and with neither `ifAvailable` nor `signal`. */
  steal?: boolean | undefined;
  /** Stops the waiting; the request rejects with the signal's reason. Has no effect once the lock is held. */
  signal?: AbortSignal | undefined;
}

/** The callback's argument: the standard's `name` and `mode`, and every member of a hold. */
export interface WebLock extends Hold {
  readonly mode: WebLockMode;
}

/** One entry of `query()`. */
export interface WebLockInfo {
  readonly name: string;
  readonly mode: WebLockMode;
  /** The id of the client: the part of an owner field before the colon. */
  readonly clientId: string;
}

/** The result of `query()`. */
export interface WebLockSnapshot {
  readonly held: readonly WebLockInfo[];
  readonly pending: readonly WebLockInfo[];
}

/** The parts of the client that web locks use. */
export interface WebLockContext {
  readonly clientId: string;
  readonly report: Report;
  lock(name: string): ProtocolReadWriteLock;
  owner(): Owner;
}

class HeldWebLock implements WebLock {
  readonly mode: WebLockMode;
  readonly #hold: Hold;

  constructor(hold: Hold, mode: WebLockMode) {
    this.#hold = hold;
    this.mode = mode;
  }

  get name(): string {
    return this.#hold.name;
  }

  get owner(): string {
    return this.#hold.owner;
  }

  get signal(): AbortSignal {
    return this.#hold.signal;
  }

  get remainingMs(): number {
    return this.#hold.remainingMs;
  }

  assertHeld(): void {
    this.#hold.assertHeld();
  }

  extend(leaseMs: number): Promise<void> {
    return this.#hold.extend(leaseMs);
  }

  unlock(): Promise<boolean> {
    return this.#hold.unlock();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hold[Symbol.asyncDispose]();
  }
}

/** The caller's work. @inline */
type Callback<T> = (lock: WebLock | null) => T | Promise<T>;

/** Locks as in `navigator.locks`. */
export class WebLocks {
  readonly #context: WebLockContext;
  readonly #held = new Map<WebLock, WebLockInfo>();
  readonly #pending = new Set<WebLockInfo>();

  /** @internal */
  constructor(context: WebLockContext) {
    this.#context = context;
  }

  /**
   * Runs the callback while the lock is held, and resolves with its result.
   *
   * Every request is independent, as in the standard: a request inside the callback of another does not
   * re-enter the lock. Rejects with `LeaseLostError` when the lock was lost or stolen while the callback ran.
   *
   * @example
   * ```ts
   * const total = await client.locks.request('cart:7', async (lock) => {
   *   lock.assertHeld();
   *   return 41 + 1;
   * });
   * console.log(total); // 42
   *
   * await client.locks.request('cart:7', { mode: 'shared', ifAvailable: true }, (lock) => {
   *   console.log(lock === null ? 'another owner writes' : lock.mode); // shared
   * });
   * ```
   */
  request<T>(name: string, callback: (lock: WebLock) => T | Promise<T>): Promise<T>;
  request<T>(
    name: string,
    options: WebLockOptions & { ifAvailable?: false | undefined },
    callback: (lock: WebLock) => T | Promise<T>,
  ): Promise<T>;
  request<T>(name: string, options: WebLockOptions, callback: Callback<T>): Promise<T>;
  async request<T>(name: string, ...rest: readonly unknown[]): Promise<T> {
    const [given, callback] = rest.length > 1 ? rest : [undefined, rest[0]];
    const options = checkRequest(name, given);
    if (typeof callback !== 'function') throw new OptionError('request() needs a function to run');
    const { mode = 'exclusive' } = options;
    const info = { name, mode, clientId: this.#context.clientId };

    const hold = await this.#take(info, options);
    if (hold === null) return (callback as Callback<T>)(null);
    const lock = new HeldWebLock(hold, mode);
    this.#held.set(lock, info);
    let result: T;
    try {
      result = await workHolding(lock, undefined, callback as Callback<T>);
    } catch (error) {
      await this.#giveBack(lock);
      throw error;
    }
    if (await this.#giveBack(lock)) return result;
    const { reason } = lock.signal;
    throw reason instanceof LeaseLostError ? reason : new LeaseLostError(name, lock.owner, 'notOwner');
  }

  /**
   * The requests that hold a lock or wait for one, at this moment.
   *
   * `pending` are the waiting requests of this client. `held` are the locks that requests of this client hold, and,
   * for every name that this client holds or waits for, the other holders according to the server. The result has
   * no names that this client does not use, and no requests that wait in other clients.
   */
  async query(): Promise<WebLockSnapshot> {
    const pending = [...this.#pending];
    const own = [...this.#held].filter(([lock]) => lock.remainingMs > 0);
    const ownFields = new Set(own.map(([lock]) => lock.owner));
    const held = own.map(([, info]) => info);
    const names = new Set([...held, ...pending].map(({ name }) => name));
    const others = await Promise.all(
      [...names].map(async (name) => {
        const fields = await this.#context.lock(name).holders();
        return fields.filter((field) => !ownFields.has(field)).map((field) => infoOf(name, field));
      }),
    );
    return { held: [...held, ...others.flat()], pending };
  }

  async #take(info: WebLockInfo, { ifAvailable, steal, signal }: WebLockOptions): Promise<Hold | null> {
    const owner = this.#context.owner();
    const both = this.#context.lock(info.name);
    this.#pending.add(info);
    try {
      if (steal) return await both.stolenLock().lock({ owner });
      const side = info.mode === 'shared' ? both.readLock() : both.writeLock();
      return await (ifAvailable ? side.tryLock({ owner }) : side.lock({ owner, signal }));
    } finally {
      this.#pending.delete(info);
    }
  }

  /** Never throws, because the callback's work is done. Answers whether the lock was held to the end. */
  async #giveBack(lock: WebLock): Promise<boolean> {
    this.#held.delete(lock);
    try {
      return await lock.unlock();
    } catch (error) {
      this.#context.report('error', { error, during: `release "${lock.name}"` });
      return true;
    }
  }
}

function checkRequest(name: unknown, given: unknown): WebLockOptions {
  // The standard reserves these names.
  if (checkName(name).startsWith('-'))
    throw new OptionError('The name of a web lock must not start with "-"');
  const options = checkOptions('webLock', given);
  const { steal, ifAvailable, signal, mode } = options;
  if (steal && ifAvailable) throw new OptionError('steal and ifAvailable cannot be combined');
  if (steal && mode === 'shared') throw new OptionError("steal requires mode 'exclusive'");
  if (signal !== undefined && (steal || ifAvailable)) {
    throw new OptionError(
      `A request with ${steal ? 'steal' : 'ifAvailable'} does not wait, so it cannot have a signal`,
    );
  }
  return options;
}

/** Reads an owner field, `<client id>:<number>` or `<client id>:<number>:write`. */
function infoOf(name: string, field: string): WebLockInfo {
  const mode = field.endsWith(':write') ? 'exclusive' : 'shared';
  return { name, mode, clientId: field.slice(0, Math.max(0, field.indexOf(':'))) };
}
