/**
 * Try, wait, try again: how everything that can be waited for is acquired.
 *
 * An acquisition is one caller's wish, from the call to its answer. It knows no primitive: a subclass says how to
 * attempt, what an answer means, and how to undo an attempt nobody knows the outcome of. The first step is an attempt
 * and nothing else; the line, the wake-ups, the limits and the abort are there once the caller has to wait.
 */

import type { CancelTimer } from '../clock.ts';
import { OutcomeUnknownError } from '../errors.ts';
import type { Link } from '../linked-list.ts';
import { classify, errorOfAll, isSlotMoving, mayHaveRun } from '../outcome.ts';
import { onAbort } from './abort.ts';
import { Backoff } from './backoff.ts';
import type { Line, Waiter } from './line.ts';
import { jittered } from './poller.ts';
import type { Interruptible, Runtime } from './runtime.ts';
import type { Tenure } from './tenure.ts';

/** How a head of the line learns that it is worth trying again. */
export type Waiting =
  | {
      readonly kind: 'messages';
      readonly channel: string;
      readonly pollMs: number;
      /** A key that is there exactly while others have it: many such are looked at together. */
      readonly peekKey?: string;
    }
  | { readonly kind: 'spin'; readonly nextDelayMs: () => number };

/** How long a caller is ready to wait, and what else ends its wait. */
export interface Limits {
  /** 0 is one try. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** @typeParam T what the caller gets; @typeParam A what an attempt is answered */
export abstract class Acquisition<T, A> implements Waiter {
  next: Waiter | undefined;
  previous: Waiter | undefined;
  protected readonly runtime: Runtime;
  readonly #lineId: string | null;
  #line: Line | undefined;
  /** Its place among all calls that are under way. */
  #place: Link<Interruptible> | undefined;
  #resolve!: (value: T | null) => void;
  #reject!: (error: unknown) => void;
  #state: 'asking' | 'queued' | 'pausing' | 'over' = 'queued';
  /** When the caller no longer wants what it waits for, by the clock. */
  #endsAt = Number.POSITIVE_INFINITY;
  /** When it must have an answer although the server gives none. */
  #settleBy = Number.POSITIVE_INFINITY;
  #hasAttempted = false;
  #hadTrouble = false;
  /** An attempt may have run, or may yet run, that nobody knows the outcome of. */
  #isInDoubt = false;
  /** The last attempt failed in a way that may pass. */
  #trouble: { readonly error: unknown; readonly backoff: Backoff } | undefined;
  #cancelLimit: CancelTimer | undefined;
  #forgetSignal: (() => void) | undefined;

  /** @param lineId acquisitions with the same id queue up together in this process; null: they do not queue */
  constructor(runtime: Runtime, lineId: string | null) {
    this.runtime = runtime;
    this.#lineId = lineId;
  }

  /** An attempt got no answer, so that a copy of it may come at any time. */
  protected get hadTrouble(): boolean {
    return this.#hadTrouble;
  }

  /** What is being done, for messages to people. */
  protected abstract get what(): string;
  /** How to wait; asked for when it is needed. */
  protected abstract get waiting(): Waiting;
  /** There may be room for many: newcomers ask side by side, and who is let in has the next try at once. */
  protected get isShared(): boolean {
    return false;
  }
  /** It looks before it queues up, though others wait: they may not have heard what it finds. */
  protected get asksFirst(): boolean {
    return false;
  }
  /** An attempt ends within one command time-out by itself. */
  protected get isBounded(): boolean {
    return true;
  }
  /** Asks the server once. Repeating it must be harmless: after a lost reply it is simply asked again. */
  protected abstract attempt(): Promise<A>;
  /** How long it is taken by others, negative when that is not known; undefined when it was granted. */
  protected abstract busyMs(answer: A): number | undefined;
  /**
   * It was granted: makes of it what the caller gets, in the turn in which the answer was decoded.
   *
   * @param isDoubtful an earlier attempt was never answered and may still be on its way
   * @throws what the caller gets instead; the grant is then abandoned
   */
  protected abstract accept(answer: A, isDoubtful: boolean): T;
  /** What the caller gets of a tenure that its holder hands on; undefined when it cannot have it. */
  protected takeOver(_tenure: Tenure): T | undefined {
    return undefined;
  }
  /** An attempt may have run, or may yet run, and nobody wants it: makes sure that it comes to nothing. */
  protected abstract abandon(): void;
  /** The caller has given up, and no attempt is in doubt: leaves the queue that the attempts joined, if they did. */
  protected withdraw(): boolean {
    return false;
  }

