/**
 * Several holds as one: held while enough members are held.
 *
 * A multi lock needs all members, a red lock a majority. Each member is renewed and lost separately, by its
 * client and its clock; the group is lost with the member that leaves too few. Other files take the members
 * and decide the order.
 */

import { tracesReleases } from '../channels.ts';
import type { CancelTimer } from '../clock.ts';
import { LeaseLostError, NotHeldError } from '../errors.ts';
import type { Hold, LockHold } from '../locks/hold.ts';
import { checkLeaseMs } from '../options/checks.ts';
import { onAbort } from '../runtime/abort.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type HoldTrace, traceRelease } from '../tracing.ts';

/** The lock that is held. */
interface Group {
  readonly kind: 'multi' | 'red';
  readonly name: string;
  readonly needed: number;
}

/** The number of positive answers, and the first failure. */
interface Tally {
  readonly yes: number;
  readonly failure: unknown;
}

/**
 * Counts until enough answers are positive or all have arrived: a server that is down must not delay a
 * majority. Failures after that go to `whenLate`.
 */
function tally(
  answers: readonly Promise<boolean>[],
  enough: number,
  whenLate: (error: unknown) => void,
): Promise<Tally> {
  return new Promise((resolve) => {
    let [yes, open] = [0, answers.length];
    let failure: unknown;
    let isOver = false;
    const count = () => {
      open -= 1;
      if (isOver || (yes < enough && open > 0)) return;
      isOver = true;
      resolve({ yes, failure });
    };
    for (const answer of answers) {
      answer.then(
        (isYes) => {
          if (isYes) yes += 1;
          count();
        },
        (error: unknown) => {
          if (isOver) whenLate(error);
          failure ??= error;
          count();
        },
      );
    }
  });
}

/** Releases holds. A failed release is reported and goes on in the background. */
export async function releaseAll(holds: readonly Hold[]): Promise<void> {
  await Promise.all(holds.map((hold) => hold[Symbol.asyncDispose]()));
}

export class GroupHold implements Hold {
  readonly name: string;
  readonly #runtime: Runtime;
  readonly #kind: Group['kind'];
  readonly #needed: number;
  readonly #members: LockHold[] = [];
  readonly #controller = new AbortController();
  readonly #forget: (() => void)[] = [];
  #loss: LeaseLostError | undefined;
  #unlocking: Promise<boolean> | undefined;
  #cancelTimer: CancelTimer | undefined;
  #trace: HoldTrace | undefined;

