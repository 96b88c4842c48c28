/**
 * The waiters of one name in this process, in the order they came.
 *
 * Only the head speaks to the server; the others wait for it to leave. So a thousand waiters cost the
 * server what one costs, and are served in their order. What is known about the lock belongs to the line,
 * not to a waiter, so that a head that gives up leaves it to the next: whether something happened since
 * the last attempt (a wake-up it must not take with it), and when to look again though nothing did.
 */
import type { Clock } from './clock.ts';
import type { Listening, WakeHub } from './wake-hub.ts';

/** A waiter's position. `turn` resolves when it is at the head. */
export interface Place {
  readonly turn: Promise<void>;
}

interface Waiting extends Place {
  readonly step: () => void;
}

export class Line {
  readonly #clock: Clock;
  readonly #hub: WakeHub;
  readonly #whenEmpty: () => void;
  readonly #places = new Set<Waiting>();
  #listening: Listening | undefined;
  /** Something happened that the last attempt may not have seen. */
  #stale = true;
  #lookAgainAt = 0;
  #wakeHead: (() => void) | undefined;

  constructor(clock: Clock, hub: WakeHub, whenEmpty: () => void) {
    this.#clock = clock;
    this.#hub = hub;
    this.#whenEmpty = whenEmpty;
  }

  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  /** Queues up. Who joins must leave, however its wait ends. */
  join(): Place {
    let step = () => {};
    const turn = new Promise<void>((resolve) => {
      step = resolve;
    });
    const place = { turn, step };
    this.#places.add(place);
    if (this.#places.size === 1) step();
    return place;
  }

  /**
   * Leaves the line. When the head leaves, the next in line becomes the head and goes on from what is
   * known: after a wake-up that nobody followed it attempts at once.
   */
  leave(place: Place): void {
    const [head] = this.#places;
    if (!this.#places.delete(place as Waiting)) return;
    // A head that gave up leaves nothing behind that would keep the process alive.
    if (place === head) this.#wakeHead?.();
    const [next] = this.#places;
    if (next !== undefined) {
      next.step();
      return;
    }
    this.#listening?.stop();
    this.#listening = undefined;
    this.#whenEmpty();
  }

  /** Something happened: a message, a release in this process, a new connection. The head should look. */
  wake(): void {
    this.#stale = true;
    this.#wakeHead?.();
  }

  /** To be called before an attempt is sent: what happens from here on is news again. */
  attempting(): void {
    this.#stale = false;
  }

  /** Somebody has it; worth another look after this time at the latest. */
  foundBusy(lookAgainMs: number): void {
    this.#lookAgainAt = this.#clock.now() + lookAgainMs;
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

  /** Resolves when it is time for the head to attempt. Only the head calls this. */
  due(): Promise<void> {
    if (this.isDue) return Promise.resolve();
    return new Promise((resolve) => {
      const wakeHead = () => {
        cancelTimer();
        this.#wakeHead = undefined;
        resolve();
      };
      const cancelTimer = this.#clock.after(this.#lookAgainAt - this.#clock.now(), wakeHead);
      this.#wakeHead = wakeHead;
    });
  }

  /**
   * Has releases that are announced on the channel wake this line. A release after the last attempt and
   * before the subscription goes unheard, so the line is woken once the subscription is acknowledged.
   */
  listenTo(channel: string): void {
    if (this.#listening !== undefined) return;
    this.#listening = this.#hub.listen(channel, () => this.wake());
    void this.#listening.ready.then(() => this.wake());
  }
}
