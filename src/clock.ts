/**
 * Time, behind a seam that tests replace.
 *
 * Everything in the runtime measures with `now()` and sleeps with `after()` or `inBackground()`; nothing else in it
 * calls `performance.now`, `setTimeout` or `Date.now`. The wall clock is never used there: it jumps.
 *
 * There are two kinds of timers. A call that a caller awaits must settle before the process ends, so its timers keep
 * the process alive. Timers of background work, such as renewals, must not.
 */
import { uptime } from 'node:os';

/** Cancels the timer it was returned for; calling it twice is harmless. */
export type CancelTimer = () => void;

export interface Clock {
  /** Milliseconds on a clock that never goes back. Stops while the machine is suspended; see `suspendedMs`. */
  now(): number;
  /**
   * How long the machine has been suspended since this clock was made, as far as can be told. Leases go
   * on running on the server meanwhile, so a deadline counts this time too. A caller may pass a fresh `now()`.
   */
  suspendedMs(now?: number): number;
  /**
   * Calls `fire` once, `delayMs` from now or later. The timer keeps the process alive: it is for work that a caller
   * awaits. Cancel it as soon as the caller has its answer.
   */
  after(delayMs: number, fire: () => void): CancelTimer;
  /** The same without keeping the process alive: for work no caller awaits, or that another timer of the call ends. */
  inBackground(delayMs: number, fire: () => void): CancelTimer;
  /** A reusable timer: setting it again costs a fraction of making one. */
  alarm(fire: () => void): Alarm;
}

/** Fires once, at the time it was set to or earlier: the callback must check the clock. */
export interface Alarm {
  /** Fires within this time, and keeps the process alive until then. */
  set(delayMs: number, now?: number): void;
  /** No longer keeps the process alive. */
  rest(): void;
}

/** Node fires a timer at once when its delay does not fit 31 bits, so long sleeps are re-armed. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** `os.uptime()` has a resolution of 10 ms and is read at another instant than the monotonic clock. */
const SUSPEND_NOISE_MS = 100;

/** How far the time since boot is ahead. An interruption between the two readings shows too little: the most counts. */
function bootOffsetMs(): number {
  const readings = [1, 2, 3].map(() => uptime() * 1000 - performance.now());
  return Math.max(...readings);
}

export class SystemClock implements Clock {
  readonly #bootOffsetMs = bootOffsetMs();
  /** How far the wall clock is ahead of the monotonic one. */
  #wallOffsetMs = Date.now() - performance.now();
  #suspendedMs = 0;

  now(): number {
    return performance.now();
  }

  suspendedMs(now = this.now()): number {
    // Reading the time since boot costs a hundred times as much as reading a clock. It is worth it only after the
    // wall clock has moved: a suspend moves it too.
    const offsetMs = Date.now() - now;
    if (Math.abs(offsetMs - this.#wallOffsetMs) < SUSPEND_NOISE_MS) return this.#suspendedMs;
    this.#wallOffsetMs = offsetMs;
    // The monotonic clock stands still during suspend, the time since boot does not: their difference
    // grows by exactly the time slept.
    const grown = uptime() * 1000 - performance.now() - this.#bootOffsetMs;
    this.#suspendedMs = grown > SUSPEND_NOISE_MS ? grown : 0;
    return this.#suspendedMs;
  }

  after(delayMs: number, fire: () => void): CancelTimer {
    return this.#arm(delayMs, fire, true);
  }

  inBackground(delayMs: number, fire: () => void): CancelTimer {
    return this.#arm(delayMs, fire, false);
  }

  alarm(fire: () => void): Alarm {
    let timer: NodeJS.Timeout | undefined;
    let firesAt = 0;
    const onFired = () => {
      timer = undefined;
      fire();
    };
    return {
      set: (delayMs, now = this.now()) => {
        const at = now + delayMs;
        if (timer !== undefined && firesAt <= at) {
          timer.ref();
          return;
        }
        clearTimeout(timer);
        firesAt = at;
        timer = setTimeout(onFired, Math.min(Math.max(0, Math.ceil(delayMs)), LONGEST_TIMER_MS));
      },
      rest: () => void timer?.unref(),
    };
  }

  #arm(delayMs: number, fire: () => void, isAwaited: boolean): CancelTimer {
    if (delayMs > LONGEST_TIMER_MS) return this.#armInSteps(delayMs, fire, isAwaited);
    const timer = setTimeout(fire, Math.max(0, Math.ceil(delayMs)));
    if (!isAwaited) timer.unref();
    return () => clearTimeout(timer);
  }

  #armInSteps(delayMs: number, fire: () => void, isAwaited: boolean): CancelTimer {
    const rest = () => {
      cancel = this.#arm(delayMs - LONGEST_TIMER_MS, fire, isAwaited);
    };
    let cancel = this.#arm(LONGEST_TIMER_MS, rest, isAwaited);
    return () => cancel();
  }
}

/** Time as the server counts it: it goes on while this machine is suspended. */
export function serverTime(clock: Clock, now = clock.now()): number {
  return now + clock.suspendedMs(now);
}

/**
 * The time by which leases run: monotonic time plus the time the machine was suspended, during which the
 * server went on counting.
 */
export class LeaseClock {
  readonly #clock: Clock;
  #suspendedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How much suspended time the last reading of `now()` contained. */
  get suspendedMs(): number {
    return this.#suspendedMs;
  }

  /** The present, with suspended time read afresh; costs a few microseconds. */
  now(): number {
    const now = this.#clock.now();
    this.#suspendedMs = this.#clock.suspendedMs(now);
    return now + this.#suspendedMs;
  }

  /**
   * A cheap lower bound of `now()`, for the moment before something is sent: suspended time is taken from
   * the last reading. Too low is safe here, since a deadline that is counted from it only comes earlier.
   */
  sendTime(): number {
    return this.#clock.now() + this.#suspendedMs;
  }
}
