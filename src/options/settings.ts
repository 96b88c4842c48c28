/**
 * The settings of a client: its options with all defaults filled in, checked against each other.
 */
import { hostname } from 'node:os';
import { OptionError } from '../errors.ts';
import { checkOptions } from './checks.ts';

/** The defaults of the client options. */
const DEFAULTS = {
  watchdogMs: 30_000,
  commandTimeoutMs: 3_000,
  fairWaitMs: 300_000,
  mapName: (name: string) => name,
  closeOnSignals: false,
  shardedPubSub: 'auto',
  replicas: 'auto',
  guard: false,
  passOn: true,
} as const;

/** How long, and for how many holds, a process passes a lock on before other processes get their turn. */
const PASS_ON = { maxMs: 10, maxHolds: 10_000 };

/** How long new owners wait after a failover: no shorter than a holder relies on a hold that is not confirmed. */
const GRACE_MS = 30_000;

/** How long to wait for replicas, if `commandTimeoutMs` is long enough. */
const REPLICA_TIMEOUT_MS = 1_000;

export type Settings = ReturnType<typeof checkSettings>;

/**
 * Checks the options of a client, also against each other, and fills in the defaults.
 *
 * @throws OptionError
 */
export function checkSettings(given: unknown) {
  const { guard, passOn: passes, ...chosen } = { ...DEFAULTS, ...checkOptions('client', given) };
  const { watchdogMs, commandTimeoutMs } = chosen;
  const isGuarded = guard !== false;
  const graceMs = typeof guard === 'object' ? guard.graceMs : GRACE_MS;
  if (isGuarded) checkGrace(watchdogMs, graceMs);
  // If the command timed out first, the outcome would be unknown instead of "too few replicas".
  const longestMs = Math.ceil(commandTimeoutMs / 2);
  const { replicaTimeoutMs = Math.min(REPLICA_TIMEOUT_MS, longestMs) } = chosen;
  if (chosen.replicaTimeoutMs !== undefined && replicaTimeoutMs >= commandTimeoutMs) {
    throw new OptionError(
      `replicaTimeoutMs (${replicaTimeoutMs}) must be shorter than commandTimeoutMs (${commandTimeoutMs})`,
    );
  }
  const passOn = passes === false ? (false as const) : { ...PASS_ON, ...(passes === true ? {} : passes) };
  const { label = `${hostname()}:${process.pid}` } = chosen;
  return { ...chosen, passOn, replicaTimeoutMs, isGuarded, graceMs, label };
}

/**
 * Checks that every hold is confirmed at least once in every grace.
 *
 * @throws OptionError
 */
export function checkGrace(watchdogMs: number, graceMs: number): void {
  if (watchdogMs <= graceMs) return;
  throw new OptionError(
    `watchdogMs (${watchdogMs}) must not be longer than the grace of the guard (${graceMs}): other owners could ` +
      'get the lock during a hold. Set guard: { graceMs } to the same value in all clients',
  );
}
