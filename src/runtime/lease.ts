/**
 * How long a tenure can be relied on: for the lease that the server has confirmed, and not longer than one grace after its
 * last word, where the server may forget what it said.
 *
 * The server's lease starts when the script runs, which is after it was sent. Counting from before the send, for a little
 * less than the lease, the holder's own deadline is always the earlier of the two. Keeps times only: what follows when
 * they have passed is left to the tenure.
 */
import { LeaseLostError } from '../errors.ts';
import type { TenureProtocol } from './protocol.ts';
import type { Runtime } from './runtime.ts';

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

export class Lease {
  readonly #graceMs: number;
  /** When the lease that the server last confirmed ends there, and how long it was. */
  #leaseEndsAt = 0;
  #leaseMs = 0;
  #leaseDeadline = 0;
  /** When the last lease that the server may have given ends there, whether or not it has answered. */
  #mayEndAt = 0;
  #longestMs = 0;
  /** When somebody else may be let in for want of another word. */
  #wordEndsAt = 0;
  #wordDeadline = 0;

  /** @param graceMs for how long a word counts; infinite where it is final */
  constructor(graceMs: number, sentAt: number, leaseMs: number) {
    this.#graceMs = graceMs;
    this.confirmed(sentAt, leaseMs);
    this.relyOn(sentAt, leaseMs);
  }

  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** The longest lease that was ever asked for. */
  get longestMs(): number {
    return this.#longestMs;
  }

  get leaseEndsAt(): number {
    return this.#leaseEndsAt;
  }

  /** When the holder must have stopped. */
  get deadline(): number {
    return Math.min(this.#leaseDeadline, this.#wordDeadline);
  }

  /** When somebody else may be let in, by all that the holder knew. */
  get endsAt(): number {
    return Math.min(this.#leaseEndsAt, this.#wordEndsAt);
  }

  /** Whether the server may go on keeping it when it can be relied on no more. */
  get mayStandOn(): boolean {
    return this.#mayEndAt > this.endsAt;
  }

  /** A lease is being asked for. Should the answer be lost, the server may have given it all the same. */
  asked(sentAt: number, leaseMs: number): void {
    this.#mayEndAt = Math.max(this.#mayEndAt, sentAt + leaseMs);
    this.#longestMs = Math.max(this.#longestMs, leaseMs);
  }

  /** A lease that was asked for then is there, whether or not anybody still wants it. */
  confirmed(sentAt: number, leaseMs: number): void {
    this.asked(sentAt, leaseMs);
    this.#leaseEndsAt = Math.max(this.#leaseEndsAt, sentAt + leaseMs);
    this.#leaseMs = Math.max(this.#leaseMs, leaseMs);
  }

  /**
   * The holder goes on by what the server said to what was sent then. Within a grace the server lets nobody else in,
   * nor within the lease it was asked for; of a longer one, given by another server before, it may know nothing.
   */
  relyOn(sentAt: number, leaseMs: number): void {
    const reliableMs = Math.min(leaseMs, this.#graceMs);
    this.#leaseDeadline = Math.max(this.#leaseDeadline, deadlineOf(sentAt, leaseMs));
    this.#wordDeadline = Math.max(this.#wordDeadline, deadlineOf(sentAt, reliableMs));
    this.#wordEndsAt = Math.max(this.#wordEndsAt, sentAt + reliableMs);
  }
}

/** How a tenure begins: what was asked for, when, and as whom. */
export interface Grant {
  readonly owner: string;
  readonly sentAt: number;
  readonly leaseMs: number;
  /** The fencing number, for the locks that have one. */
  readonly token?: number | undefined;
  /** An attempt of this owner may still be on its way, and must find it barred when it comes. */
  readonly doubtful?: boolean | undefined;
}

/** The lease that a grant gives, as its holder may rely on it. */
export function leaseOf({ guarded }: TenureProtocol, { sentAt, leaseMs }: Grant): Lease {
  return new Lease(guarded?.graceMs ?? Number.POSITIVE_INFINITY, sentAt, leaseMs);
}

/**
 * Called at the last moment before a grant is handed out. Past its deadline it is none: another owner may be inside. The
 * caller then takes it back.
 *
 * @throws LeaseLostError
 */
export function assertInTime({ clock, leaseClock }: Runtime, protocol: TenureProtocol, grant: Grant): void {
  const { owner, sentAt, leaseMs } = grant;
  const { deadline } = leaseOf(protocol, grant);
  const { suspendedMs } = leaseClock;
  const now = leaseClock.now();
  if (now < deadline) return;
  if (clock.now() + suspendedMs < deadline) throw new LeaseLostError(protocol.name, owner, 'suspended');
  const [tookMs, reliableMs] = [now - sentAt, Math.max(0, deadline - sentAt)].map(Math.round);
  const why =
    `its grant came too late: the answer took ${tookMs} ms, and a lease of ${leaseMs} ms can be relied on for ` +
    `${reliableMs} ms only. The lease is too short for this link, or for a process this busy`;
  throw new LeaseLostError(protocol.name, owner, 'expired', undefined, why);
}
