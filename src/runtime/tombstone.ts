/**
 * Makes sure, in the background, that an abandoned owner holds nothing and never will.
 *
 * The release undoes what the owner may have taken. Its tombstone on the server refuses the owner's
 * acquisitions that are still on their way. One that arrives even later ends with its lease.
 */
import type { LockProtocol, TenureProtocol } from './protocol.ts';
import type { Runtime } from './runtime.ts';

/** Commands of a broken connection arrive within seconds or not at all; this is on the safe side. */
export const LATE_MS = 60_000;

/** How long to bar an owner whose commands may still be on their way: at least the lease they could take. */
export function tombstoneMs(leaseMs: number): number {
  return Math.min(leaseMs + LATE_MS, Number.MAX_SAFE_INTEGER);
}

export function leaveTombstone(
  runtime: Runtime,
  protocol: TenureProtocol,
  owner: string,
  leaseMs: number,
): void {
  runtime.backgroundRetry.repeatUntilAnswered(`release "${protocol.name}"`, leaseMs, () =>
    protocol.end(owner, tombstoneMs(leaseMs)),
  );
}

/** Removes an owner that gave up, and whose attempts are all answered, from the server's queue. */
export function withdraw(runtime: Runtime, protocol: LockProtocol, owner: string): void {
  if (protocol.waitNoteMs === undefined) return;
  runtime.backgroundRetry.repeatUntilAnswered(
    `leave the queue of "${protocol.name}"`,
    protocol.waitNoteMs,
    () => protocol.end(owner, runtime.rememberMs),
  );
}
