/**
 * How long one call is willing to wait: until its time is over, its caller aborts or the client closes.
 *
 * One abort callback for the whole call and one timer for each wait, both removed when done:
 * `AbortSignal.any` and `AbortSignal.timeout` retain memory in loops like these.
 */

import type { Clock } from '../clock.ts';
import type { AcquireTrace } from '../tracing.ts';
import { onAbort } from './abort.ts';

/** How long a caller is ready to wait, and what else ends its wait. */
export interface Limits {
  /** 0: one attempt. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Counts what the call does; undefined while nobody listens. */
  readonly trace?: AcquireTrace | undefined;
}

/** The result of a wait whose time is over. */
export const EXPIRED = Symbol('expired');

export class WaitBudget {
  readonly #clock: Clock;
  readonly #signals: AbortSignal[] = [];
  readonly #forget: (() => void)[] = [];
  #interrupt: ((reason: unknown) => void) | undefined;

  /** When the caller's wait ends, by the clock; may be Infinity. */
  readonly endsAt: number;

  /** @throws the reason of a signal that is aborted already */
  constructor(clock: Clock, waitMs: number, signals: readonly (AbortSignal | undefined)[]) {
    this.#clock = clock;
    this.endsAt = clock.now() + waitMs;
    for (const signal of signals) if (signal !== undefined) this.#signals.push(signal);
    this.throwIfAborted();
    for (const signal of this.#signals) {
      this.#forget.push(onAbort(signal, (reason) => this.#interrupt?.(reason)));
    }
  }

  throwIfAborted(): void {
    for (const signal of this.#signals) signal.throwIfAborted();
  }

  /**
   * Waits for the promise, at most until the given time. Rejects with the abort reason at once when a
   * signal aborts; the promise then runs on, and its rejection counts as handled. One wait at a time.
   */
  wait<T>(promise: Promise<T>, until: number = this.endsAt): Promise<T | typeof EXPIRED> {
    return new Promise((resolve, reject) => {
      // Aborted between two waits, when there was nothing to interrupt.
      const aborted = this.#signals.find((signal) => signal.aborted);
      if (aborted !== undefined) {
        // The caller gets the abort reason instead of its error.
        promise.catch(() => undefined);
        reject(aborted.reason);
        return;
      }
      let waiting = true;
      const stop = (): boolean => {
        // A second event of this wait must not clear the interrupt of the next wait.
        if (!waiting) return false;
        waiting = false;
        cancelTimer?.();
        this.#interrupt = undefined;
        return true;
      };
      this.#interrupt = (reason) => {
        if (stop()) reject(reason);
      };
      const cancelTimer =
        until === Number.POSITIVE_INFINITY
          ? undefined
          : this.#clock.after(Math.max(0, until - this.#clock.now()), () => {
              if (stop()) resolve(EXPIRED);
            });
      promise.then(
        (value) => {
          if (stop()) resolve(value);
        },
        (error) => {
          if (stop()) reject(error);
        },
      );
    });
  }

  /** Sleeps until the time is over; rejects as `wait` does. */
  async sleep(): Promise<void> {
    await this.wait(new Promise<never>(() => {}));
  }

  [Symbol.dispose](): void {
    for (const forget of this.#forget) forget();
  }
}
