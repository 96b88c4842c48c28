/**
 * A permit while it is held, and the signal that its lease has ended.
 *
 * A permit with a lease has a tenure, as the hold of a lock does. A permanent permit needs no renewal and cannot
 * expire: it is only given back.
 */
import { LeaseLostError, NotHeldError } from '../errors.ts';
import { checkLeaseMs } from '../options/checks.ts';
import { UNANSWERED_MS } from '../requests/answer-retention.ts';
import type { Entry, Grant } from '../runtime/lease-deadline.ts';
import type { Renew } from '../runtime/protocol.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { Tenure } from '../runtime/tenure.ts';
import type { HoldTrace } from '../tracing.ts';
import type { ExpirablePermitProtocol } from './expirable-permit-protocol.ts';

/** How to take permits. */
export interface PermitOptions {
  /** The permit expires after this time; `Infinity`: never. Left out, the watchdog keeps it while the process lives. */
  leaseMs?: number | undefined;
  /** Stops the waiting; the call rejects with the signal's reason and takes nothing. */
  signal?: AbortSignal | undefined;
}

/** How to try to take permits. */
export interface TryPermitOptions extends PermitOptions {
  /** How long to wait at most; 0, the default, tries once. */
  waitMs?: number | undefined;
}

/** How to take a permit for some work. */
export interface WithExpirablePermitOptions {
  /** How long to wait at most, then `AcquireTimeoutError`; default: no limit. */
  waitMs?: number | undefined;
  /** The permit expires after this time, done or not. Left out, the watchdog keeps it while the work runs. */
  leaseMs?: number | undefined;
  /** Stops the waiting; the call rejects with the signal's reason and takes nothing. */
  signal?: AbortSignal | undefined;
}

/**
 * A permit of a permit-expirable semaphore, as `acquire()` returns it.
 *
 * @example
 * ```ts
 * const seats = client.getPermitExpirableSemaphore('licence-seats');
 * await seats.trySetPermits(2);
 * await using seat = await seats.acquire();
 * console.log(seat.id.length); // 32
 * seat.assertHeld(); // the line before a side effect
 * ```
 */
export interface Permit extends AsyncDisposable {
  /** The name of the semaphore. */
  readonly name: string;
  /** 32 lower-case hex digits. Any client, in any language, can release or extend the permit by this id. */
  readonly id: string;
  /**
   * Aborts with a `LeaseLostError` before the server can give the permit to another client. `release()` does not
   * abort it. Reading the property checks the clock, as with a hold.
   */
  readonly signal: AbortSignal;
  /** How long the holder may rely on it without a renewal; 0 when it has ended, `Infinity` when it is permanent. */
  readonly remainingMs: number;
  /**
   * Throws when the permit is no longer held, even if the process slept and no timer has fired yet.
   *
   * @throws LeaseLostError, or NotHeldError after `release()`
   */
  assertHeld(): void;
  /**
   * Makes the lease last at least this long from now; a longer lease is not shortened. A permanent permit stays
   * permanent.
   *
   * @throws LeaseLostError, or NotHeldError after `release()`
   */
  extend(leaseMs: number): Promise<void>;
  /**
   * Gives the permit back; a second call returns the same result.
   *
   * @returns true: released; false: the permit had been lost before
   * @throws OutcomeUnknownError when the server did not answer in time; the release is repeated in the background
   */
  release(): Promise<boolean>;
}

/** The held permits of one client: renewed together, and found by their ids while user code references them. */
export class HeldPermits {
  readonly renew: Renew;
  /** Weak, because another client may release a permanent permit by its id, and this client never learns of it. */
  readonly #byId = new Map<string, WeakRef<HeldPermit>>();
  readonly #collected = new FinalizationRegistry<string>((id) => this.#byId.delete(id));

  constructor(renew: Renew) {
    this.renew = renew;
  }

  find({ key }: ExpirablePermitProtocol, id: string): HeldPermit | undefined {
    const permit = this.#byId.get(id)?.deref();
    return permit?.protocol.key === key ? permit : undefined;
  }

  add(permit: HeldPermit): void {
    this.#byId.set(permit.id, new WeakRef(permit));
    this.#collected.register(permit, permit.id, permit);
  }

  remove(permit: HeldPermit): void {
    this.#byId.delete(permit.id);
    this.#collected.unregister(permit);
  }
}

export class HeldPermit implements Permit, Entry {
  readonly id: string;
  readonly protocol: ExpirablePermitProtocol;
  renewed: boolean;
  readonly #runtime: Runtime;
  readonly #held: HeldPermits;
  /** An attempt to take this permit may still be on its way. */
  readonly #isDoubtful: boolean;
  #controller: AbortController | undefined;
  /** Undefined while the permit is permanent. */
  #tenure: Tenure | undefined;
  #loss: LeaseLostError | undefined;
  #releasing: Promise<boolean> | undefined;
  #trace: HoldTrace | undefined;

  constructor(
    runtime: Runtime,
    held: HeldPermits,
    protocol: ExpirablePermitProtocol,
    grant: Grant,
    renewed: boolean,
  ) {
    this.id = grant.owner;
    this.protocol = protocol;
    this.renewed = renewed;
    this.#runtime = runtime;
    this.#held = held;
    this.#isDoubtful = grant.doubtful ?? false;
    held.add(this);
    this.#tenure = this.#tenureFor(grant);
  }

