/** Time that stands still until a test moves it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Alarm, CancelTimer, Clock } from '../../src/clock.ts';

interface Timer {
  readonly dueAt: number;
  readonly fire: () => void;
}

/** Work that a timer starts may take several turns of the event loop to set its next timer. */
const TURNS = 3;

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
}

export class ManualClock implements Clock {
  #now = 1_000;
  #suspendedMs = 0;
  /** In the order they were set, which decides between equal times. */
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  suspendedMs(): number {
    return this.#suspendedMs;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  after(delayMs: number, fire: () => void): CancelTimer {
    const timer = { dueAt: this.#now + Math.max(0, delayMs), fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  inBackground(delayMs: number, fire: () => void): CancelTimer {
    return this.after(delayMs, fire);
  }

  alarm(fire: () => void): Alarm {
    let cancel: CancelTimer = () => {};
    let firesAt = Number.POSITIVE_INFINITY;
    const rest = () => {
      cancel();
      firesAt = Number.POSITIVE_INFINITY;
    };
    return {
      set: (delayMs) => {
        const at = this.now() + delayMs;
        if (firesAt <= at) return;
        cancel();
        firesAt = at;
        cancel = this.after(delayMs, () => {
          rest();
          fire();
        });
      },
      rest,
    };
  }

  /** Moves on, firing what comes due at its own time, and lets what it started settle in between. */
  async advance(ms: number): Promise<void> {
    const endsAt = this.#now + ms;
    await settle();
    for (let next = this.#firstDue(endsAt); next !== undefined; next = this.#firstDue(endsAt)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.dueAt);
      next.fire();
      await settle();
    }
    this.#now = Math.max(this.#now, endsAt);
  }

  /** Moves on without firing anything: an event loop that was blocked. The next `advance` fires late. */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** The machine sleeps: this clock stands still, the server's does not. */
  suspend(ms: number): void {
    this.#suspendedMs += ms;
  }

  #firstDue(until: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueAt <= until && (first === undefined || timer.dueAt < first.dueAt)) first = timer;
    }
    return first;
  }
}
