/**
 * What a client was told, complete and consistent: every option with its default, checked against the others.
 */
import { OptionError } from '../errors.ts';
import { checkOptions } from './checks.ts';

/** What a client does when it is not told otherwise. */
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

/** A lock is passed on inside a process for so long, and so often, before others get their turn. */
const PASS_ON = { maxMs: 10, maxHolds: 10_000 };

/** How long strangers wait after a failover: no shorter than any hold is relied on without a word of the server. */
const GRACE_MS = 30_000;

/** How long replicas are waited for, if the time of a command is long enough. */
const REPLICA_TIMEOUT_MS = 1_000;

export type Settings = ReturnType<typeof checkSettings>;

/**
 * Checks the options of a client, also against each other, and fills in the rest.
 *
 * @throws OptionError
 */
export function checkSettings(given: unknown) {
  const { guard, passOn: passes, ...chosen } = { ...DEFAULTS, ...checkOptions('client', given) };
  const { watchdogMs, commandTimeoutMs } = chosen;
  const isGuarded = guard !== false;
  const graceMs = typeof guard === 'object' ? guard.graceMs : GRACE_MS;
  if (isGuarded) checkGrace(watchdogMs, graceMs);
  // Cut off by the deadline of the command, the answer would be unknown instead of too few.
  const longestMs = Math.ceil(commandTimeoutMs / 2);
  const { replicaTimeoutMs = Math.min(REPLICA_TIMEOUT_MS, longestMs) } = chosen;
  if (chosen.replicaTimeoutMs !== undefined && replicaTimeoutMs >= commandTimeoutMs) {
    throw new OptionError(
      `replicaTimeoutMs (${replicaTimeoutMs}) must be shorter than commandTimeoutMs (${commandTimeoutMs})`,
    );
  }
  const passOn = passes === false ? (false as const) : { ...PASS_ON, ...(passes === true ? {} : passes) };
  return { ...chosen, passOn, replicaTimeoutMs, isGuarded, graceMs };
}

/**
 * A hold has to be confirmed at least once in every grace.
 *
 * @throws OptionError
 */
export function checkGrace(watchdogMs: number, graceMs: number): void {
  if (watchdogMs <= graceMs) return;
  throw new OptionError(
    `watchdogMs (${watchdogMs}) must not be longer than the grace of the guard (${graceMs}): a hold would be ` +
      'relied on when strangers are let in. Give guard: { graceMs }, the same for all clients',
  );
}
