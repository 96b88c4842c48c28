/**
 * One owner's possession of one lock, from the grant to the last release or the loss.
 *
 * An owner that enters again shares its tenure: one field in Redis, one lease, one deadline, one loss. This class
 * counts the entries and sends what changes the tenure. Its base class keeps the deadline and decides on the loss.
 */

import { tracesRenewals } from '../channels.ts';
import { type LeaseLostError, type LossReason, NotHeldError, ReentryError } from '../errors.ts';
import type { Link } from '../linked-list.ts';
import { traceRenewal } from '../tracing.ts';
import { InOrder } from './in-order.ts';
import { type Entry, type Grant, Lifetime } from './lease-deadline.ts';
import type { Line } from './line.ts';
import type { ReleaseAnswer, TenureProtocol } from './protocol.ts';
import { type Ending, release } from './release.ts';
import { retry } from './retry.ts';
import type { Runtime } from './runtime.ts';

export class Tenure extends Lifetime {
  /** When the watchdog renews it, and its place in the watchdog's list. */
  renewalDueAt = 0;
  renewalPlace: Link<Tenure> | undefined;
  readonly #place: Link<Tenure>;
  /** The current entries, in order of arrival: hardly ever more than one. */
  #entries: readonly Entry[];
  #whenOver: (() => void) | undefined;
  /** When this process got it, by the lease clock. */
  readonly beganAt: number;
  /** How many holders of this process had it in turn. */
  #holds = 1;
  /** It is not passed on: the next holder cannot rely on what is known of it here. */
  #isKept = false;
  readonly #doubtful: boolean;
  /** Orders changes of the count; created by the first that has to wait for an answer. */
  #ordered: InOrder | undefined;
  #releasing: Promise<boolean> | undefined;

  constructor(runtime: Runtime, protocol: TenureProtocol, grant: Grant, first: Entry, whenOver?: () => void) {
    super(runtime, protocol, grant);
    this.#doubtful = grant.doubtful ?? false;
    this.#whenOver = whenOver;
    this.beganAt = runtime.leaseClock.sendTime();
    this.#entries = [first];
    this.#place = runtime.tenures.add(this);
    runtime.watchdog.attend();
    this.watch(this.beganAt);
  }

  /** Whether an entry without an explicit lease lasts: the watchdog then renews the tenure. */
  override get isRenewed(): boolean {
    return this.#entries.some(({ renewed }) => renewed);
  }

  /** The number of current entries. */
  get count(): number {
    return this.#entries.length;
  }

  /** The latest of the current entries. */
  get latestEntry(): Entry | undefined {
    return this.#entries.at(-1);
  }

