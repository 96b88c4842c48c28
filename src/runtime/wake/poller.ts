/**
 * Polls locks whose waiters got no message for a while: messages make waiting fast, polls make it correct.
 *
 * A process may wait for thousands of locks at once. The poller looks at a hundred of them in one call, and waiters
 * attempt only for those that are free.
 */

import { tellWake } from '../../channels.ts';
import type { Alarm, Clock } from '../../clock.ts';
import { classify } from '../../outcome.ts';
import { FREE_MS, UNKNOWN_MS } from '../protocol.ts';

/** How long a waiter sleeps at most without a message: the cost of a lost wake-up. */
export const POLL_MS = 5_000;

/** Polls of many processes should not coincide. */
export function jittered(pollMs: number): number {
  return pollMs * (0.8 + Math.random() * 0.4);
}

/** Locks per call. */
const BATCH = 100;

/** The time between two looks, so that locks which become due in between are looked at together. */
const PAUSE_MS = 50;

/** The waiters of one lock. */
export interface Polled {
  /** The key of the lock. */
  readonly peekKey: string;
  /** For how long others hold the lock: `UNKNOWN_MS`, or `FREE_MS` when an attempt is worthwhile. */
  peeked(remainingMs: number): void;
}

/** Looks at many locks in one call. */
export type Peek = (keys: readonly string[]) => Promise<readonly number[]>;

export interface PollerSettings {
  readonly clientId: string;
  readonly clock: Clock;
  readonly peek: Peek;
}

export class Poller {
  readonly #clientId: string;
  readonly #clock: Clock;
  readonly #peek: Peek;
  readonly #slotOf: (key: string) => number;
  /** When to look at each lock. */
  readonly #dueAt = new Map<Polled, number>();
  readonly #alarm: Alarm;

  constructor({ clientId, clock, peek }: PollerSettings, slotOf: (key: string) => number) {
    this.#clientId = clientId;
    this.#clock = clock;
    this.#peek = peek;
    this.#slotOf = slotOf;
    this.#alarm = clock.alarm(() => this.#lookAtDue());
  }

  /** Schedules one look at a lock, after this time. */
  add(polled: Polled, afterMs: number): void {
    const now = this.#clock.now();
    this.#dueAt.set(polled, now + afterMs);
    this.#alarm.set(Math.max(PAUSE_MS, afterMs), now);
  }

  remove(polled: Polled): void {
    this.#dueAt.delete(polled);
    // No waiters are left: no timer may keep the process alive.
    if (this.#dueAt.size === 0) this.#alarm.rest();
  }

  #lookAtDue(): void {
    const now = this.#clock.now();
    const bySlot = new Map<number, Polled[]>();
    let nextDueAt = Number.POSITIVE_INFINITY;
    for (const [polled, dueAt] of this.#dueAt) {
      if (dueAt > now) {
        nextDueAt = Math.min(nextDueAt, dueAt);
        continue;
      }
      this.#dueAt.delete(polled);
      const slot = this.#slotOf(polled.peekKey);
      const together = bySlot.get(slot);
      if (together === undefined) bySlot.set(slot, [polled]);
      else together.push(polled);
    }
    if (nextDueAt < Number.POSITIVE_INFINITY) this.#alarm.set(Math.max(PAUSE_MS, nextDueAt - now), now);
    for (const due of bySlot.values()) {
      for (let i = 0; i < due.length; i += BATCH) void this.#look(due.slice(i, i + BATCH));
    }
  }

  async #look(batch: readonly Polled[]): Promise<void> {
    try {
      const remaining = await this.#peek(batch.map(({ peekKey }) => peekKey));
      // A key without expiry is no lock. Its waiter must learn that, which only its own attempt tells it.
      for (const [i, polled] of batch.entries()) {
        const remainingMs = remaining[i] ?? FREE_MS;
        if (remainingMs === FREE_MS) tellWake(this.#clientId, 'look', polled.peekKey);
        polled.peeked(remainingMs >= 0 ? remainingMs : FREE_MS);
      }
    } catch (error) {
      // One key that the server refuses to read must not harm the others: each waiter attempts for itself. If the
      // server is unreachable, all keys are polled again; waiters keep their limits.
      const isRefused = classify(error) === 'refused';
      for (const polled of batch) polled.peeked(isRefused ? FREE_MS : UNKNOWN_MS);
    }
  }
}
