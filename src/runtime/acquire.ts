/**
 * The acquire loop of every primitive: attempt, wait, attempt again.
 *
 * An acquisition is one caller's request, from the call to its result. It knows no primitive: a subclass defines how to
 * attempt, what an answer means, and how to undo an attempt with an unknown outcome. The first step is an attempt and
 * nothing else; the line, the wake-ups, the limits and the abort matter only once the caller has to wait.
 */
import type { CancelTimer } from '../clock.ts';
import type { Link } from '../linked-list.ts';
import { classify, errorOfAll, isSlotMoving, mayHaveRun, unanswered } from '../outcome.ts';
import type { AcquireTrace } from '../tracing.ts';
import { onAbort } from './abort.ts';
import { Backoff } from './backoff.ts';
import { type Line, nextLookMs, type Waiter } from './line.ts';
import type { Waiting } from './protocol.ts';
import type { PendingCall, Runtime } from './runtime.ts';
import type { Tenure } from './tenure.ts';
import type { Limits } from './wait-budget.ts';

/** Turns a thrown error into a rejection, as an async function does, but without its extra microtasks. */
export function promised<T>(begin: () => Promise<T>): Promise<T> {
  try {
    return begin();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** @typeParam T what the caller gets; @typeParam A the answer to an attempt */
export abstract class Acquisition<T, A> implements Waiter, PendingCall {
  next: Waiter | undefined;
  previous: Waiter | undefined;
  protected readonly runtime: Runtime;
  readonly #lineId: string | null;
  #line: Line | undefined;
  /** Its place in the list of calls under way. */
  #place: Link<PendingCall> | undefined;
  #resolve!: (value: T | null) => void;
  #reject!: (error: unknown) => void;
  #state: 'asking' | 'queued' | 'pausing' | 'over' = 'queued';
  /** When the caller's wait ends, by the clock. */
  #endsAt = Number.POSITIVE_INFINITY;
  /** When the call must settle even if the server does not answer. */
  #settleBy = Number.POSITIVE_INFINITY;
  #hasAttempted = false;
  /** An attempt with an unknown outcome may have run, or may still run. */
  #isInDoubt = false;
  /** The last attempt failed, but a retry may succeed. */
  #trouble: { readonly error: unknown; readonly backoff: Backoff } | undefined;
  #cancelLimit: CancelTimer | undefined;
  #forgetSignal: (() => void) | undefined;
  #trace: AcquireTrace | undefined;

  /** @param lineId acquisitions with the same id queue up together in this process; null: they do not queue */
  constructor(runtime: Runtime, lineId: string | null) {
    this.runtime = runtime;
    this.#lineId = lineId;
  }

  /** What is acquired, by the user's name for it. */
  abstract get name(): string;
  /** The operation, for error messages. */
  protected abstract get what(): string;
  /** How to wait; read only when needed. */
  protected abstract get waiting(): Waiting;
  /** Many may hold it: new callers attempt in parallel, and after a grant the next waiter attempts at once. */
  protected get isShared(): boolean {
    return false;
  }
  /** It attempts before it joins the line, even if others wait: they may have missed a wake-up. */
  protected get asksFirst(): boolean {
    return false;
  }
  /** Its owner holds more than it asks for, as a writer that begins to read: it takes nothing from others. */
  get isDowngrade(): boolean {
    return false;
  }
  /** An attempt always settles within one command time-out. */
  protected get isBounded(): boolean {
    return true;
  }
  /**
   * Asks the server once. Must be idempotent: after a lost reply it is called again.
   *
   * @param isDoubtful an earlier attempt was never answered, and a copy of it may arrive at any time
   */
  protected abstract attempt(isDoubtful: boolean): Promise<A>;
  /** For how long others hold it, or `UNKNOWN_MS`; undefined when it was granted. */
  protected abstract busyMs(answer: A): number | undefined;
  /**
   * Turns a grant into the caller's result, in the turn in which the answer was decoded.
   *
   * @param isDoubtful as for `attempt`
   * @throws the caller's error; the grant is then abandoned
   */
  protected abstract accept(answer: A, isDoubtful: boolean): T;
  /** The result for a tenure that its holder passes on; undefined when this caller cannot take it. */
  protected takeOver(_tenure: Tenure): T | undefined {
    return undefined;
  }
  /** Undoes an attempt that may have run, or may still run, and is no longer wanted. */
  protected abstract abandon(): void;
  /** The caller has given up, and no attempt is in doubt: leaves the server's queue, if an attempt joined it. */
  protected withdraw(): boolean {
    return false;
  }

  /**
   * Resolves with the grant, or with null when the caller's time is over.
   *
   * While the server is unreachable, a caller with a limit gets an error at most `commandTimeoutMs` after that
   * limit. A caller without one gets it after `commandTimeoutMs`, unless it was waiting already, because the server
   * said so or others are ahead in the line: then it waits out the outage. A moving slot is only a reason to wait.
   * Rejects with the abort reason, or a HoldfastError.
   */
  take({ waitMs, signal, trace }: Limits): Promise<T | null> {
    return new Promise((resolve, reject) => {
      this.#trace = trace;
      this.#resolve = resolve;
      this.#reject = reject;
      const { closing, clock, lines, commandTimeoutMs } = this.runtime;
      if (closing !== undefined && !this.isDowngrade) throw closing;
      signal?.throwIfAborted();
      const now = clock.now();
      this.#endsAt = now + waitMs;
      this.#settleBy = (waitMs === Number.POSITIVE_INFINITY ? now : this.#endsAt) + commandTimeoutMs;
      const hasOthers = lines.waitingAt(this.#lineId) !== undefined;
      if (hasOthers) trace?.contended();
      // One attempt only, and others of this process wait already: it cannot be its turn.
      if (waitMs === 0 && hasOthers && !this.isShared) return resolve(null);
      this.#place = this.runtime.underWay.add(this);
      this.runtime.longHoldWarnings?.asks(this);
      if (signal !== undefined) this.#forgetSignal = onAbort(signal, (reason) => this.interrupt(reason));
      if (!this.isShared) this.#queue(this.#lineId);
      // Where many may hold it, a caller with a single attempt does not wait behind the line.
      else if (waitMs === 0) this.#queue(null);
      else if (hasOthers && !this.asksFirst) this.#queue(this.#lineId);
      else this.#ask();
    });
  }

  /** Called when the caller aborts or the client closes. */
  interrupt(reason: unknown): void {
    if (this.#state !== 'over') this.#fail(reason);
  }

  /** This waiter has become the head of the line, or was woken there. */
  proceed(): void {
    if (this.#state === 'asking' || this.#state === 'over') return;
    const line = this.#line as Line;
    if (line.isDue) {
      this.#ask();
      return;
    }
    this.#state = 'pausing';
    this.#limit(this.#trouble === undefined ? this.#endsAt : this.#settleBy);
    line.pause();
  }

  receive(tenure: Tenure): boolean {
    // Its own attempt may still be granted.
    if (this.#state === 'asking' || this.#state === 'over' || this.#isInDoubt) return false;
    const value = this.takeOver(tenure);
    if (value === undefined) return false;
    this.#hasAttempted = false;
    this.#line?.granted(nextLookMs(this.waiting, this.isShared));
    this.runtime.longHoldWarnings?.granted(this, value);
    this.#end(() => this.#resolve(value));
    return true;
  }

  #queue(lineId: string | null): void {
    this.#state = 'queued';
    this.#line = this.runtime.lines.at(lineId);
    if (this.#line.join(this)) {
      this.proceed();
    } else {
      this.#waitForEver();
      this.#limit(this.#endsAt);
    }
  }

  #ask(): void {
    const wasInDoubt = this.#isInDoubt;
    this.#state = 'asking';
    this.#isInDoubt = true;
    this.#hasAttempted = true;
    this.#trace?.attempted();
    this.#line?.attempting();
    // A single command has its own time-out; those of repeated ones add up.
    if (this.isBounded && this.#trouble === undefined) this.#cancelLimit?.();
    else this.#limit(this.#settleBy);
    // An error thrown before the send must not reach the code that made this waiter proceed.
    promised(() => this.attempt(wasInDoubt)).then(
      (answer) => {
        if (this.#state === 'asking') this.#answered(answer, wasInDoubt);
      },
      (error: unknown) => {
        if (this.#state === 'asking') this.#failed(error, wasInDoubt);
      },
    );
  }

  #answered(answer: A, wasInDoubt: boolean): void {
    let busyMs: number | undefined;
    try {
      busyMs = this.busyMs(answer);
    } catch (error) {
      this.#failed(error, wasInDoubt);
      return;
    }
    if (busyMs === undefined) this.#granted(answer, wasInDoubt);
    else this.#refused(busyMs, wasInDoubt);
  }

  #refused(busyMs: number, wasInDoubt: boolean): void {
    // An earlier attempt that got no answer may still be on its way: the doubt stays until one is granted.
    this.#isInDoubt = wasInDoubt;
    this.#trace?.contended();
    this.#trouble = undefined;
    this.#waitForEver();
    if (this.runtime.clock.now() >= this.#endsAt) this.#end(() => this.#resolve(null));
    else this.#wait((line) => line.found(busyMs, this.waiting));
  }

  #granted(answer: A, wasInDoubt: boolean): void {
    let value: T;
    try {
      value = this.accept(answer, wasInDoubt);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#isInDoubt = false;
    this.#hasAttempted = false;
    if (this.#line?.hasOthers) this.#line.granted(nextLookMs(this.waiting, this.isShared));
    this.runtime.longHoldWarnings?.granted(this, value);
    this.#end(() => this.#resolve(value));
  }

  #failed(error: unknown, wasInDoubt: boolean): void {
    if (!mayHaveRun(error)) this.#isInDoubt = wasInDoubt;
    // Half of the slot has moved: this is no outage, and it passes.
    if (isSlotMoving(error)) this.#waitForEver();
    const isFinal = classify(error) === 'refused' || this.runtime.clock.now() >= this.#settleBy;
    if (isFinal) {
      this.#fail(errorOfAll(error, this.#isInDoubt, this.what));
      return;
    }
    const { backoff } = this.#trouble ?? { backoff: new Backoff(20, 1_000) };
    this.#trouble = { error, backoff };
    const pauseMs = backoff.next();
    this.#wait((line) => line.lookAgainIn(pauseMs));
  }

  /** Tells the line what was found, and waits. A caller outside the line joins it now. */
  #wait(tell: (line: Line) => void): void {
    this.#state = 'pausing';
    const line = this.#line ?? this.runtime.lines.at(this.#lineId);
    if (this.#line === undefined) {
      this.#line = line;
      if (!line.isEmpty) {
        this.#queue(this.#lineId);
        return;
      }
      line.join(this);
      line.attempting();
    }
    tell(line);
    this.proceed();
  }

  /** A caller without a limit that has to wait also waits out an outage. */
  #waitForEver(): void {
    if (this.#endsAt === Number.POSITIVE_INFINITY) this.#settleBy = this.#endsAt;
  }

  #limit(at: number): void {
    this.#cancelLimit?.();
    this.#cancelLimit = undefined;
    if (at === Number.POSITIVE_INFINITY) return;
    const { clock } = this.runtime;
    this.#cancelLimit = clock.after(Math.max(0, at - clock.now()), () => {
      if (this.#state === 'asking')
        this.#fail(unanswered(this.what, 'the server did not answer in time', this.runtime.driver));
      else if (this.#trouble === undefined) this.#end(() => this.#resolve(null));
      else this.#fail(errorOfAll(this.#trouble.error, this.#isInDoubt, this.what));
    });
  }

  #fail(error: unknown): void {
    this.#end(() => this.#reject(error));
  }

  #end(settle: () => void): void {
    this.#state = 'over';
    this.#cancelLimit?.();
    this.#forgetSignal?.();
    if (this.#place !== undefined) this.runtime.underWay.remove(this.#place);
    this.runtime.longHoldWarnings?.over(this);
    settle();
    if (this.#isInDoubt) this.abandon();
    // The next waiter must not miss a wake-up that this one received, and must replace the note on the server that
    // this one withdraws. So it attempts at once, after the command that undoes the attempts of this one.
    if (this.#isInDoubt || (this.#hasAttempted && this.withdraw())) this.#line?.wake();
    this.#line?.leave(this);
  }
}
