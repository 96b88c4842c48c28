/**
 * The waiters of one name in this process, in order of arrival.
 *
 * Only the head talks to the server; the others wait for it to leave. So a thousand waiters cost the server as much as
 * one, and are served in order. The line, not a waiter, keeps what is known about the lock, so that a head that gives
 * up leaves this to the next waiter: whether a wake-up came since the last attempt, and when to attempt without one.
 */
import type { CancelTimer, Clock } from '../clock.ts';
import { FREE_MS, type ReleaseAnswer, type Waiting } from './protocol.ts';
import type { Tenure } from './tenure.ts';
import type { Listener, Listening, WakeHub } from './wake/hub.ts';
import { jittered, type Polled, type Poller } from './wake/poller.ts';
import { StandBack } from './wake/stand-back.ts';

/** After a grant: when the next waiter attempts without a wake-up. */
export function nextLookMs(waiting: Waiting, isShared: boolean): number {
  return waiting.kind === 'messages' && !isShared ? jittered(waiting.pollMs) : 0;
}

export interface Waiter {
  /** Its neighbours, maintained by the line. */
  next: Waiter | undefined;
  previous: Waiter | undefined;
  /** The waiter is at the head, or was woken there. */
  proceed(): void;
  /** The holder is done and passes its tenure on; returns whether this waiter takes it. */
  receive(tenure: Tenure): boolean;
}

/** This many lines are kept when empty, so that uncontended attempts do not create one each time. */
const MOST_LINES = 64;

/** The lines of one client, by id. */
export class Lines {
  readonly #create: (whenEmpty: () => void) => Line;
  readonly #lines = new Map<string, Line>();

  constructor(clock: Clock, hub: WakeHub, poller: Poller) {
    this.#create = (whenEmpty) => new Line(clock, hub, poller, whenEmpty);
  }

  /** The line of that id; for null (the server queues), a new line. */
  at(id: string | null): Line {
    if (id === null) return this.#create(() => {});
    let line = this.#lines.get(id);
    if (line === undefined) {
      line = this.#create(() => {
        if (this.#lines.size > MOST_LINES) this.#lines.delete(id);
      });
      this.#lines.set(id, line);
    }
    return line;
  }

  /** The line of that id if it has waiters; otherwise undefined. */
  waitingAt(id: string | null): Line | undefined {
    const line = id === null ? undefined : this.#lines.get(id);
    return line?.isEmpty === false ? line : undefined;
  }

  /** Wakes the head of that line after a change in this process, without waiting for a message. */
  wake(id: string | null): void {
    this.waitingAt(id)?.wake();
  }

  /** The same for every line whose id has this prefix. */
  wakeAll(prefix: string): void {
    for (const [id, line] of this.#lines) if (id.startsWith(prefix)) line.wake();
  }
}

export class Line implements Listener, Polled {
  /** The key that the poller reads; empty when only an attempt can tell whether the lock is free. */
  peekKey = '';
  readonly #clock: Clock;
  readonly #hub: WakeHub;
  readonly #poller: Poller;
  readonly #whenEmpty: () => void;
  #head: Waiter | undefined;
  #tail: Waiter | undefined;
  #listening: Listening | undefined;
  /** Where this line listens, or last listened. */
  #channel = '';
  /** Something happened that the last attempt may not have seen. */
  #stale = true;
  #lookAgainAt = 0;
  /** How often to look without a wake-up; 0 when the next look has another reason. */
  #pollMs = 0;
  #cancelPause: CancelTimer | undefined;
  /** Created by the first release that others may have heard of. */
  #standBack: StandBack | undefined;
  /** Messages of our own releases that are still to arrive. */
  #ownMessages = 0;

  constructor(clock: Clock, hub: WakeHub, poller: Poller, whenEmpty: () => void) {
    this.#clock = clock;
    this.#hub = hub;
    this.#poller = poller;
    this.#whenEmpty = whenEmpty;
  }

  get isEmpty(): boolean {
    return this.#head === undefined;
  }

  /** Whether others wait behind the head. */
  get hasOthers(): boolean {
    return this.#head !== this.#tail;
  }

