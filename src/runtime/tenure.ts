/**
 * One owner's possession of one lock, from the grant to the last release or the loss.
 *
 * An owner that enters again shares its tenure: one field in Redis, one lease, one deadline, one loss. The
 * tenure counts its entries, keeps the deadline by the monotonic clock, and decides that it is lost. Once
 * lost it stays lost, whatever the server says later.
 */

import type { CancelTimer } from '../clock.ts';
import { LeaseLostError, type LossReason, NotHeldError, ReentryError } from '../errors.ts';
import type { Link } from '../linked-list.ts';
import { mayHaveRun } from '../outcome.ts';
import { Lease } from './lease.ts';
import type { ReleaseAnswer, TenureProtocol } from './protocol.ts';
import { retry, retryCommand } from './retry.ts';
import type { Runtime } from './runtime.ts';
import { leaveTombstone, tombstoneMs } from './tombstone.ts';

/** An entry of a tenure: what the user's handle stands on. */
export interface Entry {
  /** Taken without a lease of its own: the watchdog keeps the tenure alive while this entry lasts. */
  readonly renewed: boolean;
  /** It needs nothing of its own: who leaves it may hand the tenure to the next waiter of this process. */
  readonly isPassedOn?: boolean;
  /** Told once when the tenure is lost while this entry lasts. */
  onLost(error: LeaseLostError): void;
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

function leaseOf({ guarded }: TenureProtocol, { sentAt, leaseMs }: Grant): Lease {
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

export class Tenure {
  readonly protocol: TenureProtocol;
  readonly owner: string;
  readonly token: number | undefined;
  /** When the watchdog renews it, and its place in the watchdog's list. */
  renewalDueAt = 0;
  renewalPlace: Link<Tenure> | undefined;
  readonly #runtime: Runtime;
  readonly #place: Link<Tenure>;
  /** Those that last, in the order they came: hardly ever more than one. */
  #entries: readonly Entry[];
  #whenOver: (() => void) | undefined;
  readonly #beganAt: number;
  /** How many of this process had it, one after the other; infinite when it must not be passed on any more. */
  #holds = 1;
  readonly #doubtful: boolean;
  #state: 'held' | 'lost' | 'over' = 'held';
  #lost: LeaseLostError | undefined;
  readonly #lease: Lease;
  /** What the lease clock had added for suspended time when the deadline was last set. */
  #suspendedMs: number;
  #cancelDeadline: CancelTimer | undefined;
  /** Changes of the count go one after the other, so that they arrive in order; undefined when none is under way. */
  #changing: Promise<unknown> | undefined;
  #releasing: Promise<boolean> | undefined;
  /** The last renewal failed; a deadline that passes now passes because of that. */
  renewalFailing = false;

  constructor(runtime: Runtime, protocol: TenureProtocol, grant: Grant, first: Entry, whenOver?: () => void) {
    this.#runtime = runtime;
    this.protocol = protocol;
    this.owner = grant.owner;
    this.token = grant.token;
    this.#doubtful = grant.doubtful ?? false;
    this.#whenOver = whenOver;
    this.#beganAt = runtime.leaseClock.sendTime();
    this.#lease = leaseOf(protocol, grant);
    this.#suspendedMs = runtime.leaseClock.suspendedMs;
    this.#entries = [first];
    this.#place = runtime.tenures.add(this);
    runtime.watchdog.attend();
    this.watch();
  }

  /** Milliseconds that the server still owes it, by the lease that was last confirmed; at least 1. */
  get leaseLeftMs(): number {
    return Math.max(1, Math.ceil(this.#lease.leaseEndsAt - this.#runtime.leaseClock.now()));
  }

  /** Whether an entry without a lease of its own lasts: the watchdog then gives it new leases. */
  get isRenewed(): boolean {
    return this.#entries.some(({ renewed }) => renewed);
  }

  /** How often it is entered at present. */
  get count(): number {
    return this.#entries.length;
  }

  /** The entry made last of those that last. */
  get latestEntry(): Entry | undefined {
    return this.#entries.at(-1);
  }

  /** When the holder must stop relying on it. */
  get deadline(): number {
    return this.#lease.deadline;
  }

  get isHeld(): boolean {
    return this.#state === 'held';
  }

  /** Milliseconds until the holder must stop relying on it; 0 once lost or released. */
  get remainingMs(): number {
    if (this.#state !== 'held') return 0;
    return Math.max(0, this.deadline - this.#runtime.leaseClock.now());
  }

  /** @throws LeaseLostError when it is lost, also when nothing has noticed yet because the process slept */
  assertHeld(): void {
    this.checkDeadline();
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** A lease is being asked for: to be called before it is sent. */
  asked(sentAt: number, leaseMs: number): void {
    this.#lease.asked(sentAt, leaseMs);
  }

  /** A lease that was asked for at `sentAt` has been confirmed. */
  prolonged(sentAt: number, leaseMs: number): void {
    this.#lease.confirmed(sentAt, leaseMs);
    if (this.checkDeadline()) {
      this.#lease.relyOn(sentAt, leaseMs);
      this.#suspendedMs = this.#runtime.leaseClock.suspendedMs;
      this.renewalFailing = false;
    } else if (this.#state === 'lost') {
      // Too late: the holder has been told. Nobody would release what the server just prolonged.
      this.#releaseInBackground();
    }
  }

  /**
   * Enters once more. Answers false when the last entry was taken back meanwhile and there is nothing left
   * to enter.
   *
   * @throws LeaseLostError when the tenure is lost; it is never taken anew
   */
  enter(entry: Entry, leaseMs: number): Promise<boolean> {
    return this.#inOrder(async () => {
      if (this.#state === 'over') {
        // Taken anew before its end is known, it could be mistaken for what is being released.
        await this.#releasing?.catch(() => undefined);
        return false;
      }
      this.assertHeld();
      const sentAt = this.#runtime.leaseClock.sendTime();
      this.asked(sentAt, leaseMs);
      const count = this.count + 1;
      const answer = await this.#ask(`re-enter "${this.protocol.name}"`, async () => {
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
   * The server says that this is not held. It may have forgotten: asks for it back, or loses it. Answers whether it
   * is held again; what is not held any more here is not asked for.
   */
  async reclaim(): Promise<boolean> {
    const { guarded } = this.protocol;
    if (guarded !== undefined && this.checkDeadline()) {
      const sentAt = this.#runtime.leaseClock.sendTime();
      const leaseMs = this.isRenewed ? this.#runtime.watchdogMs : this.leaseLeftMs;
      this.asked(sentAt, leaseMs);
      const { owner, token } = this;
      const answer = await guarded.reclaim({ owner, count: Math.max(1, this.count), leaseMs, token });
      // The server is in its grace: who asked it now would be kept out, so nobody gets it without asking.
      this.#holds = Number.POSITIVE_INFINITY;
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
    const sentAt = this.#runtime.leaseClock.sendTime();
    this.asked(sentAt, leaseMs);
    const renew = () => this.protocol.renew([this.protocol.key], leaseMs, [this.owner], [this.count]);
    const [held] = await this.#ask(`extend "${this.protocol.name}"`, async () => {
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

  /** Resolves when the changes that are under way are done, however they end. */
  async changed(): Promise<void> {
    await this.#changing;
    await this.#releasing?.catch(() => undefined);
  }

  /**
   * Takes an entry back; the last one releases the lock. Answers whether it was held until now.
   *
   * @throws OutcomeUnknownError when no answer could be had; the release goes on in the background
   */
  leave(entry: Entry): Promise<boolean> {
    // From here on the entry no longer counts as held, whatever the server answers and when.
    const heldUntilNow = this.checkDeadline();
    this.#entries = this.#entries.filter((other) => other !== entry);
    if (!heldUntilNow) return this.count > 0 ? Promise.resolve(false) : this.#release();
    if (this.count === 0 && this.#changing === undefined) {
      return this.#passOn(entry) ? Promise.resolve(true) : this.#release();
    }
    this.watch();
    // Whether it is the last one is decided when its turn comes: an entry may be on its way in.
    return this.#inOrder(() => (this.count > 0 ? this.#leaveOne() : this.#release()));
  }

  /** Goes on with another entry and for another owner of this process: same field, same lease, no round trip. */
  passTo(entry: Entry, whenOver?: () => void): void {
    this.#holds += 1;
    this.#whenOver?.();
    this.#whenOver = whenOver;
    this.#entries = [entry];
  }

  /**
   * Hands it to the next who waits for it in this process, while that costs others no more than a moment. Nothing may
   * be in doubt, and most of its lease must be left: the next one relies on what is known of it, and has no word of
   * the server for itself.
   */
  #passOn(left: Entry): boolean {
    const { passOnWithin, leaseClock, watchdog, watchdogMs } = this.#runtime;
    if (passOnWithin === false || this.protocol.isPassedOn !== true || !left.isPassedOn) return false;
    const line = this.#runtime.lineOf(this.protocol.line);
    if (line === undefined) return false;
    if (this.#doubtful || this.renewalFailing || watchdog.isRenewing(this)) return false;
    const now = leaseClock.now();
    if (this.#holds >= passOnWithin.maxHolds || now - this.#beganAt >= passOnWithin.maxMs) return false;
    if (this.deadline - now < watchdogMs / 2) return false;
    // Should the next one die, its rivals wait for the longest lease that the former asked for.
    if (this.#lease.longestMs > watchdogMs) return false;
    return line.passOn(this);
  }

  /** Ends the tenure without its holder's doing, and tells every entry. */
  lose(reason: LossReason): void {
    if (this.#state !== 'held') return;
    this.#state = 'lost';
    this.#stopTimers();
    this.#lost = new LeaseLostError(this.protocol.name, this.owner, reason);
    for (const entry of this.#entries) entry.onLost(this.#lost);
    this.#runtime.report('lost', { name: this.protocol.name, owner: this.owner, reason });
    this.#runtime.look(this.protocol.line);
    const isOnlyUnheard = (reason === 'expired' || reason === 'suspended') && this.#lease.mayStandOn;
    if (reason === 'unreachable' || isOnlyUnheard || this.protocol.outlivesLease) {
      // A request whose reply never came may have prolonged it, or may do so yet; or others keep its key alive; or its
      // lease goes on. Not before that is over which the holder knew of: until then it may still be busy stopping.
      const leftMs = this.#lease.endsAt - this.#runtime.leaseClock.now();
      this.#runtime.clock.inBackground(Math.max(0, leftMs), () => this.#releaseInBackground());
    }
  }

  /**
   * Ends it here and nowhere else: the same owner goes on with another lease, in a tenure of its own, which
   * renewals of this one that are under way do not reach. Answers what is known of the lease so far.
   */
  handOver(): Grant {
    if (this.#state === 'held') {
      this.#state = 'over';
      this.#stopTimers();
    }
    const { leaseMs, leaseEndsAt } = this.#lease;
    return { owner: this.owner, sentAt: leaseEndsAt - leaseMs, leaseMs, token: this.token };
  }

  /** Loses it on purpose: the holder is told first, then the server is. */
  revoke(reason: LossReason): void {
    this.lose(reason);
    this.#releaseInBackground();
  }

  /** Whether it is held, after a look at the clock: past its deadline it is lost here and now. */
  checkDeadline(now: number = this.#runtime.leaseClock.now()): boolean {
    if (this.#state !== 'held') return false;
    const { deadline } = this;
    if (now < deadline) return true;
    const awakeAt = this.#runtime.clock.now() + this.#suspendedMs;
    if (awakeAt < deadline) this.lose('suspended');
    else this.lose(this.#isRenewalOverdue ? 'unreachable' : 'expired');
    return false;
  }

  /** Renewals failed, or the one that is under way has not been answered. */
  get #isRenewalOverdue(): boolean {
    return this.renewalFailing || this.#runtime.watchdog.isRenewing(this);
  }

  /**
   * Has a timer of its own tell that the deadline has passed. While renewals are answered there is none: they come long
   * before it.
   */
  mindDeadline(): void {
    if (this.#state !== 'held' || this.#cancelDeadline !== undefined) return;
    const leftMs = this.deadline - this.#runtime.leaseClock.sendTime();
    this.#cancelDeadline = this.#runtime.clock.inBackground(Math.max(0, leftMs), () => {
      this.#cancelDeadline = undefined;
      // A renewal may have moved the deadline meanwhile.
      if (this.checkDeadline() && (!this.isRenewed || this.#isRenewalOverdue)) this.mindDeadline();
    });
  }

  /** The machine slept, and a timer that was set before would come too late by as much. */
  awoke(now: number): void {
    if (!this.checkDeadline(now)) return;
    this.#cancelDeadline?.();
    this.#cancelDeadline = undefined;
    this.mindDeadline();
  }

  /** The watchdog is needed while an entry without a lease of its own lasts, or the server's word has to be heard. */
  watch(): void {
    if (this.#state !== 'held') return;
    const { watchdog } = this.#runtime;
    const { guarded, isCutByOthers = false } = this.protocol;
    const mustBeHeard = (guarded !== undefined || isCutByOthers) && this.count > 0;
    if (!this.isRenewed) this.mindDeadline();
    if (this.isRenewed || mustBeHeard) watchdog.watch(this);
    else watchdog.unwatch(this);
  }

  #stopTimers(): void {
    this.#cancelDeadline?.();
    this.#runtime.watchdog.unwatch(this);
    this.#runtime.tenures.remove(this.#place);
  }

  async #leaveOne(): Promise<boolean> {
    const what = `leave "${this.protocol.name}"`;
    const leave = async () => this.protocol.leave?.(this.owner, this.count);
    try {
      const answer = await this.#ask(what, leave);
      // What comes back comes back with the count that is left.
      return answer === 'held' || (await this.#ask(what, () => this.reclaim()));
    } catch (error) {
      // The count is set to what it is by then; after the last release there is nothing to set.
      this.#runtime.backgroundRetry.settle(what, this.#lease.longestMs, async () => this.isHeld && leave());
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
      this.#releaseInBackground();
      return Promise.resolve(false);
    }
    this.#state = 'over';
    this.#stopTimers();
    const { isPassedOn, line, name } = this.protocol;
    const { backgroundRetry } = this.#runtime;
    const waiting = isPassedOn ? this.#runtime.lineOf(line) : undefined;
    waiting?.releasing();
    backgroundRetry.began();
    const ended = (answer?: ReleaseAnswer) => {
      // Not before: an owner that takes it again while it is being released waits for that.
      this.#whenOver?.();
      backgroundRetry.ended();
      if (waiting === undefined) this.#runtime.look(line);
      else waiting.released(answer);
    };
    return this.#askToRelease().then(
      (answer) => {
        ended(answer);
        if (answer !== 'lost') return true;
        this.#runtime.report('lost', { name, owner: this.owner, reason: 'notOwner' });
        return false;
      },
      (error: unknown) => {
        ended();
        this.#releaseInBackground();
        throw error;
      },
    );
  }

  #askToRelease(): Promise<ReleaseAnswer> {
    const { protocol, owner } = this;
    const { guarded } = protocol;
    const { clock, commandTimeoutMs } = this.#runtime;
    const what = `release "${protocol.name}"`;
    // A late copy of the attempt that was granted at the second try must not take the lock anew.
    const rememberMs = this.#doubtful ? tombstoneMs(this.#lease.longestMs) : this.#runtime.rememberMs;
    const end = () => protocol.end(owner, rememberMs);
    if (guarded !== undefined) {
      return this.#ask(what, async () => {
        const released = await end();
        // Forgotten by a server that let nobody else in since: it was held until now.
        return released === 'lost' && (await guarded.isGrace()) ? 'released' : released;
      });
    }
    const isPlain = protocol.writesOnce === true && !this.#doubtful;
    if (!isPlain || protocol.release === undefined)
      return retryCommand(clock, commandTimeoutMs, what, end(), () => end);
    // No copy of its commands can come, so the server need not remember that they are over. Should the answer be lost,
    // the hold is ended for good: gone before its lease was over, it can only have been released the first time.
    const endForGood = async () => {
      const answer = await end();
      const isBeforeItsEnd = this.#runtime.leaseClock.now() < this.#lease.leaseEndsAt;
      return answer === 'lost' && isBeforeItsEnd ? 'released' : answer;
    };
    return retryCommand(clock, commandTimeoutMs, what, protocol.release(owner), (error) =>
      mayHaveRun(error) ? endForGood : end,
    );
  }

  #releaseInBackground(): void {
    leaveTombstone(this.#runtime, this.protocol, this.owner, this.#lease.longestMs);
  }

  #ask<T>(what: string, call: () => Promise<T>): Promise<T> {
    return retry(this.#runtime.clock, this.#runtime.commandTimeoutMs, what, call);
  }

  #inOrder<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#changing === undefined ? change() : this.#changing.then(change);
    // The next change waits for this one, however it ended; its failure is its caller's to handle.
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    this.#changing = settled;
    void settled.then(() => {
      if (this.#changing === settled) this.#changing = undefined;
    });
    return done;
  }
}
