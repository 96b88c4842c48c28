/**
 * Keeps holds alive while their process lives: one timer, renewals in batches.
 *
 * Every tenure is renewed at a third of the lease, together with others of its slot. A batch that fails is
 * repeated with short pauses until its tenures are renewed, released or past their deadlines; batches do not
 * wait for each other. Each tenure keeps its own deadline. The same timer notices when the event loop was
 * blocked or the machine slept.
 */

import { tracesRenewals } from '../channels.ts';
import type { CancelTimer } from '../clock.ts';
import { LinkedList } from '../linked-list.ts';
import { classify, isSlotMoving, unanswered } from '../outcome.ts';
import { traceRenewal } from '../tracing.ts';
import { Backoff } from './backoff.ts';
import type { Renew } from './protocol.ts';
import type { Runtime } from './runtime.ts';
import type { Tenure } from './tenure.ts';

/** Locks for each renewal script, as many as in Redisson. */
const BATCH = 100;

/** Renewals sent in one turn, so that thousands of them do not hold up the rest of the process. */
const SLICE = 5 * BATCH;

/** The timer runs at least this often while a tenure is held, to notice on waking that the machine slept. */
const PULSE_MS = 1_000;

/** A timer this late means that the event loop was blocked. */
const STALL_MS = 500;

export class Watchdog {
  readonly #runtime: Runtime;
  readonly #leaseMs: number;
  /** Tenures to renew. All wait equally long, so the list is in order of due time. */
  #due = new LinkedList<Tenure>();
  /** Being renewed; out of the list until the renewal has settled. */
  readonly #renewing = new Set<Tenure>();
  #cancelTick: CancelTimer | undefined;
  /** Suspended time at the last tick; other code may have read the clock since. */
  #suspendedMs = 0;
  /** When the armed timer should fire. */
  #tickAt = 0;

  constructor(runtime: Runtime, leaseMs: number) {
    this.#runtime = runtime;
    this.#leaseMs = leaseMs;
  }

