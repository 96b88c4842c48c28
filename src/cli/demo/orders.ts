/**
 * The messages between the demo and its worker processes.
 */

/** An order to a worker. */
export type Order =
  | { readonly do: 'connect'; readonly url: string; readonly watchdogMs: number }
  | CountOrder
  | { readonly do: 'hold'; readonly lock: string };

/** Increments a counter this many times, some at once; under a lock, or without one. */
export interface CountOrder {
  readonly do: 'count';
  readonly counter: string;
  readonly lock: string | null;
  readonly tasks: number;
  readonly atOnce: number;
}

/** A worker's answer. */
export type Report =
  | { readonly is: 'connected' }
  | { readonly is: 'progress'; readonly done: number }
  | { readonly is: 'counted'; readonly done: number }
  | { readonly is: 'held'; readonly owner: string }
  | LostReport
  | { readonly is: 'failed'; readonly why: string };

/** How a holder learned that its hold is lost. */
interface LostReport {
  readonly is: 'lost';
  /** How long the pause before the check took; the worker asks for a few milliseconds. */
  readonly pausedMs: number;
  /** The error code of `assertHeld()` on the first line after that pause. */
  readonly code: string;
  readonly reason: string;
  /** Whether `signal` was aborted then, with the same error. */
  readonly aborted: boolean;
  /** The result of `unlock()`. */
  readonly unlocked: boolean;
}

/** The counter expires even if the demo cannot delete it. */
export const COUNTER_TTL_MS = 120_000;
