/**
 * A hold: the user's handle of a held lock, which also signals the loss of the lock.
 *
 * A hold is one entry of a tenure. When the owner has entered the lock several times, its holds share the
 * lease and the loss, and each is released separately.
 */

import type { CancelTimer } from '../clock.ts';
import { type LeaseLostError, type LossReason, NotHeldError } from '../errors.ts';
import { checkLeaseMs } from '../options/checks.ts';
import type { Entry } from '../runtime/lease-deadline.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Tenure } from '../runtime/tenure.ts';
import type { HoldTrace } from '../tracing.ts';

/**
 * A held lock, as `lock()` and `tryLock()` return it.
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
  /** The owner field in Redis: `<client id>:<number>`. A hold that was passed on has the previous hold's field. */
  readonly owner: string;
  /**
   * Aborts with a `LeaseLostError` before the server can grant the lock to another owner. `unlock()` does not abort it.
   * Reading it checks the clock: `hold.signal.aborted` is right even if the process slept and no timer has run yet.
   */
  readonly signal: AbortSignal;
  /** How long the holder can rely on the hold without another renewal, by the monotonic clock; 0 when it is over. */
  readonly remainingMs: number;
  /**
   * Throws when the hold is over, even if the process slept and no timer has run yet.
   *
   * @throws LeaseLostError, or NotHeldError after `unlock()`
   */
  assertHeld(): void;
  /**
   * Makes the lease last at least this long from now; a longer lease is not shortened.
   *
   * @throws LeaseLostError
   */
  extend(leaseMs: number): Promise<void>;
  /**
   * Releases the hold; a second call gives the same answer.
   *
   * @returns true: released; false: the hold was already lost
   * @throws OutcomeUnknownError when the server did not answer in time; the release is retried in the background
   */
  unlock(): Promise<boolean>;
}

export interface HoldOptions {
  readonly leaseMs?: number | undefined;
  readonly maxHoldMs?: number | undefined;
  /** The members of a group are taken and released together: such a hold is not passed on. */
  readonly isMember?: boolean;
}

/** Whether the next waiter of this process may take over the tenure of such a hold. */
export function canPassOn({ leaseMs, isMember = false }: HoldOptions): boolean {
  return leaseMs === undefined && !isMember;
}

/** Few holds are followed; a field for it would take memory of every hold. */
const traces = new WeakMap<LockHold, HoldTrace>();

export class LockHold implements Hold, Entry {
  readonly name: string;
  readonly renewed: boolean;
  readonly canPassOn: boolean;
  readonly #runtime: Runtime;
  readonly #maxHoldMs: number | undefined;
  #tenure: Tenure | undefined;
  #controller: AbortController | undefined;
  #loss: LeaseLostError | undefined;
  #unlocking: Promise<boolean> | undefined;
  #cancelMaxHold: CancelTimer | undefined;

  constructor(runtime: Runtime, name: string, holdOptions: HoldOptions) {
    this.#runtime = runtime;
    this.name = name;
    this.renewed = holdOptions.leaseMs === undefined;
    this.canPassOn = canPassOn(holdOptions);
    this.#maxHoldMs = holdOptions.maxHoldMs;
  }

  /** Attaches the hold to the tenure that it has entered: from here on it is held. */
  attachTo(tenure: Tenure): this {
    this.#tenure = tenure;
    if (this.#maxHoldMs !== undefined) {
      this.#cancelMaxHold = this.#runtime.clock.inBackground(this.#maxHoldMs, () => tenure.revoke('maxHold'));
    }
    return this;
  }

  /** Undefined while nobody listens. */
  get trace(): HoldTrace | undefined {
    return traces.get(this);
  }

  followedBy(trace: HoldTrace): void {
    traces.set(this, trace);
    if (this.#loss !== undefined) trace.lost(this.#loss.reason);
  }

  get owner(): string {
    return this.#held.owner;
  }

  get signal(): AbortSignal {
    // After a blocked event loop the deadline may have passed before its timer could run.
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

  /** Why the hold was lost, if it was. */
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
      this.#runtime.longHoldWarnings?.over(this);
      const leaving = this.#held.leave(this);
      this.#unlocking = this.trace?.leaves(leaving) ?? leaving;
    }
    return this.#unlocking;
  }

  /** Ends the tenure although the holder did not ask for it. */
  revoke(reason: LossReason): void {
    if (this.#unlocking === undefined) this.#tenure?.revoke(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.unlock();
    } catch (error) {
      // The release goes on in the background. Throwing here would mask an error of the block itself.
      this.#runtime.report('error', { error, during: `release "${this.name}"` });
    }
  }

  onLost(error: LeaseLostError): void {
    this.#loss = error;
    this.#cancelMaxHold?.();
    this.#runtime.longHoldWarnings?.over(this);
    this.#controller?.abort(error);
    this.trace?.lost(error.reason);
  }

  get #held(): Tenure {
    if (this.#tenure === undefined) throw new NotHeldError(this.name);
    return this.#tenure;
  }
}
