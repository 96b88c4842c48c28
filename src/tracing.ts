/**
 * Publishes operations on their tracing channels, step by step. Used only while somebody listens: whoever begins an
 * operation asks `channels.ts` first.
 *
 * The steps are those of Node's `tracePromise`: `start` inside the call, `end` when it returns its promise, then `error`
 * if it rejects, `asyncStart` and `asyncEnd`. Stores bound to `start` apply to all that the operation calls.
 */
import type { TracingChannel } from 'node:diagnostics_channel';
import {
  type AcquireMessage,
  acquireChannel,
  type HoldMessage,
  holdChannel,
  type ReleaseMessage,
  type RenewMessage,
  releaseChannel,
  renewChannel,
  type Subject,
} from './channels.ts';
import type { Clock } from './clock.ts';
import { ClosedError, type LossReason, NotHeldError } from './errors.ts';
import type { PrimitiveKind } from './events.ts';

/** The client of an operation: its runtime. */
interface Teller {
  readonly clientId: string;
  readonly label: string;
  readonly clock: Clock;
}

/** What an operation is about. */
interface About {
  readonly kind: PrimitiveKind;
  readonly name: string;
  readonly owner?: string | undefined;
  readonly permits?: number | undefined;
  readonly isMember?: boolean | undefined;
}

/** A hold, a permit or a section with permits, as a call that acquires returns it. */
interface Followed {
  readonly owner: string | undefined;
  readonly token?: number | undefined;
  /** Undefined for a section: its permits have no lease, and the section has an end. */
  readonly remainingMs?: number;
  /** Tells the trace when the hold ends. */
  followedBy(trace: HoldTrace): void;
}

function subjectOf({ clientId, label }: Teller, { kind, name }: About): Subject {
  return { clientId, label, kind, name };
}

/** Runs the call; `complete` fills in the message before the last steps. */
function trace<Message extends { error?: unknown }, T>(
  { start, end, asyncStart, asyncEnd, error: failed }: TracingChannel<unknown, Message>,
  message: Message,
  call: () => Promise<T>,
  complete: (answer: { readonly value: T } | { readonly error: unknown }) => void,
): Promise<T> {
  const running = start.runStores(message, (): Promise<T> => {
    try {
      return call();
    } catch (error) {
      return Promise.reject(error);
    } finally {
      end.publish(message);
    }
  });
  return running.then(
    (value) => {
      complete({ value });
      if (message.error !== undefined) failed.publish(message);
      asyncStart.publish(message);
      asyncEnd.publish(message);
      return value;
    },
    (error: unknown) => {
      message.error = error;
      complete({ error });
      failed.publish(message);
      asyncStart.publish(message);
      asyncEnd.publish(message);
      throw error;
    },
  );
}

/** What is counted while a call tries to acquire something. */
export class AcquireTrace {
  attempts = 0;
  isContended = false;

  /** An attempt is sent to the server. */
  attempted(): void {
    this.attempts += 1;
  }

  /** Others have it, or are ahead in this process. */
  contended(): void {
    this.isContended = true;
  }
}

/** Follows a call that acquires something, and after it the holds that it returns. Resolves as the call does. */
export function traceAcquire<Limits extends { readonly signal?: AbortSignal | undefined }, T>(
  teller: Teller,
  about: About,
  limits: Limits,
  call: (limits: Limits & { readonly trace: AcquireTrace }) => Promise<T>,
): Promise<T> {
  const { clock } = teller;
  const { permits, isMember = false } = about;
  const message: AcquireMessage = { ...subjectOf(teller, about), permits, isMember };
  const acquireTrace = new AcquireTrace();
  const beganAt = clock.now();
  const taking = trace(
    acquireChannel,
    message,
    () => call({ ...limits, trace: acquireTrace }),
    (answer) => {
      message.waitedMs = clock.now() - beganAt;
      message.attempts = acquireTrace.attempts;
      message.contended = acquireTrace.isContended;
      if ('error' in answer) {
        message.outcome = isAborted(answer.error, limits.signal) ? 'aborted' : 'failed';
        return;
      }
      const { value } = answer;
      // The permits of some counters come with the reason why they will never be granted.
      if (value instanceof Error) {
        message.outcome = 'failed';
        message.error = value;
        return;
      }
      message.outcome = value === null || value === false ? 'timeout' : 'granted';
      const [hold, ...others] = followedIn(value);
      message.owner = others.length === 0 ? hold?.owner : undefined;
      message.token = hold?.token;
    },
  );
  // A turn later: if a holder of this process passed the lock on, its hold ends first.
  return taking.then((value) => {
    if (holdChannel.hasSubscribers) {
      for (const hold of followedIn(value)) {
        // A permit without a lease has no end that this process would learn of.
        if (hold.remainingMs !== Number.POSITIVE_INFINITY)
          hold.followedBy(new HoldTrace(clock, message, hold));
      }
    }
    return value;
  });
}

