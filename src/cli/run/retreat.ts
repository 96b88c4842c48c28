/**
 * When a command has to be stopped, so that it never runs beside the next holder.
 *
 * A hold tells how long it can be relied on without another renewal (`remainingMs`). That time ends at the hold's
 * deadline, which comes before the server can grant the lock to another owner: the deadline counts from before the
 * request was sent, and leaves out the drift of clocks and a notice of at least 50 ms or 5 % of the lease. While
 * renewals succeed, the time left never falls below about two thirds of the lease. When they fail, it runs down, and the
 * command is stopped backwards from the deadline:
 *
 *     remainingMs    … graceMs + reserveMs              reserveMs                 0 = deadline     end of the lease
 *     command        runs │ TERM: it can clean up …     │ KILL: the kernel ends it │ it is gone    │ the next holder
 *
 * `reserveMs` is for a late timer and for the kernel, and the notice of the lease comes on top. So grace, KILL and end of
 * the command all lie before the deadline. A hold that is lost without notice (freed by force, deleted, lost in a
 * failover) has nothing left: the lock can be another owner's already, so there is no grace.
 */
import { UsageError } from '../failure.ts';
import { lasting } from '../render/time.ts';

export interface Retreat {
  /** How long the command may take to end after TERM. */
  readonly graceMs: number;
  /** How long before the deadline KILL is sent. */
  readonly reserveMs: number;
}

const DEFAULT_GRACE_MS = 5_000;
const LONGEST_RESERVE_MS = 500;

/** What the command is to be sent now, and what is left until the next look. */
export interface Step {
  readonly signal: 'SIGTERM' | 'SIGKILL' | null;
  readonly nextMs: number;
}

/**
 * Fits the grace into a lease. TERM must not come while renewals succeed, so that both together take at most half of what
 * the hold can be relied on.
 *
 * @param reliableMs the time left of a fresh hold
 * @throws UsageError for a grace that the caller asked for and that does not fit
 */
export function planRetreat(reliableMs: number, askedMs?: number): Retreat {
  const reserveMs = Math.min(LONGEST_RESERVE_MS, reliableMs / 10);
  const longestMs = Math.max(0, Math.floor(reliableMs / 2 - reserveMs));
  if (askedMs === undefined) return { graceMs: Math.min(DEFAULT_GRACE_MS, longestMs), reserveMs };
  if (askedMs > longestMs) {
    throw new UsageError(
      `--grace ${askedMs}ms does not fit into the lease, which allows ${lasting(longestMs)}: use a longer --lease or --watchdog`,
    );
  }
  return { graceMs: askedMs, reserveMs };
}

/** @param toldMs since the command was sent TERM; undefined if it was not */
export function stepAt(
  { graceMs, reserveMs }: Retreat,
  remainingMs: number,
  toldMs: number | undefined,
): Step {
  const untilKillMs = remainingMs - reserveMs;
  // A renewal may come through after TERM. The command is ending all the same, and gets its grace and no more.
  const graceLeftMs = toldMs === undefined ? Number.POSITIVE_INFINITY : graceMs - toldMs;
  const killInMs = Math.min(untilKillMs, graceLeftMs);
  if (killInMs <= 0) return { signal: 'SIGKILL', nextMs: Number.POSITIVE_INFINITY };
  if (toldMs !== undefined) return { signal: null, nextMs: killInMs };
  const untilTermMs = untilKillMs - graceMs;
  if (untilTermMs <= 0) return { signal: 'SIGTERM', nextMs: Math.min(killInMs, graceMs) };
  return { signal: null, nextMs: untilTermMs };
}
