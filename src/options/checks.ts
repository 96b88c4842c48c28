/**
 * Checks every option, in one place.
 *
 * Wrong options are refused before anything is sent to the server: an unknown name, a value out of range or of the
 * wrong type is an `OptionError` that says which values are valid.
 */
import type { Topology } from '../drivers/driver.ts';
import { OptionError } from '../errors.ts';
import { sharesOneSlot } from '../keys.ts';

/** Checks one value: returns it, or throws an `OptionError`. `what` names the value in the message. */
export type Check<T> = (value: unknown, what: string) => T;
type Checks = Record<string, Check<unknown>>;
type Checked<C extends Checks> = { [Name in keyof C]?: C[Name] extends Check<infer T> ? T : never };

export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): Check<number> {
  const upTo = most === Number.MAX_SAFE_INTEGER ? '2^53 - 1' : most;
  return (value, what) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most)
      return value;
    throw new OptionError(`${what} must be a whole number from ${least} to ${upTo}, not ${show(value)}`);
  };
}

/** A time, or `Infinity` for one without an end. */
function lasting(least: number): Check<number> {
  return (value, what) => {
    if (value === Number.POSITIVE_INFINITY) return value;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
    const wanted = `a whole number from ${least} to 2^53 - 1 or Infinity`;
    throw new OptionError(`${what} must be ${wanted}, not ${show(value)}`);
  };
}

function positive(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  throw new OptionError(`${what} must be a number above 0, not ${show(value)}`);
}

function boolean(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value;
  throw new OptionError(`${what} must be true or false, not ${show(value)}`);
}

function callback<F>(value: unknown, what: string): F {
  if (typeof value === 'function') return value as F;
  throw new OptionError(`${what} must be a function, not ${show(value)}`);
}

export function text(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new OptionError(`${what} must be a non-empty string, not ${show(value)}`);
}

/** Control characters, line separators and lone surrogates would garble logs and listings. */
function label(value: unknown, what: string): string {
  if (typeof value === 'string' && /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u.test(value)) return value;
  throw new OptionError(`${what} must be a string of 1 to 200 printable characters, not ${show(value)}`);
}

function abortSignal(value: unknown, what: string): AbortSignal {
  if (value instanceof AbortSignal) return value;
  throw new OptionError(`${what} must be an AbortSignal, not ${show(value)}`);
}

/** For values checked elsewhere: whether an owner belongs to the client, which back-off a spin lock can use. */
function anything(value: unknown): unknown {
  return value;
}

function replicaWish(value: unknown, what: string): number | 'auto' | 'majority' {
  if (value === 'auto' || value === 'majority') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new OptionError(
    `${what} must be 'auto', 'majority' or a whole number of at least 0, not ${show(value)}`,
  );
}

/** On, off, or on with a given grace. */
function guard(value: unknown, what: string): boolean | { readonly graceMs: number } {
  if (typeof value === 'boolean') return value;
  const { graceMs, ...others } = Object(value);
  if (typeof value !== 'object' || value === null || Object.keys(others).length > 0) {
    throw new OptionError(`${what} must be true, false or { graceMs }, not ${show(value)}`);
  }
  return { graceMs: integer(100)(graceMs, `${what}.graceMs`) };
}

/** On, off, or on with time for what is held. */
function signals(value: unknown, what: string): boolean | { readonly drainMs: number } {
  if (typeof value === 'boolean') return value;
  const { drainMs: time, ...others } = Object(value);
  if (typeof value !== 'object' || value === null || Object.keys(others).length > 0) {
    throw new OptionError(`${what} must be true, false or { drainMs }, not ${show(value)}`);
  }
  return { drainMs: drainMs(time, `${what}.drainMs`) };
}