function isAborted(error: unknown, signal: AbortSignal | undefined): boolean {
  return error instanceof ClosedError || (signal?.aborted === true && signal.reason === error);
}

function followedIn(value: unknown): Followed[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter(
    (each): each is Followed => typeof each === 'object' && each !== null && 'followedBy' in each,
  );
}

/** One hold, from the grant on. */
export class HoldTrace {
  readonly #clock: Clock;
  readonly #message: HoldMessage;
  readonly #beganAt: number;
  #leftAt: number | undefined;
  #tellGroup: (() => void) | undefined;

  constructor(clock: Clock, acquire: AcquireMessage, { owner, token }: Followed) {
    const { clientId, label, kind, name, isMember } = acquire;
    this.#clock = clock;
    this.#beganAt = clock.now();
    this.#message = { clientId, label, kind, name, owner, token, isMember, acquire };
    holdChannel.start.publish(this.#message);
    holdChannel.end.publish(this.#message);
  }

  get isOver(): boolean {
    return this.#message.ended !== undefined;
  }

  /** Calls back when the hold was released, for the group that it is a member of. */
  whenReleased(tell: () => void): void {
    this.#tellGroup = tell;
  }

  lost(reason: LossReason): void {
    this.#over('lost', reason);
  }

  released(): void {
    this.#over('released');
  }

  /** The holder leaves it. The answer of the server says whether it was held until now; resolves as it does. */
  leaves(leaving: Promise<boolean>): Promise<boolean> {
    this.#leftAt = this.#clock.now();
    return leaving.then(
      (wasHeld) => {
        if (wasHeld) this.released();
        else this.lost('notOwner');
        return wasHeld;
      },
      (error: unknown) => {
        // It was held to the end; only the release is in doubt.
        this.released();
        throw error;
      },
    );
  }

  #over(ended: 'released' | 'lost', reason?: LossReason): void {
    if (this.isOver) return;
    const message = this.#message;
    message.ended = ended;
    message.reason = reason;
    message.heldMs = (this.#leftAt ?? this.#clock.now()) - this.#beganAt;
    holdChannel.asyncStart.publish(message);
    holdChannel.asyncEnd.publish(message);
    if (ended === 'released') this.#tellGroup?.();
  }
}

/** Follows a release. `wasLost` reads from the answer that there was nothing to release. */
export function traceRelease<T>(
  teller: Teller,
  about: About,
  call: () => Promise<T>,
  wasLost: (answer: T) => boolean,
): Promise<T> {
  const { owner, permits } = about;
  const message: ReleaseMessage = { ...subjectOf(teller, about), owner, permits };
  return trace(releaseChannel, message, call, (answer) => {
    if ('error' in answer) message.outcome = answer.error instanceof NotHeldError ? 'lost' : 'failed';
    else message.outcome = wasLost(answer.value) ? 'lost' : 'released';
  });
}

/** Follows one command that renews this many holds. Its answer has 1 for each that is still held. */
export function traceRenewal(
  { clientId, label }: Teller,
  holds: number,
  call: () => Promise<readonly number[]>,
): Promise<readonly number[]> {
  const message: RenewMessage = { clientId, label, holds };
  return trace(renewChannel, message, call, (answer) => {
    if ('value' in answer) message.gone = answer.value.filter((held) => held !== 1).length;
  });
}
