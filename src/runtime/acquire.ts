/**
 * Try, wait, try again: how everything that can be waited for is acquired.
 *
 * Knows no primitive. A primitive brings a `Contest`: how to attempt, how to undo an attempt nobody knows
 * the outcome of, and what may be worth waiting for. The engine brings the line, the wake-ups, the
 * deadline and the abort.
 */
import { classify, errorOfAll, isSlotMoving, mayHaveRun } from '../drivers/outcome.ts';
import { OutcomeUnknownError } from '../errors.ts';
import { Backoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import type { Line } from './line.ts';
import { EXPIRED, type Patience } from './patience.ts';
import { jittered } from './poll.ts';

/** It is somebody else's. */
export interface Busy {
  readonly granted: false;
  /** What is left of the holder's lease; negative when that is not known or it has none. */
  readonly remainingMs: number;
}

export interface Granted<T> {
  readonly granted: true;
  readonly value: T;
  /** An earlier attempt was never answered and may still be on its way. */
  readonly doubtful?: boolean;
}

/** How a head of the line learns that it is worth trying again. */
export type Waiting =
  | {
      readonly kind: 'messages';
      readonly channel: string;
      readonly pollMs: number;
      /** There may be room for more than one: who is let in has the next in line try at once. */
      readonly shared?: boolean;
    }
  | { readonly kind: 'spin'; readonly nextDelayMs: () => number };

export interface Contest<T> {
  /** What is contested, for messages to people. */
  readonly what: string;
  readonly waiting: Waiting;
  /** Asks the server once. Repeating it must be harmless: after a lost reply it is simply asked again. */
  attempt(): Promise<Granted<T> | Busy>;
  /** An attempt may have run, or may yet run, and nobody wants it: make sure that it comes to nothing. */
  abandon(): void;
  /** The caller has given up, and no attempt is in doubt: leave whatever queue the attempts joined. */
  withdraw?(): void;
}

/** What the engine needs to know of the client it works for. */
export interface Surroundings {
  readonly clock: Clock;
  readonly commandTimeoutMs: number;
}

/** What became of an attempt that the caller made before it came here. */
export interface Earlier {
  /** When it was made: time that has passed since counts. */
  readonly since: number;
  /** Whether it was answered, and the caller so told to wait. */
  readonly answered: boolean;
  /** Whether it may have run all the same. */
  readonly inDoubt: boolean;
}

const NOT_GRANTED: Busy = { granted: false, remainingMs: -1 };

/**
 * Resolves with what was granted, or with `granted: false` when the caller's patience is over.
 *
 * With an unreachable server, a caller that limits its wait gets an error at most `commandTimeoutMs` after
 * that limit, and one that sets no limit after `commandTimeoutMs`, unless it was waiting already: who has
 * been told to wait, or queues behind others, waits out the outage. A slot that moves is nothing but a reason to wait.
 *
 * @throws the abort reason, or a HoldfastError
 */
export async function acquire<T>(
  contest: Contest<T>,
  line: Line,
  patience: Patience,
  { clock, commandTimeoutMs }: Surroundings,
  earlier?: Earlier,
): Promise<Granted<T> | Busy> {
  const queued = !line.isEmpty;
  // One try only, and others of this process wait already: it could not be our turn.
  if (queued && patience.isOver) return NOT_GRANTED;

  const place = line.join();
  let inDoubt = earlier?.inDoubt ?? false;
  let attempted = false;
  let granted = false;
  try {
    patience.throwIfAborted();
    if (queued && (await patience.wait(place.turn)) === EXPIRED) return NOT_GRANTED;

    const { waiting } = contest;
    const backoff = new Backoff(20, 1_000);
    let trouble: unknown;
    let settleBy =
      (patience.endsAt === Number.POSITIVE_INFINITY ? (earlier?.since ?? clock.now()) : patience.endsAt) +
      commandTimeoutMs;
    const waitsForEver = () => {
      if (patience.endsAt === Number.POSITIVE_INFINITY) settleBy = patience.endsAt;
    };
    if (queued || earlier?.answered) waitsForEver();

    for (;;) {
      if (!line.isDue) {
        const until = trouble === undefined ? patience.endsAt : settleBy;
        if ((await patience.wait(line.due(), until)) === EXPIRED) {
          if (trouble === undefined) return NOT_GRANTED;
          throw errorOfAll(trouble, inDoubt, contest.what);
        }
      }

      const wasInDoubt: boolean = inDoubt;
      inDoubt = true;
      attempted = true;
      line.attempting();
      let answer: Granted<T> | Busy | typeof EXPIRED;
      try {
        answer = await patience.wait(contest.attempt(), settleBy);
      } catch (error) {
        patience.throwIfAborted();
        if (!mayHaveRun(error)) inDoubt = wasInDoubt;
        // Half of the slot has moved: that is no outage, and ends by itself.
        if (isSlotMoving(error)) waitsForEver();
        const isFinal = classify(error) === 'refused' || clock.now() >= settleBy;
        if (isFinal) throw errorOfAll(error, inDoubt, contest.what);
        trouble = error;
        line.foundBusy(backoff.next());
        continue;
      }
      if (answer === EXPIRED) throw new OutcomeUnknownError(`No answer in time: ${contest.what}`);
      if (answer.granted) {
        granted = true;
        line.granted(waiting.kind === 'messages' && !waiting.shared ? jittered(waiting.pollMs) : 0);
        return wasInDoubt ? { ...answer, doubtful: true } : answer;
      }

      // An earlier attempt that got no answer may still be on its way: the doubt stays until one is granted.
      inDoubt = wasInDoubt;
      trouble = undefined;
      backoff.reset();
      waitsForEver();
      if (patience.isOver) return answer;
      if (waiting.kind === 'spin') {
        line.foundBusy(waiting.nextDelayMs());
        continue;
      }
      const leaseEndsMs = answer.remainingMs >= 0 ? answer.remainingMs + 1 : Number.POSITIVE_INFINITY;
      line.foundBusy(Math.min(leaseEndsMs, jittered(waiting.pollMs)));
      line.listenTo(waiting.channel);
    }
  } finally {
    if (!granted && inDoubt) contest.abandon();
    else if (!granted && attempted && contest.withdraw !== undefined) {
      contest.withdraw();
      // What was noted on the server for this one was noted for the next in line as well, which must not be found
      // missing: its own attempt follows the withdrawal on its way.
      line.wake();
    }
    line.leave(place);
  }
}