/** On, off, or on within given limits. */
function passOn(value: unknown, what: string): boolean | { maxMs?: number; maxHolds?: number } {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) {
    throw new OptionError(`${what} must be true, false or { maxMs, maxHolds }, not ${show(value)}`);
  }
  const { maxMs, maxHolds, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0) {
    throw new OptionError(`${what} must be true, false or { maxMs, maxHolds }, not ${show(value)}`);
  }
  return {
    ...(maxMs !== undefined && { maxMs: integer(1)(maxMs, `${what}.maxMs`) }),
    ...(maxHolds !== undefined && { maxHolds: integer(1)(maxHolds, `${what}.maxHolds`) }),
  };
}

/** Accepts only the values that this version supports. */
export function only<T>(allowed: readonly T[], expected: string): Check<T> {
  return (value, what) => {
    if (allowed.includes(value as T)) return value as T;
    throw new OptionError(`${what} must be ${expected}, not ${show(value)}`);
  };
}

type Hook = (...given: unknown[]) => unknown;

const leaseMs = integer(1);
const waitMs = integer(0);
const drainMs = lasting(0);
/** The lease of a permit, which may have no expiry. */
const permitLeaseMs = lasting(1);

const holding = { leaseMs, signal: abortSignal, maxHoldMs: integer(1) };
const CHECKS = {
  client: {
    watchdogMs: integer(100),
    commandTimeoutMs: integer(1),
    mapName: callback<(name: string) => string>,
    closeOnSignals: signals,
    fairWaitMs: integer(1),
    replicas: replicaWish,
    replicaTimeoutMs: integer(1),
    guard,
    passOn,
    shardedPubSub: only(['auto', false] as const, "'auto' or false"),
    label,
    warnHeldMs: integer(1),
    warnWaitMs: integer(1),
  },
  close: { drainMs },
  lock: { ...holding, owner: anything },
  tryLock: { ...holding, waitMs, owner: anything },
  withLock: {
    ...holding,
    waitMs,
    onAcquire: callback<Hook>,
    onRelease: callback<Hook>,
  },
  owned: { owner: anything },
  inspect: {
    as: only(['semaphore', 'permitSemaphore', 'latch'] as const, "'semaphore', 'permitSemaphore' or 'latch'"),
  },
  list: { counters: boolean },
  lockKind: { guard: boolean },
  spinLock: { guard: boolean, backoff: anything },
  readWriteLock: { guard: boolean, prefer: only(['writer'] as const, "'writer' or left out") },
  webLock: {
    mode: only(['exclusive', 'shared'] as const, "'exclusive' or 'shared'"),
    ifAvailable: boolean,
    steal: boolean,
    signal: abortSignal,
  },
  // Redisson reads a number of permits as a Java `int`.
  semaphore: { permits: integer(0, 2 ** 31 - 1) },
  setPermits: { ttlMs: integer(1) },
  acquirePermits: { signal: abortSignal },
  tryAcquirePermits: { waitMs, signal: abortSignal },
  withPermit: { permits: integer(1), waitMs, signal: abortSignal },
  takePermit: { leaseMs: permitLeaseMs, signal: abortSignal },
  tryTakePermit: { waitMs, leaseMs: permitLeaseMs, signal: abortSignal },
  withExpirablePermit: { waitMs, leaseMs, signal: abortSignal },
  awaitLatch: { waitMs, signal: abortSignal },
  rate: {
    mode: only(['overall', 'perClient'] as const, "'overall' or 'perClient'"),
    rate: integer(1),
    intervalMs: integer(1),
    keepAliveMs: integer(0),
  },
  fencedLock: { guard: boolean, tokenRetentionMs: integer(60_000) },
  exponential: {
    kind: only(['exponential'] as const, "'exponential' or 'constant'"),
    initialMs: integer(1),
    maxMs: integer(1),
    multiplier: positive,
  },
  constant: { kind: only(['constant'] as const, "'exponential' or 'constant'"), delayMs: integer(1) },
} satisfies Record<string, Checks>;

