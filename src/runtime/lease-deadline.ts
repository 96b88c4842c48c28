/**
 * How long a holder can rely on its tenure: for the lease that the server has confirmed and, with the guard, for at
 * most one grace after the last confirmation, because the server may forget holds.
 *
 * The server's lease starts when the script runs, which is after the send. The holder counts from before the send, for
 * a little less than the lease, so its deadline always comes first. This file computes the times; `lifetime.ts` acts on
 * them.
 */

/** The clocks of two healthy machines drift apart by far less than this share of the elapsed time. */
const DRIFT = 0.01;

/** Rounding: the server counts in whole milliseconds, and so do its timers and ours. */
const ROUNDING_MS = 2;

/** The deadline comes this long before the lease ends, so that the holder can stop its work. */
function noticeMs(leaseMs: number): number {
  return Math.min(Math.max(50, leaseMs * 0.05), leaseMs / 2);
}

/** The deadline of a lease requested at `sentAt`: the moment `signal` aborts. */
export function deadlineOf(sentAt: number, leaseMs: number): number {
  if (leaseMs === Number.POSITIVE_INFINITY) return leaseMs;
  return sentAt + leaseMs * (1 - DRIFT) - ROUNDING_MS - noticeMs(leaseMs);
}

export class Lease {
  readonly #graceMs: number;
  /** When the lease that the server last confirmed ends, and its length. */
  #leaseEndsAt = 0;
  #leaseMs = 0;
  #leaseDeadline = 0;
  /** When the last lease that the server may have granted ends, whether or not it has answered. */
  #mayEndAt = 0;
  #longestMs = 0;
  /** When another owner may be let in unless a confirmation comes. */
  #confirmationEndsAt = 0;
  #confirmationDeadline = 0;

  /** @param graceMs how long a confirmation counts; infinite without the guard */
  constructor(graceMs: number, sentAt: number, leaseMs: number) {
    this.#graceMs = graceMs;
    this.confirmed(sentAt, leaseMs);
    this.relyOn(sentAt, leaseMs);
  }

  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** The longest lease ever requested. */
  get longestMs(): number {
    return this.#longestMs;
  }

  get leaseEndsAt(): number {
    return this.#leaseEndsAt;
  }

  /** When the holder must have stopped. */
  get deadline(): number {
    return Math.min(this.#leaseDeadline, this.#confirmationDeadline);
  }

  /** When another owner may be let in, as far as the holder knows. */
  get endsAt(): number {
    return Math.min(this.#leaseEndsAt, this.#confirmationEndsAt);
  }

  /** Whether the server may keep the hold after the holder can no longer rely on it. */
  get serverMayHoldLonger(): boolean {
    return this.#mayEndAt > this.endsAt;
  }

  /** A lease is being requested. If the answer is lost, the server may have granted it all the same. */
  asked(sentAt: number, leaseMs: number): void {
    this.#mayEndAt = Math.max(this.#mayEndAt, sentAt + leaseMs);
    this.#longestMs = Math.max(this.#longestMs, leaseMs);
  }

  /** The server granted the lease requested at `sentAt`, whether or not it is still wanted. */
  confirmed(sentAt: number, leaseMs: number): void {
    this.asked(sentAt, leaseMs);
    this.#leaseEndsAt = Math.max(this.#leaseEndsAt, sentAt + leaseMs);
    this.#leaseMs = Math.max(this.#leaseMs, leaseMs);
  }

  /**
   * The holder relies on the answer to the request sent at `sentAt`. The server lets no other owner in within a grace,
   * nor within the requested lease. It may not know of a longer lease that another server granted before.
   */
  relyOn(sentAt: number, leaseMs: number): void {
    const reliableMs = Math.min(leaseMs, this.#graceMs);
    this.#leaseDeadline = Math.max(this.#leaseDeadline, deadlineOf(sentAt, leaseMs));
    this.#confirmationDeadline = Math.max(this.#confirmationDeadline, deadlineOf(sentAt, reliableMs));
    this.#confirmationEndsAt = Math.max(this.#confirmationEndsAt, sentAt + reliableMs);
  }
}
