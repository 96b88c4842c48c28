/**
 * One attempt to take all members of a multi lock, in an order that the caller has decided.
 *
 * It tries all missing members at once: one round trip when all are free. Otherwise it keeps the grants before
 * the first busy member, releases the grants behind that member, and waits for it. So no caller ever waits for
 * a lock while holding one that comes later. An attempt that cannot take all members keeps none.
 */

import type { CancelTimer, Clock } from '../clock.ts';
import { LeaseLostError, OptionError } from '../errors.ts';
import type { LockHold } from '../locks/hold.ts';
import type { ProtocolLock } from '../locks/protocol-lock.ts';
import { onAbort } from '../runtime/abort.ts';
import { WaitBudget } from '../runtime/wait-budget.ts';
import { releaseAll } from './group-hold.ts';
import { type GroupRequest, obstacleOf } from './group-lock.ts';

export class OrderedAcquire {
  readonly #clock: Clock;
  readonly #members: readonly ProtocolLock[];
  readonly #request: GroupRequest;
  readonly #held: LockHold[] = [];
  readonly #stop = new AbortController();
  readonly #forget: (() => void)[] = [];
  #cancelExtending: CancelTimer | undefined;
  #wasBusy = false;
  #lost: LeaseLostError | undefined;

  constructor(clock: Clock, members: readonly ProtocolLock[], request: GroupRequest) {
    this.#clock = clock;
    this.#members = members;
    this.#request = request;
    const { signal } = request;
    signal?.throwIfAborted();
    if (signal !== undefined) this.#forget.push(onAbort(signal, (reason) => this.#stop.abort(reason)));
  }

  /** Whether another owner held one of the members. */
  get wasBusy(): boolean {
    return this.#wasBusy;
  }

  /** The loss of a member that was already held. */
  get lost(): LeaseLostError | undefined {
    return this.#lost;
  }

  /**
   * @param until when to stop waiting, by the clock
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
    if (failed === undefined) {
      this.#wasBusy = true;
      this.#request.trace?.contended();
    }
    await this.#unlessStopped(releaseAll(beyond));
    if (failed !== undefined) throw failed.reason;
  }

  async #waitFor(member: ProtocolLock, waitMs: number): Promise<LockHold | null> {
    const { leaseMs } = this.#request.holdOptions;
    if (leaseMs !== undefined && this.#cancelExtending === undefined) this.#extendLater(leaseMs);
    return this.#take(member, waitMs);
  }

  /** Async, so that a closed client rejects instead of throwing: the other attempts must still be undone. */
  async #take(member: ProtocolLock, waitMs: number): Promise<LockHold | null> {
    const { ownerOn, holdOptions } = this.#request;
    const limits = { waitMs, signal: this.#stop.signal };
    return member.takeAs(ownerOn(member.context), { leaseMs: holdOptions.leaseMs, isMember: true }, limits);
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

  /** If there was a wait, every lease starts anew with the last one. */
  async #complete(): Promise<readonly LockHold[]> {
    const { leaseMs } = this.#request.holdOptions;
    this.#stop.signal.throwIfAborted();
    if (this.#cancelExtending !== undefined && leaseMs !== undefined) {
      await this.#unlessStopped(Promise.all(this.#held.map((hold) => hold.extend(leaseMs))));
    }
    for (const hold of this.#held) hold.assertHeld();
    return this.#held;
  }

  /** The leases of held members must not end while the caller waits for others. */
  #extendLater(leaseMs: number): void {
    this.#cancelExtending = this.#clock.inBackground(leaseMs / 3, () => {
      // A later extension may succeed where this one fails; a lost member stops the whole attempt.
      for (const hold of this.#held) hold.extend(leaseMs).catch(() => undefined);
      this.#extendLater(leaseMs);
    });
  }

  /** Two clients of one server can name the same lock: the caller would then wait for itself. */
  async #refuseTwice(next: ProtocolLock): Promise<void> {
    const namesakes = this.#held.filter((_, i) => this.#members[i]?.protocol.key === next.protocol.key);
    if (namesakes.length === 0) return;
    const { holder } = await this.#unlessStopped(obstacleOf(next));
    if (!namesakes.some(({ owner }) => owner === holder)) return;
    throw new OptionError(
      `Two members of a multi lock are the same lock, "${next.name}", through two clients of one server`,
    );
  }

  async #giveBack(): Promise<void> {
    const released = releaseAll(this.#held);
    // A caller that aborts wants to go on at once, whatever the servers do.
    if (!this.#request.signal?.aborted) await released;
  }

  async #unlessStopped<T>(doing: Promise<T>): Promise<T> {
    // After a stop nothing else handles a rejection of this promise.
    doing.catch(() => undefined);
    using waitBudget = new WaitBudget(this.#clock, Number.POSITIVE_INFINITY, [this.#stop.signal]);
    return (await waitBudget.wait(doing)) as T;
  }
}
