/**
 * The waiters of one name in this process, in the order they came.
 *
 * Only the head speaks to the server; the others wait for it to leave. So a thousand waiters cost the
 * server what one costs, and are served in their order. What is known about the lock belongs to the line,
 * not to a waiter, so that a head that gives up leaves it to the next: whether something happened since
 * the last attempt (a wake-up it must not take with it), and when to look again though nothing did.
 */
import type { CancelTimer, Clock } from '../clock.ts';
import { Courtesy } from './courtesy.ts';
import { jittered, type Polled, type Poller } from './poller.ts';
import type { ReleaseAnswer } from './protocol.ts';
import type { Tenure } from './tenure.ts';
import type { Listener, Listening, WakeHub } from './wake-hub.ts';

export interface Waiter {
  /** Those behind and before it, kept by the line. */
  next: Waiter | undefined;
  previous: Waiter | undefined;
  /** It is at the head, or was woken there. */
  proceed(): void;
  /** The holder has done and hands on what it holds; answers whether this one takes it. */
  receive(tenure: Tenure): boolean;
}

export class Line implements Listener, Polled {
  /** Where the server keeps what is waited for; empty when it cannot be looked at without asking for it. */
  peekKey = '';
  readonly #clock: Clock;
  readonly #hub: WakeHub;
  readonly #poller: Poller;
  readonly #whenEmpty: () => void;
  #head: Waiter | undefined;
  #tail: Waiter | undefined;
  #listening: Listening | undefined;
  /** Something happened that the last attempt may not have seen. */
  #stale = true;
  #lookAgainAt = 0;
  /** How often to look though nothing was heard; 0 when the next look has another reason. */
  #pollMs = 0;
  #cancelPause: CancelTimer | undefined;
  /** Made with the first release that others may have heard of. */
  #courtesy: Courtesy | undefined;
  /** Messages of our own releases that are still to come. */
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

  /** Whether somebody waits behind the head. */
  get hasOthers(): boolean {
    return this.#head !== this.#tail;
  }

  /** Queues up; answers whether it is at the head. A waiter that joins must leave, however its wait ends. */
  join(waiter: Waiter): boolean {
    waiter.previous = this.#tail;
    if (this.#tail === undefined) this.#head = waiter;
    else this.#tail.next = waiter;
    this.#tail = waiter;
    return this.#head === waiter;
  }

  /**
   * Leaves the line. When the head leaves, the next in line becomes the head and goes on from what is
   * known: after a wake-up that nobody followed it attempts at once.
   */
  leave(waiter: Waiter): void {
    const { next, previous } = waiter;
    // Otherwise whatever keeps a waiter that has left keeps all that came after it.
    waiter.next = undefined;
    waiter.previous = undefined;
    if (next === undefined) this.#tail = previous;
    else next.previous = previous;
    if (previous !== undefined) {
      previous.next = next;
      return;
    }
    // A head that gave up leaves nothing behind that would keep the process alive.
    this.#stopPause();
    this.#head = next;
    if (next === undefined) this.#end();
    // Not in this turn: the one signal that made the head give up may be about to reach the next.
    else queueMicrotask(() => next.proceed());
  }

  /** Hands what is held to the head, if that can take it. */
  passOn(tenure: Tenure): boolean {
    return this.#head?.receive(tenure) ?? false;
  }

  /** What this process held is about to be released: the message that tells of it is no news. */
  releasing(): void {
    if (this.#listening !== undefined) this.#ownMessages = 1;
  }

  /**
   * It was released, and who waits here stands back for those of other processes, if there are any. With nothing
   * released, or no answer, whatever is heard is news.
   */
  released(answer: ReleaseAnswer | undefined): void {
    if (answer === undefined || answer === 'lost') {
      this.onMissed();
      return;
    }
    const own = this.#listening === undefined ? 0 : 1;
    const isTold = answer === 'released' || answer >= own;
    // No message of ours is to come: the next one tells of somebody else's release.
    if (!isTold) this.#ownMessages = 0;
    this.#courtesy ??= new Courtesy();
    const isKnown = answer !== 'released' && answer >= 0;
    const standBackMs = this.#courtesy.released(isKnown ? answer - own : 1);
    if (standBackMs === 0) this.wake();
    else this.#lookIn(standBackMs);
  }

  onMessage(): void {
    if (this.#ownMessages > 0) {
      this.#ownMessages -= 1;
      return;
    }
    const standBackMs = this.#courtesy?.turnEnded() ?? 0;
    if (standBackMs === 0) this.wake();
    else this.#lookIn(standBackMs);
  }

  #lookIn(ms: number): void {
    // An attempt is under way: it may have come before the release, and its answer would hide it.
    this.#stale = this.#cancelPause === undefined;
    if (this.#stale) return;
    this.foundBusy(ms);
    this.pause();
  }

  /** Something happened: a message, a release in this process, a new connection. The head should look. */
  wake(): void {
    this.#stale = true;
    if (this.#cancelPause === undefined) return;
    this.#stopPause();
    this.#head?.proceed();
  }

  /** To be called before an attempt is sent: what happens from here on is news again. */
  attempting(): void {
    this.#stale = false;
    this.#courtesy?.attempting();
  }

  /** Worth another look after this time. */
  foundBusy(lookAgainMs: number): void {
    this.#pollMs = 0;
    this.#lookAgainAt = this.#clock.now() + lookAgainMs;
  }

  /** Somebody has it for so long, negative when that is not known; worth another look then, or at the next poll. */
  foundTaken(remainingMs: number, pollMs: number): void {
    const isPoll = remainingMs < 0 || remainingMs >= pollMs;
    this.foundBusy(isPoll ? jittered(pollMs) : remainingMs + 1);
    if (isPoll) this.#pollMs = pollMs;
  }

  /** A look from outside: what is free is asked for, for what is not there is nothing to do. */
  peeked(remainingMs: number): void {
    // Woken or handed on meanwhile, it waits for something else by now.
    if (this.#cancelPause === undefined || this.#pollMs === 0) return;
    this.#stopPause();
    if (remainingMs === -2) {
      this.#stale = true;
      this.#head?.proceed();
    } else {
      this.foundTaken(remainingMs, this.#pollMs);
      this.pause();
    }
  }

  /**
   * The head has it. Messages that came while it was taking it tell of the release that let it in, not of
   * one that is still to come: the next in line need not follow them.
   */
  granted(lookAgainMs: number): void {
    this.#stale = false;
    this.foundBusy(lookAgainMs);
  }

  /** Whether the head should attempt without waiting. */
  get isDue(): boolean {
    return this.#stale || this.#clock.now() >= this.#lookAgainAt;
  }

  /** Has the head proceed when it is time to look again, or sooner when the line is woken. */
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
   * Has releases that are announced on the channel wake this line. A release after the last attempt and
   * before the subscription goes unheard, so the line is woken once the subscription is acknowledged.
   */
  listenTo(channel: string): void {
    if (this.#listening !== undefined) return;
    this.#listening = this.#hub.listen(channel, this);
    void this.#listening.ready.then(() => this.onMissed());
  }

  /** A message may have gone unheard, our own among them. */
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
    // Whoever comes next knows nothing of the lock, and attempts at once.
    this.#stale = true;
    this.#pollMs = 0;
    this.#ownMessages = 0;
    this.#whenEmpty();
  }
}