  /** @param runtime has the clock and the events that the group uses */
  constructor(
    runtime: Runtime,
    { kind, name, needed }: Group,
    members: readonly LockHold[],
    maxHoldMs: number | undefined,
  ) {
    this.#runtime = runtime;
    this.#kind = kind;
    this.name = name;
    this.#needed = needed;
    this.#members.push(...members);
    if (maxHoldMs !== undefined) {
      this.#cancelTimer = runtime.clock.inBackground(maxHoldMs, () => {
        for (const member of this.#members) member.revoke('maxHold');
      });
    }
    for (const member of members) this.#watch(member);
  }

  followedBy(trace: HoldTrace): void {
    this.#trace = trace;
    if (this.#loss !== undefined) trace.lost(this.#loss.reason);
    for (const member of this.#members) this.#follow(member);
  }

  /** The owner fields of the members, one after the other. */
  get owner(): string {
    return this.#members.map(({ owner }) => owner).join(' ');
  }

  get signal(): AbortSignal {
    // Asking the members detects deadlines that passed while the process slept, which may end the group.
    this.#heldMembers();
    return this.#controller.signal;
  }

  /** Why the group was lost; its cause is the loss of the member that left too few. */
  get loss(): LeaseLostError | undefined {
    return this.#loss;
  }

  /** How long the holder can rely on enough members. */
  get remainingMs(): number {
    if (this.#unlocking !== undefined || this.#loss !== undefined) return 0;
    const longestFirst = this.#members.map(({ remainingMs }) => remainingMs).sort((a, b) => b - a);
    return longestFirst[this.#needed - 1] ?? 0;
  }

  /** Adds a member that was granted after the group: one more member may then fail. */
  join(member: LockHold): void {
    if (this.#unlocking !== undefined || this.#loss !== undefined) {
      void member[Symbol.asyncDispose]();
      return;
    }
    this.#members.push(member);
    this.#watch(member);
    if (this.#trace !== undefined) this.#follow(member);
  }

  assertHeld(): void {
    if (this.#unlocking !== undefined) throw this.#loss ?? new NotHeldError(this.name);
    let held = 0;
    let why: unknown;
    // Asking the members detects deadlines that passed while the process slept, which may end the group.
    for (const member of this.#members) {
      try {
        member.assertHeld();
        held += 1;
      } catch (error) {
        why ??= error;
      }
    }
    if (this.#loss !== undefined) throw this.#loss;
    // Nothing was lost: the caller released members one by one.
    if (held < this.#needed) throw why;
  }

  async extend(leaseMs: number): Promise<void> {
    checkLeaseMs(leaseMs);
    this.assertHeld();
    const answers = this.#members.map((member) => member.extend(leaseMs).then(() => true));
    // A late failure is that of a member that is not needed; if it matters, the member is lost later.
    const { yes, failure } = await tally(answers, this.#needed, () => {});
    this.assertHeld();
    if (yes < this.#needed) throw failure;
  }

  unlock(): Promise<boolean> {
    if (this.#unlocking === undefined) {
      const leaving = this.#release();
      this.#unlocking = this.#trace?.leaves(leaving) ?? leaving;
    }
    return this.#unlocking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.unlock();
    } catch (error) {
      // Throwing here would mask an error of the block itself.
      this.#tellFailure(error);
    }
  }

  #release(): Promise<boolean> {
    if (!tracesReleases()) return this.#unlockAll();
    const about = { kind: this.#kind, name: this.name, owner: this.owner };
    return traceRelease(
      this.#runtime,
      about,
      () => this.#unlockAll(),
      (wasHeld) => !wasHeld,
    );
  }

  async #unlockAll(): Promise<boolean> {
    this.#cancelTimer?.();
    for (const forget of this.#forget) forget();
    const answers = this.#members.map((member) => member.unlock());
    const { yes, failure } = await tally(answers, this.#needed, (error) => this.#tellFailure(error));
    if (this.#loss !== undefined) return false;
    if (yes >= this.#needed) return true;
    if (failure !== undefined) throw failure;
    return false;
  }

  #watch({ signal }: Hold): void {
    this.#forget.push(onAbort(signal, (reason) => this.#memberLost(reason)));
    if (signal.aborted) this.#memberLost(signal.reason);
  }

  /** The owner may release the members one by one: the group is then released with the one that leaves too few. */
  #follow({ trace }: LockHold): void {
    trace?.whenReleased(() => {
      const held = this.#members.filter((member) => member.trace?.isOver !== true).length;
      if (this.#unlocking === undefined && held < this.#needed) this.#trace?.released();
    });
  }

  #memberLost(cause: unknown): void {
    const held = this.#heldMembers();
    if (held.length >= this.#needed || this.#loss !== undefined) return;
    this.#cancelTimer?.();
    const reason = cause instanceof LeaseLostError ? cause.reason : 'notOwner';
    this.#loss = new LeaseLostError(this.name, this.owner, reason, { cause });
    // The holder may still be stopping until the last deadline it knew of. Then the other members end too; they
    // would otherwise be renewed for as long as the process lives.
    const knownMs = Math.max(0, ...held.map(({ remainingMs }) => remainingMs));
    this.#cancelTimer = this.#runtime.clock.inBackground(knownMs, () => void releaseAll(held));
    this.#controller.abort(this.#loss);
    this.#trace?.lost(reason);
  }

  #heldMembers(): LockHold[] {
    return this.#members.filter(({ signal }) => !signal.aborted);
  }

  #tellFailure(error: unknown): void {
    this.#runtime.report('error', { error, during: `release "${this.name}"` });
  }
}