  get #periodMs(): number {
    return this.#leaseMs / 3;
  }

  /** A tenure is held: the timer runs from here on until none is. */
  attend(): void {
    if (this.#cancelTick !== undefined) return;
    this.#arm();
    this.#runtime.whileHolding();
  }

  /**
   * Starts renewing the tenure, if that has not begun.
   *
   * @param now by the lease clock, not later than the present
   */
  watch(tenure: Tenure, now: number = this.#runtime.leaseClock.sendTime()): void {
    if (tenure.renewalPlace?.isLinked || this.#renewing.has(tenure)) return;
    const { leaseClock } = this.#runtime;
    if (tenure.isRenewed && tenure.deadline - now <= this.#periodMs) {
      // The server's last answer took so long that the deadline would come before the next renewal.
      this.#renewing.add(tenure);
      void this.#renew(tenure.protocol.renew, [tenure]);
      return;
    }
    this.#add(tenure, now - leaseClock.suspendedMs + this.#periodMs);
    // The pulse may be slower than the renewals of a short lease.
    if (tenure.renewalDueAt < this.#tickAt) this.#arm();
  }

  /** Whether a renewal of the tenure is under way and unanswered. */
  isRenewing(tenure: Tenure): boolean {
    return this.#renewing.has(tenure);
  }

  unwatch(tenure: Tenure): void {
    if (tenure.renewalPlace !== undefined) this.#due.remove(tenure.renewalPlace);
    this.#renewing.delete(tenure);
  }

  /** Another server is in charge: confirms or reclaims every hold there now, also those with an explicit lease. */
  confirmAll(): void {
    const now = this.#runtime.clock.now();
    for (const tenure of this.#runtime.tenures) {
      if (tenure.renewalPlace !== undefined) this.#due.remove(tenure.renewalPlace);
      if (tenure.count > 0 && !this.#renewing.has(tenure)) this.#add(tenure, now);
    }
    if (!this.#due.isEmpty) this.#arm();
  }

  close(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
    this.#due = new LinkedList();
    this.#renewing.clear();
  }

  #add(tenure: Tenure, dueAt: number): void {
    tenure.renewalDueAt = dueAt;
    tenure.renewalPlace = this.#due.add(tenure);
  }

  #arm(): void {
    const now = this.#runtime.clock.now();
    const nextDueAt = this.#due.first?.renewalDueAt ?? Number.POSITIVE_INFINITY;
    const delayMs = Math.min(Math.max(0, nextDueAt - now), PULSE_MS);
    this.#cancelTick?.();
    this.#tickAt = now + delayMs;
    this.#cancelTick = this.#runtime.clock.inBackground(delayMs, () => this.#tick());
  }

  #tick(): void {
    const { clock, leaseClock, report, tenures } = this.#runtime;
    const lateMs = clock.now() - this.#tickAt;
    const leaseNow = leaseClock.now();
    if (lateMs > STALL_MS) report('stalled', { lateMs: Math.round(lateMs) });
    if (leaseClock.suspendedMs !== this.#suspendedMs) {
      // Timers stand still while the machine sleeps, leases on the server do not.
      this.#suspendedMs = leaseClock.suspendedMs;
      for (const tenure of [...tenures]) tenure.awoke(leaseNow);
      for (const tenure of this.#due) tenure.renewalDueAt = clock.now();
    }
    this.#renewDue(leaseNow);
    this.#cancelTick = undefined;
    if (tenures.isEmpty) return;
    this.#arm();
    this.#runtime.whileHolding();
  }

  /** Takes a little more than is due, so that holds taken one after another end up in one batch. */
  #renewDue(leaseNow: number): void {
    const dueBy = this.#runtime.clock.now() + this.#periodMs / 10;
    const batches = new Map<Renew, Map<number, Tenure[]>>();
    const leased: Tenure[] = [];
    let taken = 0;
    for (const tenure of this.#due) {
      // The rest follows at once, in the next turn.
      if (tenure.renewalDueAt > dueBy || taken === SLICE) break;
      taken += 1;
      // After a blocked event loop this may run before the tenure's own timer: a late tenure is lost.
      if (!tenure.checkDeadline(leaseNow)) continue;
      if (tenure.renewalPlace !== undefined) this.#due.remove(tenure.renewalPlace);
      this.#renewing.add(tenure);
      if (!tenure.isRenewed) {
        leased.push(tenure);
        continue;
      }
      const { renew, key } = tenure.protocol;
      const bySlot = batches.get(renew) ?? new Map<number, Tenure[]>();
      batches.set(renew, bySlot);
      const slot = this.#runtime.slotOf(key);
      const together = bySlot.get(slot);
      if (together === undefined) bySlot.set(slot, [tenure]);
      else together.push(tenure);
    }
    // All are sent in this turn, so that those for one server travel together, and none waits for another.
    for (const [renew, bySlot] of batches) {
      for (const due of bySlot.values()) {
        for (let i = 0; i < due.length; i += BATCH) void this.#renew(renew, due.slice(i, i + BATCH));
      }
    }
    // An explicit lease is not prolonged: the server confirms what is left of it.
    for (const tenure of leased) void this.#renew(tenure.protocol.renew, [tenure]);
  }

  async #renew(renew: Renew, batch: Tenure[]): Promise<void> {
    const backoff = new Backoff(50, 1_000);
    let tenures = batch;
    // Where the time-out of a command is as long as the lease, the deadline may come before the first failure.
    const overdueMs = Math.min(this.#leaseMs / 6, ...batch.map(({ remainingMs }) => remainingMs));
    const cancelOverdue = this.#runtime.clock.inBackground(overdueMs, () => {
      for (const tenure of tenures)
        if (this.#renewing.has(tenure))
          this.#tellRisk(
            tenure,
            unanswered(
              `renew "${tenure.protocol.name}"`,
              'the server has not answered',
              this.#runtime.driver,
            ),
          );
    });
    while (tenures.length > 0) {
      try {
        await this.#renewOnce(renew, tenures);
        cancelOverdue();
        return;
      } catch (error) {
        cancelOverdue();
        tenures = tenures.filter((tenure) => this.#renewing.has(tenure) && tenure.checkDeadline());
        for (const tenure of tenures) this.#tellRisk(tenure, error);
        if (tenures.length > 1 && (classify(error) === 'refused' || isSlotMoving(error))) {
          // A key that the server refuses, or that has moved already, must not fail the others.
          for (const tenure of tenures) void this.#renew(renew, [tenure]);
          return;
        }
        await new Promise<void>((resolve) => this.#runtime.clock.inBackground(backoff.next(), resolve));
        tenures = tenures.filter((tenure) => this.#renewing.has(tenure));
      }
    }
  }

  async #renewOnce(renew: Renew, tenures: readonly Tenure[]): Promise<void> {
    const sentAt = this.#runtime.leaseClock.sendTime();
    const keys = tenures.map((tenure) => tenure.protocol.key);
    const owners = tenures.map((tenure) => tenure.owner);
    const counts = tenures.map((tenure) => tenure.count);
    const [first] = tenures;
    // A tenure in a batch may have got an explicit lease meanwhile: the others need the full lease.
    const isLeased = tenures.length === 1 && first?.isRenewed === false;
    const leaseMs = isLeased ? first.leaseLeftMs : this.#leaseMs;
    for (const tenure of tenures) tenure.asked(sentAt, leaseMs);
    const send = () => renew(keys, leaseMs, owners, counts);
    const held = await (tracesRenewals() ? traceRenewal(this.#runtime, keys.length, send) : send());
    const missing: Tenure[] = [];
    for (const [i, tenure] of tenures.entries()) {
      if (held[i] === 1) {
        tenure.prolonged(sentAt, leaseMs);
        this.#renewalEnded(tenure);
      } else if (this.#renewing.has(tenure)) missing.push(tenure);
      // A tenure released meanwhile is rightly gone from the server.
    }
    // After an unanswered reclaim, the batch is renewed again and the tenure found missing again.
    await Promise.all(missing.map((tenure) => tenure.reclaim().then(() => this.#renewalEnded(tenure))));
  }

  #renewalEnded(tenure: Tenure): void {
    const wanted = this.#renewing.delete(tenure);
    if (wanted) tenure.watch();
  }

  #tellRisk(tenure: Tenure, error: unknown): void {
    tenure.armDeadlineTimer();
    if (tenure.renewalFailing) return;
    tenure.renewalFailing = true;
    const { owner, remainingMs } = tenure;
    const { kind, name } = tenure.protocol;
    this.#runtime.report('atRisk', { kind, name, owner, remainingMs, error });
  }
}
