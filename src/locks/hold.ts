/**
 * A hold: the right to go on, and the news when it ends.
 *
 * The handle of one entry of a tenure. When the lock was entered several times, the handles share the
 * lease and the loss, and each is taken back for itself.
 */

import type { CancelTimer } from '../clock.ts';
import { type LeaseLostError, type LossReason, NotHeldError } from '../errors.ts';
import { checkLeaseMs } from '../options/checks.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Entry, Tenure } from '../runtime/tenure.ts';

/**
 * What `lock()` and `tryLock()` give: a held lock.
 *
 * @example
 * ```ts
 * await using hold = await client.getLock('invoice:42').lock();
 * const answer = await fetch('https://bank.example/pay', { signal: hold.signal });
 * hold.assertHeld(); // the line before a side effect
 * ```
 */
export interface Hold extends AsyncDisposable {
  /** The name of the lock. */
  readonly name: string;
  /** The owner field in Redis: `<client id>:<number>`. A hold that was passed on has the field of the one before it. */
  readonly owner: string;
  /**
   * Aborts with a `LeaseLostError` before the server can let anyone else in. Not aborted by `unlock()`. Reading the
   * property looks at the clock: `hold.signal.aborted` is right even if the process slept and no timer has run yet.
   */
  readonly signal: AbortSignal;
  /** How long the hold can be relied on without another renewal, by the monotonic clock; 0 when it is over. */
  readonly remainingMs: number;
  /**
   * Throws when the hold is not there any more, even if the process slept and nothing could tell it yet.
   *
   * @throws LeaseLostError, or NotHeldError after `unlock()`
   */
  assertHeld(): void;
  /**
   * Makes the lease last at least this long from now; a longer one that is running is not cut.
   *
   * @throws LeaseLostError
   */
  extend(leaseMs: number): Promise<void>;
  /**
   * Gives the hold back; calling it again answers the same.
   *
   * @returns true: released; false: it had been lost before
   * @throws OutcomeUnknownError when the server did not answer in time; the release is repeated in the background
   */
  unlock(): Promise<boolean>;
}

export interface HoldOptions {
  readonly leaseMs?: number | undefined;
  readonly maxHoldMs?: number | undefined;
  /** A lock of a group is taken and given back with the others: it is not passed on. */
  readonly isMember?: boolean;
}

/** Whether a hold has nothing of its own that the next one of its process could not have. */
export function isPassedOn({ leaseMs, isMember = false }: HoldOptions): boolean {
  return leaseMs === undefined && !isMember;
}

export class LockHold implements Hold, Entry {
  readonly name: string;
  readonly renewed: boolean;
  readonly isPassedOn: boolean;
  readonly #runtime: Runtime;
  readonly #maxHoldMs: number | undefined;
  #tenure: Tenure | undefined;
  #controller: AbortController | undefined;
  #loss: LeaseLostError | undefined;
  #unlocking: Promise<boolean> | undefined;
  #cancelMaxHold: CancelTimer | undefined;

  constructor(runtime: Runtime, name: string, wish: HoldOptions) {
    this.#runtime = runtime;
    this.name = name;
    this.renewed = wish.leaseMs === undefined;
    this.isPassedOn = isPassedOn(wish);
    this.#maxHoldMs = wish.maxHoldMs;
  }

  /** Puts the handle on the tenure it has become an entry of: from here on it is held. */
  standOn(tenure: Tenure): this {
    this.#tenure = tenure;
    if (this.#maxHoldMs !== undefined) {
      this.#cancelMaxHold = this.#runtime.clock.inBackground(this.#maxHoldMs, () => tenure.revoke('maxHold'));
    }
    return this;
  }

  get owner(): string {
    return this.#held.owner;
  }

  get signal(): AbortSignal {
    // After a blocked event loop the deadline may have passed without a timer that could tell.
    this.#tenure?.checkDeadline();
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#loss !== undefined) this.#controller.abort(this.#loss);
    }
    return this.#controller.signal;
  }

  /** The fencing token; a hold of a fenced lock always has one. */
  get token(): number | undefined {
    return this.#held.token;
  }

  /** Why it was lost, once it is. */
  get loss(): LeaseLostError | undefined {
    return this.#loss;
  }

  get remainingMs(): number {
    return this.#unlocking === undefined ? this.#held.remainingMs : 0;
  }

  assertHeld(): void {
    if (this.#unlocking !== undefined) throw this.#loss ?? new NotHeldError(this.name);
    this.#held.assertHeld();
  }

  async extend(leaseMs: number): Promise<void> {
    checkLeaseMs(leaseMs);
    if (this.#unlocking !== undefined) throw this.#loss ?? new NotHeldError(this.name);
    await this.#held.extend(leaseMs);
  }

  unlock(): Promise<boolean> {
    if (this.#unlocking === undefined) {
      this.#cancelMaxHold?.();
      this.#unlocking = this.#held.leave(this);
    }
    return this.#unlocking;
  }

  /** Ends what it stands on, without its holder's doing. */
  revoke(reason: LossReason): void {
    if (this.#unlocking === undefined) this.#tenure?.revoke(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.unlock();
    } catch (error) {
      // The release goes on in the background. Throwing here would mask what the block itself threw.
      this.#runtime.report('error', { error, during: `release "${this.name}"` });
    }
  }

  onLost(error: LeaseLostError): void {
    this.#loss = error;
    this.#cancelMaxHold?.();
    this.#controller?.abort(error);
  }

  get #held(): Tenure {
    if (this.#tenure === undefined) throw new NotHeldError(this.name);
    return this.#tenure;
  }
}