  /**
   * Enters once more. Returns false when the last entry has left meanwhile, so that there is nothing left
   * to enter.
   *
   * @throws LeaseLostError when the tenure is lost; it is never acquired again
   */
  enter(entry: Entry, leaseMs: number): Promise<boolean> {
    return this.#changes.run(async () => {
      if (this.state === 'over') {
        // Until then a new hold could be mistaken for that one. The error of the release goes to its own caller.
        await this.#releasing?.catch(() => undefined);
        return false;
      }
      this.assertHeld();
      const sentAt = this.runtime.leaseClock.sendTime();
      this.asked(sentAt, leaseMs);
      const count = this.count + 1;
      const answer = await retry(this.runtime, `re-enter "${this.protocol.name}"`, async () => {
        if (this.protocol.enter === undefined) throw new ReentryError(this.protocol.name);
        const entered = await this.protocol.enter(this.owner, count, leaseMs);
        const isBack = entered === 'lost' && this.protocol.guarded !== undefined && (await this.reclaim());
        return isBack ? this.protocol.enter(this.owner, count, leaseMs) : entered;
      });
      if (answer === 'lost') this.lose('notOwner');
      else this.prolonged(sentAt, leaseMs);
      this.assertHeld();
      this.#entries = [...this.#entries, entry];
      this.watch();
      return true;
    });
  }

  /**
   * The server says that this tenure is not held. The server may have forgotten it: reclaims it, or loses it. Returns
   * whether it is held again. A tenure that is over here is not reclaimed.
   */
  async reclaim(): Promise<boolean> {
    const { guarded } = this.protocol;
    if (guarded !== undefined && this.checkDeadline()) {
      const sentAt = this.runtime.leaseClock.sendTime();
      const leaseMs = this.isRenewed ? this.runtime.watchdogMs : this.leaseLeftMs;
      this.asked(sentAt, leaseMs);
      const { owner, token } = this;
      const answer = await guarded.reclaim({ owner, count: Math.max(1, this.count), leaseMs, token });
      // The server is in its grace and would reject a new owner, so no waiter may get this without asking it.
      this.#isKept = true;
      if (answer === 'held') this.prolonged(sentAt, leaseMs);
      else this.lose(answer === 'taken' ? 'failover' : 'notOwner');
      return answer === 'held';
    }
    this.lose('notOwner');
    return false;
  }

  /** Gives the tenure at least this much time from now. */
  async extend(leaseMs: number): Promise<void> {
    this.assertHeld();
    this.#isKept = true;
    const sentAt = this.runtime.leaseClock.sendTime();
    this.asked(sentAt, leaseMs);
    const send = () => this.protocol.renew([this.protocol.key], leaseMs, [this.owner], [this.count]);
    const renew = () => (tracesRenewals() ? traceRenewal(this.runtime, 1, send) : send());
    const [held] = await retry(this.runtime, `extend "${this.protocol.name}"`, async () => {
      const renewed = await renew();
      const isForgotten = renewed[0] !== 1 && this.protocol.guarded !== undefined && this.checkDeadline();
      return isForgotten && (await this.reclaim()) ? renew() : renewed;
    });
    if (held === 1) this.prolonged(sentAt, leaseMs);
    else this.lose('notOwner');
    this.assertHeld();
    // Released meanwhile: there was nothing left to extend.
    if (held !== 1) throw new NotHeldError(this.protocol.name);
  }

  /** Resolves when the changes under way have settled. */
  async changed(): Promise<void> {
    await this.#ordered?.settled();
    // The error of a release goes to its own caller.
    await this.#releasing?.catch(() => undefined);
  }

  /**
   * Removes an entry; the last one releases the lock. Returns whether it was held until now.
   *
   * @throws OutcomeUnknownError when the server did not answer; the release goes on in the background
   */
  leave(entry: Entry): Promise<boolean> {
    // From here on the entry no longer counts as held, whatever the server answers and when.
    const heldUntilNow = this.checkDeadline();
    this.#entries = this.#entries.filter((other) => other !== entry);
    if (!heldUntilNow) return this.count > 0 ? Promise.resolve(false) : this.#release();
    if (this.count === 0 && (this.#ordered?.isIdle ?? true)) {
      const waiting = this.#waiting;
      const isPassedOn = waiting !== undefined && this.#passOn(entry, waiting);
      return isPassedOn ? Promise.resolve(true) : this.#release();
    }
    this.watch();
    // Decide in turn whether it was the last one: another entry may be on its way in.
    return this.#changes.run(() => (this.count > 0 ? this.#leaveOne() : this.#release()));
  }

  /** Continues with another entry, for another owner of this process: same field, same lease, no round trip. */
  passTo(entry: Entry, whenOver?: () => void): void {
    this.#holds += 1;
    this.#whenOver?.();
    this.#whenOver = whenOver;
    this.#entries = [entry];
  }

  /**
   * Passes the tenure to the next waiter of this process, while that costs others no more than a moment. No command
   * may be in doubt, and most of the lease must be left: the next holder relies on the lease as it is known here,
   * without a confirmation from the server.
   */
  #passOn(left: Entry, line: Line): boolean {
    const { passOnWithin, leaseClock, watchdog, watchdogMs } = this.runtime;
    if (passOnWithin === false || !left.canPassOn) return false;
    if (this.#doubtful || this.#isKept || this.renewalFailing || watchdog.isRenewing(this)) return false;
    // A change of the count that failed may still reach the server.
    if (this.#ordered?.hasFailed) return false;
    const now = leaseClock.now();
    if (this.#holds >= passOnWithin.maxHolds || now - this.beganAt >= passOnWithin.maxMs) return false;
    if (this.deadline - now < watchdogMs / 2) return false;
    // If the next holder dies, others wait for the longest lease that the former holder requested.
    if (this.lease.longestMs > watchdogMs) return false;
    return line.passOn(this);
  }

  /**
   * Ends the tenure in this process only. The same owner continues with another lease, in a new tenure that
   * renewals of this one under way do not reach. Returns what is known of the lease so far.
   */
  endLocally(): Grant {
    if (this.state === 'held') {
      this.state = 'over';
      this.stopTimers();
    }
    const { leaseMs, leaseEndsAt } = this.lease;
    return { owner: this.owner, sentAt: leaseEndsAt - leaseMs, leaseMs, token: this.token };
  }

  /** Loses the tenure on purpose: tells the holder first, then the server. */
  revoke(reason: LossReason): void {
    this.lose(reason);
    this.releaseInBackground();
  }

  /** The watchdog is needed while an entry without an explicit lease lasts, or the server has to confirm the hold. */
  watch(now?: number): void {
    if (this.state !== 'held') return;
    const { watchdog } = this.runtime;
    const { guarded, isCutByOthers = false } = this.protocol;
    const mustBeHeard = (guarded !== undefined || isCutByOthers) && this.count > 0;
    if (!this.isRenewed) this.armDeadlineTimer();
    if (this.isRenewed || mustBeHeard) watchdog.watch(this, now);
    else watchdog.unwatch(this);
  }

  async #leaveOne(): Promise<boolean> {
    const what = `leave "${this.protocol.name}"`;
    const leave = async () => this.protocol.leave?.(this.owner, this.count);
    try {
      const answer = await retry(this.runtime, what, leave);
      // A reclaimed tenure gets the count that is left.
      return answer === 'held' || (await retry(this.runtime, what, () => this.reclaim()));
    } catch (error) {
      // Each retry sets the count as it is by then; after the last release there is nothing to set.
      this.runtime.backgroundRetry.repeatUntilAnswered(
        what,
        this.lease.longestMs,
        async () => this.isHeld && leave(),
      );
      throw error;
    }
  }

  /** Several entries may leave at once, and each then finds none left: they share one release. */
  #release(): Promise<boolean> {
    this.#releasing ??= this.#releaseOnce();
    return this.#releasing;
  }

  #releaseOnce(): Promise<boolean> {
    if (!this.isHeld) {
      this.#whenOver?.();
      this.releaseInBackground();
      return Promise.resolve(false);
    }
    this.state = 'over';
    this.runtime.backgroundRetry.began();
    // Sent before the rest, for which the waiters of other processes need not wait.
    const releasing = release(this.runtime, this.#ending);
    this.stopTimers();
    const waiting = this.#waiting;
    waiting?.releasing();
    return releasing.then(
      (answer) => this.#ended(waiting, answer),
      (error: unknown) => {
        this.#ended(waiting);
        this.releaseInBackground();
        throw error;
      },
    );
  }

  /** The release has settled. Returns whether the owner held the lock until then; without an answer, nobody knows. */
  #ended(waiting: Line | undefined, answer?: ReleaseAnswer): boolean {
    const { kind, line, name } = this.protocol;
    // Not earlier: an owner that acquires again during the release waits for its end.
    this.#whenOver?.();
    this.runtime.backgroundRetry.ended();
    if (waiting === undefined) this.runtime.lines.wake(line);
    else waiting.released(answer);
    if (answer !== 'lost') return true;
    this.runtime.report('lost', { kind, name, owner: this.owner, reason: 'notOwner' });
    return false;
  }

  protected override get isRenewalOverdue(): boolean {
    return this.renewalFailing || this.runtime.watchdog.isRenewing(this);
  }

  protected override stopTimers(): void {
    super.stopTimers();
    this.runtime.watchdog.unwatch(this);
    this.runtime.tenureEnded(this.#place);
  }

  protected override tellLost(error: LeaseLostError): void {
    for (const entry of this.#entries) entry.onLost(error);
  }

  /** The waiters of this process, where a tenure may be passed on. */
  get #waiting(): Line | undefined {
    const { canPassOn, line } = this.protocol;
    return canPassOn ? this.runtime.lines.waitingAt(line) : undefined;
  }

  get #changes(): InOrder {
    this.#ordered ??= new InOrder();
    return this.#ordered;
  }

  get #ending(): Ending {
    return { protocol: this.protocol, owner: this.owner, lease: this.lease, isDoubtful: this.#doubtful };
  }
}
