/**
 * Checks every option, in one place.
 *
 * Wrong options are refused before anything is sent to the server: an unknown name, a value out of range or of the
 * wrong type is an `OptionError` that says which values are valid.
 */
import type { Topology } from '../drivers/driver.ts';
import { OptionError } from '../errors.ts';
import { sharesOneSlot } from '../keys.ts';
import {
  abortSignal,
  anything,
  boolean,
  type Check,
  callback,
  drainMs,
  guard,
  integer,
  label,
  lasting,
  only,
  passOn,
  positive,
  replicaRequirement,
  show,
  signals,
} from './value-checks.ts';

type Checks = Record<string, Check<unknown>>;
type Checked<C extends Checks> = { [Name in keyof C]?: C[Name] extends Check<infer T> ? T : never };

type Hook = (...given: unknown[]) => unknown;

const leaseMs = integer(1);
const waitMs = integer(0);
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
    replicas: replicaRequirement,
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