  /** Adds a waiter; returns whether it is the head. A waiter that joins must leave, however its wait ends. */
  join(waiter: Waiter): boolean {
    waiter.previous = this.#tail;
    if (this.#tail === undefined) this.#head = waiter;
    else this.#tail.next = waiter;
    this.#tail = waiter;
    return this.#head === waiter;
  }

  /**
   * Removes a waiter. When the head leaves, the next waiter becomes the head and continues from what is
   * known: after a wake-up without an attempt, it attempts at once.
   */
  leave(waiter: Waiter): void {
    const { next, previous } = waiter;
    // Otherwise a reference to a waiter that has left retains all that came after it.
    waiter.next = undefined;
    waiter.previous = undefined;
    if (next === undefined) this.#tail = previous;
    else next.previous = previous;
    if (previous !== undefined) {
      previous.next = next;
      return;
    }
    // A head that gave up must leave no timer that keeps the process alive.
    this.#stopPause();
    this.#head = next;
    if (next === undefined) this.#end();
    // Not in this turn: the signal that made the head give up may be about to reach the next waiter.
    else queueMicrotask(() => next.proceed());
  }

  /** Passes the tenure to the head, if the head can take it. */
  passOn(tenure: Tenure): boolean {
    return this.#head?.receive(tenure) ?? false;
  }

  /** This process releases the lock: the message about that, in a later turn, is no news. */
  releasing(): void {
    if (this.#listening !== undefined) this.#ownMessages = 1;
  }

  /**
   * This process released the lock, and its waiters stand back for those of other processes, if there are any. If
   * nothing was released, or no answer came, every message is news.
   */
  released(answer: ReleaseAnswer | undefined): void {
    if (answer === undefined || answer === 'lost') {
      this.onMissed();
      return;
    }
    // PUBLISH counts a subscription that lingers, too.
    const own = this.#hub.keeps(this.#channel) ? 1 : 0;
    const isTold = answer === 'released' || answer >= own;
    // No message of ours will arrive: the next one is about a release by another process.
    if (!isTold) this.#ownMessages = 0;
    this.#standBack ??= new StandBack();
    const isKnown = answer !== 'released' && answer >= 0;
    this.#wakeIn(this.#standBack.released(isKnown ? answer - own : 1));
  }

  onMessage(): boolean {
    if (this.#ownMessages > 0) {
      this.#ownMessages -= 1;
      return false;
    }
    this.#wakeIn(this.#standBack?.turnEnded() ?? 0);
    return true;
  }

  /** Wakes the head after standing back for so long. */
  #wakeIn(ms: number): void {
    // An attempt under way may have run before the release, and its answer would hide the release.
    if (ms === 0 || this.#cancelPause === undefined) {
      this.wake();
      return;
    }
    this.#stale = false;
    this.lookAgainIn(ms);
    this.pause();
  }

  /** A message, a release in this process or a new connection: the head should attempt. */
  wake(): void {
    this.#stale = true;
    if (this.#cancelPause === undefined) return;
    this.#stopPause();
    this.#head?.proceed();
  }

  /** Call this before an attempt is sent: every event from here on is news again. */
  attempting(): void {
    this.#stale = false;
    this.#standBack?.attempting();
  }

  /** Others hold it for `busyMs`, or `UNKNOWN_MS`. Look again in the way of this waiter. */
  found(busyMs: number, waiting: Waiting): void {
    if (waiting.kind === 'spin') {
      this.lookAgainIn(waiting.nextDelayMs());
      return;
    }
    this.peekKey = waiting.peekKey ?? '';
    this.foundTaken(busyMs, waiting.pollMs);
    this.listenTo(waiting.channel);
  }

  /** Look again after this time. */
  lookAgainIn(lookAgainMs: number): void {
    this.#pollMs = 0;
    this.#lookAgainAt = this.#clock.now() + lookAgainMs;
  }

  /** Another owner holds it for `remainingMs`, or `UNKNOWN_MS`. Look again then, or at the next poll. */
  foundTaken(remainingMs: number, pollMs: number): void {
    const isPoll = remainingMs < 0 || remainingMs >= pollMs;
    this.lookAgainIn(isPoll ? jittered(pollMs) : remainingMs + 1);
    if (isPoll) this.#pollMs = pollMs;
  }

  /** The poller's answer: the head attempts if the lock is free, and goes on waiting if not. */
  peeked(remainingMs: number): void {
    // The line was woken or got the lock meanwhile: this answer is outdated.
    if (this.#cancelPause === undefined || this.#pollMs === 0) return;
    if (remainingMs === FREE_MS) {
      this.wake();
    } else {
      this.foundTaken(remainingMs, this.#pollMs);
      this.pause();
    }
  }

  /**
   * The head has the lock. Messages that came during its attempt are about the release that let it in, not
   * about a later one: the next waiter need not follow them.
   */
  granted(lookAgainMs: number): void {
    this.#stale = false;
    this.lookAgainIn(lookAgainMs);
  }

  /** Whether the head should attempt without waiting. */
  get isDue(): boolean {
    return this.#stale || this.#clock.now() >= this.#lookAgainAt;
  }

  /** Makes the head proceed when it is time to look again, or sooner when the line is woken. */
  pause(): void {
    this.#stopPause();
    const pauseMs = Math.max(0, this.#lookAgainAt - this.#clock.now());
    if (this.#pollMs > 0 && this.peekKey !== '') {
      this.#poller.add(this, pauseMs);
      this.#cancelPause = () => this.#poller.remove(this);
      return;
    }
    this.#cancelPause = this.#clock.after(pauseMs, () => {
      this.#cancelPause = undefined;
      this.#head?.proceed();
    });
  }

  /**
   * Lets releases that are announced on the channel wake this line. A release after the last attempt and
   * before the subscription is missed, so the line is woken once the server acknowledges the subscription.
   */
  listenTo(channel: string): void {
    if (this.#listening !== undefined) return;
    this.#channel = channel;
    this.#listening = this.#hub.listen(channel, this);
    void this.#listening.ready.then(() => this.onMissed());
  }

  /** A message may have been missed, perhaps our own. */
  onMissed(): void {
    this.#ownMessages = 0;
    this.wake();
  }

  #stopPause(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
  }

  #end(): void {
    this.#listening?.stop();
    this.#listening = undefined;
    // The next waiter to join knows nothing of the lock, and attempts at once.
    this.#stale = true;
    this.#pollMs = 0;
    this.#ownMessages = 0;
    this.#whenEmpty();
  }
}