/**
 * Checks an options object against the table of that name. A value of `undefined` counts as left out.
 *
 * @throws OptionError
 */
export function checkOptions<Name extends keyof typeof CHECKS>(
  table: Name,
  given: unknown,
): Checked<(typeof CHECKS)[Name]> {
  if (table === 'lock' && Object.hasOwn(Object(given), 'waitMs')) {
    throw new OptionError('lock() waits without a limit: use tryLock({ waitMs }) to limit the wait');
  }
  return checkBy(CHECKS[table] as (typeof CHECKS)[Name], given);
}

/**
 * Checks an options object against these checks. A value of `undefined` counts as left out.
 *
 * @throws OptionError
 */
export function checkBy<C extends Checks>(checks: C, given: unknown): Checked<C> {
  if (given === undefined) return {};
  if (typeof given !== 'object' || given === null) {
    throw new OptionError(`Options must be an object, not ${show(given)}`);
  }
  const checked: Record<string, unknown> = {};
  for (const [option, value] of Object.entries(given)) {
    const check: Check<unknown> | undefined = Object.hasOwn(checks, option) ? checks[option] : undefined;
    if (check === undefined) {
      throw new OptionError(
        `Unknown option "${option}"; the options here are ${Object.keys(checks).join(', ')}`,
      );
    }
    if (value !== undefined) checked[option] = check(value, option);
  }
  return checked as Checked<C>;
}

/**
 * Checks the name of a lock or synchronizer.
 *
 * @throws OptionError
 */
export function checkName(name: unknown): string {
  if (typeof name !== 'string' || name === '') {
    throw new OptionError(`A name must be a non-empty string, not ${show(name)}`);
  }
  // The encoding would replace a lone surrogate, and two different names would become one key.
  if (!name.isWellFormed()) throw new OptionError('A name must be well-formed Unicode');
  return name;
}

/**
 * Checks a list of names: at least one.
 *
 * @throws OptionError
 */
export function checkNames(names: unknown): string[] {
  if (!Array.isArray(names)) throw new OptionError(`The names must be an array, not ${show(names)}`);
  if (names.length === 0) throw new OptionError('There must be at least one name');
  return Array.from(names, checkName);
}

/**
 * In a Cluster, refuses a key whose derived keys would be in other slots: no script could reach all of them.
 *
 * @throws OptionError
 */
export function checkSlots(key: string, topology: Topology): string {
  if (topology !== 'cluster' || sharesOneSlot(key)) return key;
  throw new OptionError(
    `The name ${show(key)} cannot be used in a Cluster: its braces are not a hash tag, so the keys that ` +
      `Redisson's rules derive from it are in different slots. Use no braces, or a non-empty pair: {orders}:42`,
  );
}

/** Checks a fencing token. */
export function checkToken(value: unknown): number {
  return integer(1)(value, 'token');
}

/** Checks a value that is stored as text. */
export function checkValue(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new OptionError(`The value must be a string, not ${show(value)}`);
}

/** Checks a lease that a function returned or a method takes directly, for example `hold.extend(leaseMs)`. */
export function checkLeaseMs(value: unknown): number {
  return leaseMs(value, 'leaseMs');
}

/** Checks the lease of a permit, which may be `Infinity`. */
export function checkPermitLeaseMs(value: unknown): number {
  return permitLeaseMs(value, 'leaseMs');
}

/**
 * Checks the id of a permit.
 *
 * @throws OptionError
 */
export function checkPermitId(value: unknown): string {
  if (typeof value === 'string' && /^[0-9a-f]{32}$/.test(value)) return value;
  throw new OptionError(`The id of a permit must have 32 lower-case hex digits, not be ${show(value)}`);
}

/**
 * Checks a number that a method takes directly, such as a number of permits.
 *
 * @throws OptionError
 */
export function checkCount(
  value: unknown,
  what: string,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  return integer(least, most)(value, what);
}
