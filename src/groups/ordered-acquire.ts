/**
 * One go at all the members of a multi lock, in an order that the caller has decided.
 *
 * Everything that is missing is tried at once: one round trip when all is free. What was granted in front of
 * the first that is not stays held, what was granted behind it is given back, and that one is waited for; so
 * nobody ever waits for a lock while holding one that comes later. If not everything could be had, nothing is
 * kept.
 */

import type { CancelTimer, Clock } from '../clock.ts';
import { LeaseLostError, OptionError } from '../errors.ts';
import type { LockHold } from '../locks/hold.ts';
import type { ProtocolLock } from '../locks/protocol-lock.ts';
import { onAbort } from '../runtime/abort.ts';
import { WaitBudget } from '../runtime/wait-budget.ts';
import { releaseAll } from './group-hold.ts';
import { obstacleOf, type Quest } from './group-lock.ts';

export class OrderedAcquire {
  readonly #clock: Clock;
  readonly #members: readonly ProtocolLock[];
  readonly #quest: Quest;
  readonly #held: LockHold[] = [];
  readonly #stop = new AbortController();
  readonly #forget: (() => void)[] = [];
  #cancelExtending: CancelTimer | undefined;
  #wasBusy = false;
  #lost: LeaseLostError | undefined;

  constructor(clock: Clock, members: readonly ProtocolLock[], quest: Quest) {
    this.#clock = clock;
    this.#members = members;
    this.#quest = quest;
    const { signal } = quest;
    signal?.throwIfAborted();
    if (signal !== undefined) this.#forget.push(onAbort(signal, (reason) => this.#stop.abort(reason)));
  }

  /** Whether somebody else had one of the members. */
  get wasBusy(): boolean {
    return this.#wasBusy;
  }

  /** What became of a member that was held already. */
  get lost(): LeaseLostError | undefined {
    return this.#lost;
  }

  /**
   * @param until how long to wait, by the clock
   * @param patienceMs how long to wait at most for a member while holding another
   */
  async run(until: number, patienceMs: number): Promise<readonly LockHold[] | null> {
    try {
      for (;;) {
        await this.#tryRest();
        const next = this.#members[this.#held.length];
        if (next === undefined) return await this.#complete();
        await this.#refuseTwice(next);
        const leftMs = until - this.#clock.now();
        const waitMs = this.#held.length === 0 ? leftMs : Math.min(leftMs, patienceMs);
        const hold = waitMs > 0 ? await this.#waitFor(next, waitMs) : null;
        if (hold === null) {
          await this.#giveBack();
          return null;
        }
        this.#keep(hold);
      }
    } catch (error) {
      await this.#giveBack();
      throw error;
    } finally {
      this.#cancelExtending?.();
      for (const forget of this.#forget) forget();
    }
  }

  async #tryRest(): Promise<void> {
    const rest = this.#members.slice(this.#held.length);
    const outcomes = await Promise.allSettled(rest.map((member) => this.#take(member, 0)));
    const beyond: LockHold[] = [];
    let isMissing = false;
    for (const outcome of outcomes) {
      const hold = outcome.status === 'fulfilled' ? outcome.value : null;
      if (hold === null) isMissing = true;
      else if (isMissing) beyond.push(hold);
      else this.#keep(hold);
    }
    if (!isMissing) return;
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed === undefined) this.#wasBusy = true;
    await this.#unlessStopped(releaseAll(beyond));
    if (failed !== undefined) throw failed.reason;
  }

  async #waitFor(member: ProtocolLock, waitMs: number): Promise<LockHold | null> {
    const { leaseMs } = this.#quest.wish;
    if (leaseMs !== undefined && this.#cancelExtending === undefined) this.#extendLater(leaseMs);
    return this.#take(member, waitMs);
  }

  /** Asynchronous to the last: a client that is closed must not keep the other attempts from being undone. */
  async #take(member: ProtocolLock, waitMs: number): Promise<LockHold | null> {
    const { ownerOn, wish } = this.#quest;
    const limits = { waitMs, signal: this.#stop.signal };
    return member.takeAs(ownerOn(member.context), { leaseMs: wish.leaseMs, isMember: true }, limits);
  }

  #keep(hold: LockHold): void {
    this.#held.push(hold);
    const lose = (reason: unknown) => {
      if (reason instanceof LeaseLostError) this.#lost ??= reason;
      this.#stop.abort(reason);
    };
    this.#forget.push(onAbort(hold.signal, lose));
    if (hold.signal.aborted) lose(hold.signal.reason);
  }

  /** Every lease starts anew with the last one, if there was a wait. */
  async #complete(): Promise<readonly LockHold[]> {
    const { leaseMs } = this.#quest.wish;
    this.#stop.signal.throwIfAborted();
    if (this.#cancelExtending !== undefined && leaseMs !== undefined) {
      await this.#unlessStopped(Promise.all(this.#held.map((hold) => hold.extend(leaseMs))));
    }
    for (const hold of this.#held) hold.assertHeld();
    return this.#held;
  }

  /** The leases of members that are held already must not run out while others are waited for. */
  #extendLater(leaseMs: number): void {
    this.#cancelExtending = this.#clock.inBackground(leaseMs / 3, () => {
      // One that fails may be followed by one that does not; what is lost in the end stops everything.
      for (const hold of this.#held) hold.extend(leaseMs).catch(() => undefined);
      this.#extendLater(leaseMs);
    });
  }

  /** Two clients of one server can name the same lock, which would then wait for itself. */
  async #refuseTwice(next: ProtocolLock): Promise<void> {
    const namesakes = this.#held.filter((_, i) => this.#members[i]?.protocol.key === next.protocol.key);
    if (namesakes.length === 0) return;
    const { holder } = await this.#unlessStopped(obstacleOf(next));
    if (!namesakes.some(({ owner }) => owner === holder)) return;
    throw new OptionError(`"${next.name}" is named twice, through two clients of one server`);
  }

  async #giveBack(): Promise<void> {
    const released = releaseAll(this.#held);
    // Who aborts wants to go on at once, whatever the servers do.
    if (!this.#quest.signal?.aborted) await released;
  }

  async #unlessStopped<T>(doing: Promise<T>): Promise<T> {
    // Stopped before it could be waited for, it is nobody's business any more.
    doing.catch(() => undefined);
    using waitBudget = new WaitBudget(this.#clock, Number.POSITIVE_INFINITY, [this.#stop.signal]);
    return (await waitBudget.wait(doing)) as T;
  }
}
