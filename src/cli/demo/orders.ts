/**
 * What the demo and its worker processes say to each other.
 */

/** What a worker is told to do. */
export type Order =
  | { readonly do: 'connect'; readonly url: string; readonly watchdogMs: number }
  | CountOrder
  | { readonly do: 'hold'; readonly lock: string };

/** Increment a counter this many times, some at once; under a lock, or without one. */
export interface CountOrder {
  readonly do: 'count';
  readonly counter: string;
  readonly lock: string | null;
  readonly tasks: number;
  readonly atOnce: number;
}

/** What a worker answers. */
export type Report =
  | { readonly is: 'connected' }
  | { readonly is: 'progress'; readonly done: number }
  | { readonly is: 'counted'; readonly done: number }
  | { readonly is: 'held'; readonly owner: string }
  | LostReport
  | { readonly is: 'failed'; readonly why: string };

/** How a holder learnt that its hold is lost. */
interface LostReport {
  readonly is: 'lost';
  /** How long the pause took after which it looked; it asks for a few milliseconds. */
  readonly pausedMs: number;
  /** What `assertHeld()` threw on the first line after that pause. */
  readonly code: string;
  readonly reason: string;
  /** Whether `signal` was aborted then, with the same error. */
  readonly aborted: boolean;
  /** What `unlock()` answered. */
  readonly unlocked: boolean;
}

/** The counter goes with the demo, even if nobody is left to delete it. */
export const COUNTER_TTL_MS = 120_000;