  /**
   * Resolves with what was granted, or with null when the caller's time is over.
   *
   * With an unreachable server, a caller that limits its wait gets an error at most `commandTimeoutMs` after
   * that limit, and one that sets no limit after `commandTimeoutMs`, unless it was waiting already: who has
   * been told to wait, or queues behind others, waits out the outage. A slot that moves is nothing but a reason to wait.
   *
   * Rejects with the abort reason, or a HoldfastError.
   */
  take({ waitMs, signal }: Limits): Promise<T | null> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.runtime.assertOpen();
      signal?.throwIfAborted();
      const now = this.runtime.clock.now();
      this.#endsAt = now + waitMs;
      this.#settleBy =
        (waitMs === Number.POSITIVE_INFINITY ? now : this.#endsAt) + this.runtime.commandTimeoutMs;
      const hasOthers = this.runtime.lineOf(this.#lineId) !== undefined;
      // One try only, and others of this process wait already: it could not be its turn.
      if (waitMs === 0 && hasOthers && !this.isShared) {
        resolve(null);
        return;
      }
      this.#place = this.runtime.underWay.add(this);
      if (signal !== undefined) this.#forgetSignal = onAbort(signal, (reason) => this.interrupt(reason));
      if (!this.isShared) this.#queue(this.#lineId);
      // Where there is room for many, who tries only once does not wait for those who wait.
      else if (waitMs === 0) this.#queue(null);
      else if (hasOthers && !this.asksFirst) this.#queue(this.#lineId);
      else this.#ask();
    });
  }

  /** Ends it: the caller aborts, or the client closes. */
  interrupt(reason: unknown): void {
    if (this.#state !== 'over') this.#fail(reason);
  }

  /** The line has come to it, or something happened that it should look at. */
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
    // What it asked for itself may still be granted to it.
    if (this.#state === 'asking' || this.#state === 'over' || this.#isInDoubt) return false;
    const value = this.takeOver(tenure);
    if (value === undefined) return false;
    this.#hasAttempted = false;
    this.#line?.granted(this.#pollMs());
    this.#end(() => this.#resolve(value));
    return true;
  }

  #queue(lineId: string | null): void {
    this.#state = 'queued';
    this.#line = this.runtime.line(lineId);
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
    this.#line?.attempting();
    // A single command has a deadline of its own; repeated ones could add up.
    if (this.isBounded && this.#trouble === undefined) this.#cancelLimit?.();
    else this.#limit(this.#settleBy);
    this.#attemptSurely().then(
      (answer) => {
        if (this.#state === 'asking') this.#answered(answer, wasInDoubt);
      },
      (error: unknown) => {
        if (this.#state === 'asking') this.#failed(error, wasInDoubt);
      },
    );
  }

  /** What is thrown before anything is sent must not reach whoever made room for this one. */
  #attemptSurely(): Promise<A> {
    try {
      return this.attempt();
    } catch (error) {
      return Promise.reject(error);
    }
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
    this.#trouble = undefined;
    this.#waitForEver();
    if (this.runtime.clock.now() >= this.#endsAt) {
      this.#end(() => this.#resolve(null));
      return;
    }
    const { waiting } = this;
    if (waiting.kind === 'spin') {
      this.#wait((line) => line.foundBusy(waiting.nextDelayMs()));
      return;
    }
    this.#wait((line) => {
      line.peekKey = waiting.peekKey ?? '';
      line.foundTaken(busyMs, waiting.pollMs);
      line.listenTo(waiting.channel);
    });
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
    if (this.#line?.hasOthers) this.#line.granted(this.#pollMs());
    this.#end(() => this.#resolve(value));
  }

  /** After what time the next in line looks although nothing was heard. */
  #pollMs(): number {
    const { waiting } = this;
    return waiting.kind === 'messages' && !this.isShared ? jittered(waiting.pollMs) : 0;
  }

  #failed(error: unknown, wasInDoubt: boolean): void {
    this.#hadTrouble = true;
    if (!mayHaveRun(error)) this.#isInDoubt = wasInDoubt;
    // Half of the slot has moved: that is no outage, and ends by itself.
    if (isSlotMoving(error)) this.#waitForEver();
    const isFinal = classify(error) === 'refused' || this.runtime.clock.now() >= this.#settleBy;
    if (isFinal) {
      this.#fail(errorOfAll(error, this.#isInDoubt, this.what));
      return;
    }
    const { backoff } = this.#trouble ?? { backoff: new Backoff(20, 1_000) };
    this.#trouble = { error, backoff };
    const pauseMs = backoff.next();
    this.#wait((line) => line.foundBusy(pauseMs));
  }

  /** Tells the line what was found, and waits; asked beside others so far, it queues up now. */
  #wait(tell: (line: Line) => void): void {
    this.#state = 'pausing';
    const line = this.#line ?? this.runtime.line(this.#lineId);
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

  /** Who waits without a limit, and has been told to, waits out an outage. */
  #waitForEver(): void {
    if (this.#endsAt === Number.POSITIVE_INFINITY) this.#settleBy = this.#endsAt;
  }

  #limit(at: number): void {
    this.#cancelLimit?.();
    this.#cancelLimit = undefined;
    if (at === Number.POSITIVE_INFINITY) return;
    const { clock } = this.runtime;
    this.#cancelLimit = clock.after(Math.max(0, at - clock.now()), () => {
      if (this.#state === 'asking') this.#fail(new OutcomeUnknownError(`No answer in time: ${this.what}`));
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
    settle();
    if (this.#isInDoubt) this.abandon();
    // What this one was woken for, or had noted on the server, is as much the next one's. That one must not miss the
    // first, nor be found missing for want of the second: its attempt follows what undoes those of this one.
    if (this.#isInDoubt || (this.#hasAttempted && this.withdraw())) this.#line?.wake();
    this.#line?.leave(this);
  }
}
