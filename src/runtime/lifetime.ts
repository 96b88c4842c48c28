/**
 * How long a tenure lasts: its lease, its deadline by the monotonic clock, and its loss. Once lost it stays lost, whatever
 * the server says later. Who entered it, and how often, is left to the tenure.
 */
import type { CancelTimer } from '../clock.ts';
import { LeaseLostError, type LossReason } from '../errors.ts';
import { type Grant, type Lease, leaseOf } from './lease.ts';
import type { TenureProtocol } from './protocol.ts';
import type { Runtime } from './runtime.ts';
import { leaveTombstone } from './tombstone.ts';

export abstract class Lifetime {
  readonly protocol: TenureProtocol;
  readonly owner: string;
  readonly token: number | undefined;
  protected readonly runtime: Runtime;
  protected readonly lease: Lease;
  protected state: 'held' | 'lost' | 'over' = 'held';
  #lost: LeaseLostError | undefined;
  /** What the lease clock had added for suspended time when the deadline was last set. */
  #suspendedMs: number;
  #cancelDeadline: CancelTimer | undefined;
  /** The last renewal failed; a deadline that passes now passes because of that. */
  renewalFailing = false;

  constructor(runtime: Runtime, protocol: TenureProtocol, grant: Grant) {
    this.runtime = runtime;
    this.protocol = protocol;
    this.owner = grant.owner;
    this.token = grant.token;
    this.lease = leaseOf(protocol, grant);
    this.#suspendedMs = runtime.leaseClock.suspendedMs;
  }

  /** Whether the watchdog gives it new leases. */
  abstract get isRenewed(): boolean;
  /** Renewals failed, or the one that is under way has not been answered. */
  protected abstract get isRenewalOverdue(): boolean;
  /** Tells everybody who relies on it. */
  protected abstract tellLost(error: LeaseLostError): void;

  /** Milliseconds that the server still owes it, by the lease that was last confirmed; at least 1. */
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

  /** @throws LeaseLostError when it is lost, also when nothing has noticed yet because the process slept */
  assertHeld(): void {
    this.checkDeadline();
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** A lease is being asked for: to be called before it is sent. */
  asked(sentAt: number, leaseMs: number): void {
    this.lease.asked(sentAt, leaseMs);
  }

  /** A lease that was asked for at `sentAt` has been confirmed. */
  prolonged(sentAt: number, leaseMs: number): void {
    this.lease.confirmed(sentAt, leaseMs);
    if (this.checkDeadline()) {
      this.lease.relyOn(sentAt, leaseMs);
      this.#suspendedMs = this.runtime.leaseClock.suspendedMs;
      this.renewalFailing = false;
    } else if (this.state === 'lost') {
      // Too late: the holder has been told. Nobody would release what the server just prolonged.
      this.releaseInBackground();
    }
  }

  /** Ends the tenure without its holder's doing, and tells every entry. */
  lose(reason: LossReason): void {
    if (this.state !== 'held') return;
    this.state = 'lost';
    this.stopTimers();
    this.#lost = new LeaseLostError(this.protocol.name, this.owner, reason);
    this.tellLost(this.#lost);
    this.runtime.report('lost', { name: this.protocol.name, owner: this.owner, reason });
    this.runtime.look(this.protocol.line);
    const isOnlyUnheard = (reason === 'expired' || reason === 'suspended') && this.lease.mayStandOn;
    if (reason === 'unreachable' || isOnlyUnheard || this.protocol.outlivesLease) {
      // A request whose reply never came may have prolonged it, or may do so yet; or others keep its key alive; or its
      // lease goes on. Not before that is over which the holder knew of: until then it may still be busy stopping.
      const leftMs = this.lease.endsAt - this.runtime.leaseClock.now();
      this.runtime.clock.inBackground(Math.max(0, leftMs), () => this.releaseInBackground());
    }
  }

  /** Whether it is held, after a look at the clock: past its deadline it is lost here and now. */
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
   * Has a timer of its own tell that the deadline has passed. While renewals are answered there is none: they come long
   * before it.
   */
  mindDeadline(): void {
    if (this.state !== 'held' || this.#cancelDeadline !== undefined) return;
    const leftMs = this.deadline - this.runtime.leaseClock.sendTime();
    this.#cancelDeadline = this.runtime.clock.inBackground(Math.max(0, leftMs), () => {
      this.#cancelDeadline = undefined;
      // A renewal may have moved the deadline meanwhile.
      if (this.checkDeadline() && (!this.isRenewed || this.isRenewalOverdue)) this.mindDeadline();
    });
  }

  /** The machine slept, and a timer that was set before would come too late by as much. */
  awoke(now: number): void {
    if (!this.checkDeadline(now)) return;
    this.#cancelDeadline?.();
    this.#cancelDeadline = undefined;
    this.mindDeadline();
  }

  protected stopTimers(): void {
    this.#cancelDeadline?.();
  }

  protected releaseInBackground(): void {
    leaveTombstone(this.runtime, this.protocol, this.owner, this.lease.longestMs);
  }
}