  get name(): string {
    return this.protocol.name;
  }

  /** A permit is its own owner: the server knows it by its id. */
  get owner(): string {
    return this.id;
  }

  followedBy(trace: HoldTrace): void {
    this.#trace = trace;
    if (this.#loss !== undefined) trace.lost(this.#loss.reason);
  }

  get signal(): AbortSignal {
    // After a blocked event loop the deadline may have passed before its timer could fire.
    this.#tenure?.checkDeadline();
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#loss !== undefined) this.#controller.abort(this.#loss);
    }
    return this.#controller.signal;
  }

  /** Whether the permit is being given back, or has been. */
  get isLeft(): boolean {
    return this.#releasing !== undefined;
  }

  get remainingMs(): number {
    if (this.#releasing !== undefined || this.#loss !== undefined) return 0;
    return this.#tenure?.remainingMs ?? Number.POSITIVE_INFINITY;
  }

  assertHeld(): void {
    if (this.#releasing === undefined) this.#tenure?.assertHeld();
    if (this.#loss !== undefined) throw this.#loss;
    if (this.#releasing !== undefined)
      throw new NotHeldError(this.name, 'granted this permit, and the permit has been released');
  }

  async extend(leaseMs: number): Promise<void> {
    checkLeaseMs(leaseMs);
    this.assertHeld();
    await this.#tenure?.extend(leaseMs);
  }

  release(): Promise<boolean> {
    this.#runtime.longHoldWarnings?.over(this);
    if (this.#releasing === undefined) {
      const leaving = this.#giveBack();
      this.#releasing = this.#trace?.leaves(leaving) ?? leaving;
    }
    return this.#releasing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.release();
    } catch (error) {
      // The release is retried in the background. Throwing here would mask an error of the block itself.
      this.#runtime.report('error', { error, during: `release a permit of "${this.name}"` });
    }
  }

  onLost(error: LeaseLostError): void {
    this.#loss = error;
    this.#runtime.longHoldWarnings?.over(this);
    this.#held.remove(this);
    this.#controller?.abort(error);
    this.#trace?.lost(error.reason);
  }

  /**
   * To be called before the server is asked for another lease by id. Until it answers, either lease may be in force:
   * the holder relies on the shorter one. The watchdog stops renewing the permit.
   *
   * @returns a callback for the server's answer
   */
  leaseChanging(sentAt: number, leaseMs: number): (isUpdated: boolean) => void {
    if (
      this.#releasing !== undefined ||
      this.#loss !== undefined ||
      this.#tenure?.checkDeadline() === false
    ) {
      return () => {};
    }
    this.renewed = false;
    const wanted: Grant = { owner: this.id, sentAt, leaseMs };
    const known = this.#tenure?.endLocally() ?? { ...wanted, leaseMs: Number.POSITIVE_INFINITY };
    const isLonger = known.sentAt + known.leaseMs < sentAt + leaseMs;
    const [shorter, longer] = isLonger ? [known, wanted] : [wanted, known];
    const tenure = this.#tenureFor(shorter);
    // The server may have the longer lease. Retries of a release must end even if that lease never does.
    tenure?.asked(sentAt, Math.min(longer.leaseMs, shorter.leaseMs + UNANSWERED_MS));
    this.#tenure = tenure;
    return (isUpdated) => {
      // The lease was changed again, or the permit given back: this answer is out of date.
      if (this.#tenure !== tenure || this.#releasing !== undefined) return;
      // The deadline may have passed unnoticed before the answer came.
      if (this.#loss !== undefined || tenure?.checkDeadline() === false) return;
      if (!isUpdated) this.#lose();
      else {
        tenure?.endLocally();
        this.#tenure = this.#tenureFor(wanted);
      }
    };
  }

  /**
   * To be called before a release by id together with others, all or none. The renewal stops meanwhile: after the
   * release it would report the permit as lost.
   *
   * @returns a callback for whether the permit was given back
   */
  leaving(): (isReleased: boolean) => void {
    const { watchdog } = this.#runtime;
    const tenure = this.#tenure;
    if (tenure !== undefined) watchdog.unwatch(tenure);
    tenure?.armDeadlineTimer();
    return (isReleased) => {
      if (this.#releasing !== undefined || this.#loss !== undefined) return;
      if (isReleased) {
        this.#runtime.longHoldWarnings?.over(this);
        this.#held.remove(this);
        this.#releasing = Promise.resolve(true);
        this.#trace?.released();
        this.#tenure?.endLocally();
      } else if (this.renewed && tenure?.isHeld) {
        watchdog.watch(tenure);
      }
    };
  }

  async #giveBack(): Promise<boolean> {
    try {
      return await (this.#tenure?.leave(this) ??
        this.protocol.releaseSurely(this.#runtime, this.id, this.id));
    } finally {
      this.#held.remove(this);
    }
  }

  #tenureFor(grant: Grant): Tenure | undefined {
    if (grant.leaseMs === Number.POSITIVE_INFINITY) return undefined;
    const terms = { ...grant, doubtful: this.#isDoubtful };
    return new Tenure(this.#runtime, this.protocol, terms, this);
  }

  /** The server no longer has the permit. */
  #lose(): void {
    if (this.#tenure !== undefined) this.#tenure.lose('notOwner');
    else this.onLost(new LeaseLostError(this.name, this.id, 'notOwner'));
  }
}
