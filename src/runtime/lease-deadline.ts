/**
 * How long a holder can rely on its tenure, and what happens when that time is over: `Lease` computes the deadline,
 * `Lifetime` tells the holder of the loss when it passes. The subclass `Tenure` keeps the entries.
 *
 * The server's lease starts when the script runs, which is after the send. The holder counts from before the send, for
 * a little less than the lease, so its deadline always comes first. With the guard, the holder relies on the lease for
 * at most one grace after the last confirmation, because the server may forget holds.
 */
import type { CancelTimer } from '../clock.ts';
import { LeaseLostError, type LossReason } from '../errors.ts';
import type { TenureProtocol } from './protocol.ts';
import type { Runtime } from './runtime.ts';
import { leaveTombstone } from './tombstone.ts';

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
  /** When the last lease that the server may have granted ends, whether or not it has answered. */
  #mayEndAt = 0;
  #longestMs = 0;
  /** When another owner may be let in unless a confirmation comes, and when the holder must have stopped. */
  #endsAt = 0;
  #deadline = 0;

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
    return this.#deadline;
  }

  /** When another owner may be let in, as far as the holder knows. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** Whether the server may keep the hold after the holder can no longer rely on it. */
  get serverMayHoldLonger(): boolean {
    return this.#mayEndAt > this.#endsAt;
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
    this.#endsAt = Math.max(this.#endsAt, sentAt + reliableMs);
    this.#deadline = Math.max(this.#deadline, deadlineOf(sentAt, reliableMs));
  }
}

/** How a tenure begins: its owner, its lease, and when it was requested. */
export interface Grant {
  readonly owner: string;
  readonly sentAt: number;
  readonly leaseMs: number;
  /** The fencing token, for the locks that have one. */
  readonly token?: number | undefined;
  /** An attempt of this owner may still be on its way, and must find a tombstone when it arrives. */
  readonly doubtful?: boolean | undefined;
}

/**
 * Called at the last moment before a grant is handed out. A grant past its deadline does not count: another owner may
 * hold the lock. The caller then undoes the grant.
 *
 * @throws LeaseLostError
 */
export function assertInTime({ clock, leaseClock }: Runtime, protocol: TenureProtocol, grant: Grant): void {
  const { owner, sentAt, leaseMs } = grant;
  const deadline = deadlineOf(sentAt, Math.min(leaseMs, protocol.guarded?.graceMs ?? leaseMs));
  const { suspendedMs } = leaseClock;
  const now = leaseClock.now();
  if (now < deadline) return;
  if (clock.now() + suspendedMs < deadline) throw new LeaseLostError(protocol.name, owner, 'suspended');
  const [tookMs, reliableMs] = [now - sentAt, Math.max(0, deadline - sentAt)].map(Math.round);
  const why =
    `its grant came too late: the answer took ${tookMs} ms, and a lease of ${leaseMs} ms is reliable for only ` +
    `${reliableMs} ms. Use a longer lease, or reduce the load on this process or its network`;
  throw new LeaseLostError(protocol.name, owner, 'expired', undefined, why);
}

/** An entry of a tenure: the basis of the user's hold. */
export interface Entry {
  /** Taken without an explicit lease: the watchdog keeps the tenure alive while this entry lasts. */
  readonly renewed: boolean;
  /** It needs nothing special: on leaving, it may pass the tenure to the next waiter of this process. */
  readonly canPassOn?: boolean;
  /** Called once when the tenure is lost while this entry lasts. */
  onLost(error: LeaseLostError): void;
}

/** A lost tenure stays lost, whatever the server says later. */
export abstract class Lifetime {
  readonly protocol: TenureProtocol;
  readonly owner: string;
  readonly token: number | undefined;
  protected readonly runtime: Runtime;
  protected readonly lease: Lease;
  protected state: 'held' | 'lost' | 'over' = 'held';
  #lost: LeaseLostError | undefined;
  /** The suspended time in the lease clock when the deadline was last set. */
  #suspendedMs: number;
  #cancelDeadline: CancelTimer | undefined;
  /** The last renewal failed; if the deadline passes now, that is the cause. */
  renewalFailing = false;

  constructor(runtime: Runtime, protocol: TenureProtocol, grant: Grant) {
    this.runtime = runtime;
    this.protocol = protocol;
    this.owner = grant.owner;
    this.token = grant.token;
    const graceMs = protocol.guarded?.graceMs ?? Number.POSITIVE_INFINITY;
    this.lease = new Lease(graceMs, grant.sentAt, grant.leaseMs);
    this.#suspendedMs = runtime.leaseClock.suspendedMs;
  }

