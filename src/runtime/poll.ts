/**
 * How often a waiter asks though it was not woken: messages make waiting fast, polls make it correct.
 */

/** How long a waiter sleeps at most without a message: what a lost wake-up costs. */
export const POLL_MS = 5_000;

/** Polls of many processes should not fall together. */
export function jittered(pollMs: number): number {
  return pollMs * (0.8 + Math.random() * 0.4);
}
