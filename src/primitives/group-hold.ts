/**
 * Several holds as one: held while enough of them are.
 *
 * All of them for a multi lock, a majority for a red lock. Each member is kept alive and lost by itself, by
 * its own client and its own clock; the group is lost with the member that leaves too few.
 */
import { type LeaseLostError, NotHeldError } from '../errors.ts';
import { checkLeaseMs } from '../options.ts';
import { onAbort } from '../runtime/abort.ts';
import type { Hold } from './hold.ts';

export class GroupHold implements Hold {
  readonly name: string;
  readonly owner: string;
  readonly #members: readonly Hold[];
  readonly #needed: number;
  readonly #controller = new AbortController();
  readonly #forget: (() => void)[];
  #unlocking: Promise<boolean> | undefined;

  constructor(name: string, members: readonly Hold[], needed: number) {
    this.name = name;
    this.owner = members.map(({ owner }) => owner).join(' ');
    this.#members = members;
    this.#needed = needed;
    this.#forget = members.map(({ signal }) => onAbort(signal, (reason) => this.#memberLost(reason)));
    // A member may have been lost while the others were being taken.
    const lost = members.find(({ signal }) => signal.aborted);
    if (lost !== undefined) this.#memberLost(lost.signal.reason);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The first loss that left too few members. */
  get loss(): LeaseLostError | undefined {
    return this.signal.aborted ? (this.signal.reason as LeaseLostError) : undefined;
  }

  /** How long enough members can be relied on. */
  get remainingMs(): number {
    if (this.#unlocking !== undefined || this.signal.aborted) return 0;
    const longestFirst = this.#members.map(({ remainingMs }) => remainingMs).sort((a, b) => b - a);
    return longestFirst[this.#needed - 1] ?? 0;
  }

  assertHeld(): void {
    if (this.#unlocking !== undefined) throw this.loss ?? new NotHeldError(this.name);
    // Asking the members makes those that slept past their deadline say so, which aborts our signal.
    for (const member of this.#members) {
      try {
        member.assertHeld();
      } catch (error) {
        this.#memberLost(error);
      }
    }
    this.signal.throwIfAborted();
  }

  async extend(leaseMs: number): Promise<void> {
    checkLeaseMs(leaseMs);
    this.assertHeld();
    const extended = await Promise.allSettled(this.#members.map((member) => member.extend(leaseMs)));
    this.assertHeld();
    const failed = extended.filter((outcome) => outcome.status === 'rejected');
    if (extended.length - failed.length < this.#needed) throw failed[0]?.reason;
  }

  unlock(): Promise<boolean> {
    this.#unlocking ??= this.#unlockAll();
    return this.#unlocking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const forget of this.#forget) forget();
    // Each member reports its own failed release and goes on with it in the background.
    await Promise.all(this.#members.map((member) => member[Symbol.asyncDispose]()));
  }

  async #unlockAll(): Promise<boolean> {
    for (const forget of this.#forget) forget();
    const outcomes = await Promise.allSettled(this.#members.map((member) => member.unlock()));
    const released = outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value).length;
    if (released >= this.#needed) return true;
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined && !this.signal.aborted) throw failed.reason;
    return false;
  }

  #memberLost(reason: unknown): void {
    if (this.signal.aborted) return;
    const held = this.#members.filter(({ signal }) => !signal.aborted).length;
    if (held < this.#needed) this.#controller.abort(reason);
  }
}