  /** Whether the watchdog renews the tenure. */
  abstract get isRenewed(): boolean;
  /** Renewals failed, or the server has not answered the one under way. */
  protected abstract get isRenewalOverdue(): boolean;
  /** Tells every entry of the loss. */
  protected abstract tellLost(error: LeaseLostError): void;

  /** Milliseconds left of the lease that the server last confirmed; at least 1. */
  get leaseLeftMs(): number {
    return Math.max(1, Math.ceil(this.lease.leaseEndsAt - this.runtime.leaseClock.now()));
  }

  /** When the holder must stop relying on it. */
  get deadline(): number {
    return this.lease.deadline;
  }

  get isHeld(): boolean {
    return this.state === 'held';
  }

  /** Milliseconds until the holder must stop relying on it; 0 once lost or released. */
  get remainingMs(): number {
    if (this.state !== 'held') return 0;
    return Math.max(0, this.deadline - this.runtime.leaseClock.now());
  }

  /** @throws LeaseLostError when it is lost, even if no timer has fired yet because the process slept */
  assertHeld(): void {
    this.checkDeadline();
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** A lease is being requested. Call this before the send. */
  asked(sentAt: number, leaseMs: number): void {
    this.lease.asked(sentAt, leaseMs);
  }

  /** The server has confirmed a lease requested at `sentAt`. */
  prolonged(sentAt: number, leaseMs: number): void {
    this.lease.confirmed(sentAt, leaseMs);
    if (this.checkDeadline()) {
      this.lease.relyOn(sentAt, leaseMs);
      this.#suspendedMs = this.runtime.leaseClock.suspendedMs;
      this.renewalFailing = false;
    } else if (this.state === 'lost') {
      // Too late: the holder knows of the loss and will not release what the server just prolonged.
      this.releaseInBackground();
    }
  }

  /** Marks the tenure as lost, and tells every entry. */
  lose(reason: LossReason): void {
    if (this.state !== 'held') return;
    this.state = 'lost';
    this.stopTimers();
    const { kind, name } = this.protocol;
    this.#lost = new LeaseLostError(name, this.owner, reason);
    this.tellLost(this.#lost);
    this.runtime.report('lost', { kind, name, owner: this.owner, reason });
    this.runtime.lines.wake(this.protocol.line);
    const isOnlyUnheard = (reason === 'expired' || reason === 'suspended') && this.lease.serverMayHoldLonger;
    if (reason === 'unreachable' || isOnlyUnheard || this.protocol.outlivesLease) {
      // A request without a reply may have prolonged the hold, or may still do so; or others keep its key alive; or its
      // lease goes on. Wait until the lease that the holder knew of is over: until then the holder may be stopping.
      const leftMs = this.lease.endsAt - this.runtime.leaseClock.now();
      this.runtime.clock.inBackground(Math.max(0, leftMs), () => this.releaseInBackground());
    }
  }

  /** Checks the clock: a tenure past its deadline is lost at once. Returns whether it is held. */
  checkDeadline(now: number = this.runtime.leaseClock.now()): boolean {
    if (this.state !== 'held') return false;
    const { deadline } = this;
    if (now < deadline) return true;
    const awakeAt = this.runtime.clock.now() + this.#suspendedMs;
    if (awakeAt < deadline) this.lose('suspended');
    else this.lose(this.isRenewalOverdue ? 'unreachable' : 'expired');
    return false;
  }

  /**
   * Sets a timer for the deadline. While the server answers renewals there is none: they come long before the deadline.
   */
  armDeadlineTimer(): void {
    if (this.state !== 'held' || this.#cancelDeadline !== undefined) return;
    const leftMs = this.deadline - this.runtime.leaseClock.sendTime();
    this.#cancelDeadline = this.runtime.clock.inBackground(Math.max(0, leftMs), () => {
      this.#cancelDeadline = undefined;
      // A renewal may have moved the deadline meanwhile.
      if (this.checkDeadline() && (!this.isRenewed || this.isRenewalOverdue)) this.armDeadlineTimer();
    });
  }

  /** The machine slept: a timer that was set before would fire too late by as much. */
  awoke(now: number): void {
    if (!this.checkDeadline(now)) return;
    this.#cancelDeadline?.();
    this.#cancelDeadline = undefined;
    this.armDeadlineTimer();
  }

  protected stopTimers(): void {
    this.#cancelDeadline?.();
  }

  protected releaseInBackground(): void {
    leaveTombstone(this.runtime, this.protocol, this.owner, this.lease.longestMs);
  }
}
