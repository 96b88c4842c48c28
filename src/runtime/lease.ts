/**
 * How long a holder may believe a lease, and when it must be told.
 *
 * The server's lease starts when the script runs, which is after it was sent. Counting from before the
 * send, for a little less than the lease, the holder's own deadline is always the earlier of the two.
 */

/** Two clocks of good machines drift apart by far less than this share of the time that passes. */
const DRIFT = 0.01;

/** Rounding: the server counts in whole milliseconds, and so do its timers and ours. */
const ROUNDING_MS = 2;

/** The holder hears of it this much before its deadline, so that it can stop what it is doing. */
function noticeMs(leaseMs: number): number {
  return Math.min(Math.max(50, leaseMs * 0.05), leaseMs / 2);
}

/** When a lease that was asked for at `sentAt` counts as over: the moment `signal` aborts. */
export function deadlineOf(sentAt: number, leaseMs: number): number {
  if (leaseMs === Number.POSITIVE_INFINITY) return leaseMs;
  return sentAt + leaseMs * (1 - DRIFT) - ROUNDING_MS - noticeMs(leaseMs);
}
