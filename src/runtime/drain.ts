/**
 * The time between the first step of closing, when nothing new begins, and the last, when everything ends.
 *
 * In this time no other owner gets a lock whose section still runs. The tenures stay as they are: the watchdog renews
 * them, and only their holders release them. The last step tells a holder (its `signal` aborts) before it sends the
 * release. So another owner gets in after the section has ended, or after its time was over and it was told.
 */
import type { CancelTimer, Clock } from '../clock.ts';

export class Drain {
  /** Resolves when nothing is held any more, or the time is over. */
  readonly over: Promise<void>;
  readonly #clock: Clock;
  readonly #isIdle: () => boolean;
  #end: () => void = () => {};
  #isOver = false;
  #isLooking = false;
  #endsAt = Number.POSITIVE_INFINITY;
  #cancelEnd: CancelTimer | undefined;

  /** @param isIdle whether nothing is held */
  constructor(clock: Clock, forMs: number, isIdle: () => boolean) {
    this.#clock = clock;
    this.#isIdle = isIdle;
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.endWithin(forMs);
  }

  /** Ends the drain after this time at the latest. A drain that ends earlier is not prolonged. */
  endWithin(ms: number): void {
    const at = this.#clock.now() + ms;
    if (this.#isOver || at >= this.#endsAt) return;
    this.#endsAt = at;
    this.#cancelEnd?.();
    if (ms === 0) this.#finish();
    else this.#cancelEnd = this.#clock.after(ms, () => this.#finish());
  }

  /** Something is no longer held. Looks after this turn: a permit whose lease changes begins anew within the turn. */
  look(): void {
    if (this.#isLooking || this.#isOver) return;
    this.#isLooking = true;
    queueMicrotask(() => {
      this.#isLooking = false;
      if (this.#isIdle()) this.#finish();
    });
  }

  #finish(): void {
    this.#isOver = true;
    this.#cancelEnd?.();
    this.#end();
  }
}
