/**
 * Every option, its default and its check, in one place.
 *
 * Options are refused before anything is sent to the server: an unknown name, a value out of range or of
 * the wrong type is an `OptionError` that says what would have been right.
 */
import { OptionError } from './errors.ts';

/** Reads one given value: returns it, or throws an `OptionError`. `what` names it in the message. */
type Check<T> = (value: unknown, what: string) => T;
type Checks = Record<string, Check<unknown>>;
type Checked<C extends Checks> = { [Name in keyof C]?: C[Name] extends Check<infer T> ? T : never };

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

function integer(least: number): Check<number> {
  return (value, what) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
    throw new OptionError(`${what} must be a whole number from ${least} to 2^53 - 1, not ${show(value)}`);
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

function text(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new OptionError(`${what} must be a string that is not empty, not ${show(value)}`);
}

function abortSignal(value: unknown, what: string): AbortSignal {
  if (value instanceof AbortSignal) return value;
  throw new OptionError(`${what} must be an AbortSignal, not ${show(value)}`);
}

/** Whether an owner belongs to the client is checked where owners are known. */
function anything(value: unknown): unknown {
  return value;
}

/** Accepts only the values that this version can honour; a promise it cannot keep is refused. */
function only<T>(allowed: readonly T[], hint: string): Check<T> {
  return (value, what) => {
    if (allowed.includes(value as T)) return value as T;
    throw new OptionError(`${what}: ${show(value)} is not available, ${hint}`);
  };
}

type Hook = (...given: unknown[]) => unknown;

const leaseMs = integer(1);
const waitMs = integer(0);

const ONE_SERVER = 'this version connects to one server';

const holding = { leaseMs, signal: abortSignal, maxHoldMs: integer(1) };
const CHECKS = {
  client: {
    watchdogMs: integer(100),
    commandTimeoutMs: integer(1),
    mapName: callback<(name: string) => string>,
    closeOnSignals: boolean,
    fairWaitMs: integer(1),
    replicas: only([0, 'auto'] as const, 'this version does not wait for replicas'),
    replicaTimeoutMs: integer(1),
    guard: only([false] as const, 'this version has no failover guard'),
    shardedPubSub: only(['auto', false] as const, 'this version does not speak to a Cluster'),
  },
  lock: { ...holding, owner: anything },
  tryLock: { ...holding, waitMs, owner: anything },
  withLock: {
    ...holding,
    waitMs,
    onAcquire: callback<Hook>,
    onRelease: callback<Hook>,
  },
  owned: { owner: anything },
  exponential: {
    kind: only(['exponential'] as const, "it is 'exponential' or 'constant'"),
    initialMs: integer(1),
    maxMs: integer(1),
    multiplier: positive,
  },
  constant: { kind: only(['constant'] as const, "it is 'exponential' or 'constant'"), delayMs: integer(1) },
  target: {
    url: text,
    host: text,
    port: integer(1),
    username: text,
    password: text,
    tls: anything,
    db: integer(0),
    embedded: boolean,
    sentinels: only([], ONE_SERVER),
    cluster: only([], ONE_SERVER),
    master: only([], ONE_SERVER),
    replicas: only([], ONE_SERVER),
    name: only([], ONE_SERVER),
  },
} satisfies Record<string, Checks>;

/** What a client does when it is not told otherwise. */
export const DEFAULTS = {
  watchdogMs: 30_000,
  commandTimeoutMs: 3_000,
  mapName: (name: string) => name,
  closeOnSignals: false,
} as const;

/**
 * Checks a bag of options by the table of that name. A value of `undefined` counts as left out.
 *
 * @throws OptionError
 */
export function checkOptions<Name extends keyof typeof CHECKS>(
  table: Name,
  given: unknown,
): Checked<(typeof CHECKS)[Name]> {
  if (given === undefined) return {};
  if (typeof given !== 'object' || given === null) {
    throw new OptionError(`Options must be an object, not ${show(given)}`);
  }
  const checks: Checks = CHECKS[table];
  const checked: Record<string, unknown> = {};
  for (const [option, value] of Object.entries(given)) {
    const check = Object.hasOwn(checks, option) ? checks[option] : undefined;
    if (check === undefined) {
      throw new OptionError(`Unknown option "${option}"; known here: ${Object.keys(checks).join(', ')}`);
    }
    if (value !== undefined) checked[option] = check(value, option);
  }
  return checked as Checked<(typeof CHECKS)[Name]>;
}

/**
 * Checks the name of a lock or synchronizer.
 *
 * @throws OptionError
 */
export function checkName(name: unknown): string {
  if (typeof name !== 'string' || name === '') {
    throw new OptionError(`A name must be a string that is not empty, not ${show(name)}`);
  }
  // A lone surrogate would be replaced on the wire, so that two different names became one key.
  if (!name.isWellFormed()) throw new OptionError('A name must be well-formed Unicode');
  return name;
}

/** The same check for what a function returned or a method takes directly, for example `hold.extend(leaseMs)`. */
export function checkLeaseMs(value: unknown): number {
  return leaseMs(value, 'leaseMs');
}
