/**
 * Looks at locks that nobody told us anything of for a while: messages make waiting fast, polls make it correct.
 *
 * Thousands of locks may be waited for at once. Here they are looked at together, a hundred in one call, and only those
 * that are free are asked for.
 */

import type { CancelTimer, Clock } from '../clock.ts';
import { classify } from '../outcome.ts';

/** How long a waiter sleeps at most without a message: what a lost wake-up costs. */
export const POLL_MS = 5_000;

/** Polls of many processes should not fall together. */
export function jittered(pollMs: number): number {
  return pollMs * (0.8 + Math.random() * 0.4);
}

/** Locks for each look. */
const BATCH = 100;

/** Those that become due within this time are looked at together. */
const TICK_MS = 250;

/** Somebody who waits for a lock. */
export interface Polled {
  /** Where the server keeps the lock. */
  readonly peekKey: string;
  /** How long the lock is taken by others: -1 when that is not known, -2 when it is worth asking for it. */
  peeked(remainingMs: number): void;
}

/** Looks at many locks in one call. */
export type Peek = (keys: readonly string[]) => Promise<readonly number[]>;

export class Poller {
  readonly #clock: Clock;
  readonly #peek: Peek;
  readonly #slotOf: (key: string) => number;
  /** When each is to be looked at. */
  readonly #dueAt = new Map<Polled, number>();
  #cancelTick: CancelTimer | undefined;

  constructor(clock: Clock, peek: Peek, slotOf: (key: string) => number) {
    this.#clock = clock;
    this.#peek = peek;
    this.#slotOf = slotOf;
  }

  /** Has a lock looked at once, after this time. */
  add(polled: Polled, afterMs: number): void {
    this.#dueAt.set(polled, this.#clock.now() + afterMs);
    if (this.#cancelTick === undefined) this.#arm();
  }

  remove(polled: Polled): void {
    this.#dueAt.delete(polled);
    if (this.#dueAt.size > 0) return;
    // Nobody waits: nothing is left that would keep the process alive.
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }

  #arm(): void {
    if (this.#dueAt.size === 0) return;
    this.#cancelTick = this.#clock.after(TICK_MS, () => {
      this.#cancelTick = undefined;
      this.#lookAtDue();
      this.#arm();
    });
  }

  #lookAtDue(): void {
    const now = this.#clock.now();
    const bySlot = new Map<number, Polled[]>();
    for (const [polled, dueAt] of this.#dueAt) {
      if (dueAt > now) continue;
      this.#dueAt.delete(polled);
      const slot = this.#slotOf(polled.peekKey);
      const together = bySlot.get(slot);
      if (together === undefined) bySlot.set(slot, [polled]);
      else together.push(polled);
    }
    for (const due of bySlot.values()) {
      for (let i = 0; i < due.length; i += BATCH) void this.#look(due.slice(i, i + BATCH));
    }
  }

  async #look(batch: readonly Polled[]): Promise<void> {
    try {
      const remaining = await this.#peek(batch.map(({ peekKey }) => peekKey));
      // A key without expiry is no lock: who waits for it has to be told, which only its own attempt does.
      for (const [i, polled] of batch.entries()) {
        const remainingMs = remaining[i] ?? FREE;
        polled.peeked(remainingMs >= 0 ? remainingMs : FREE);
      }
    } catch (error) {
      // One that may not be looked at must not cost the others theirs: each asks for itself. Out of reach, all are
      // looked at again; who has a limit keeps it.
      const isRefused = classify(error) === 'refused';
      for (const polled of batch) polled.peeked(isRefused ? FREE : UNKNOWN);
    }
  }
}

/** What stands for a lock that is worth asking for, and when it is not known how long it is taken. */
const FREE = -2;
const UNKNOWN = -1;
