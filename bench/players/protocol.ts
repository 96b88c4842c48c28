/**
 * What the bench orders from the processes it measures, and what they answer: one JSON line each, one order at a time.
 * The Java program in `bench/redisson` speaks the same.
 */

/** Tasks that use locks again and again, or a number of times each. */
export interface RunOrder {
  readonly op: 'run';
  readonly tasks: number;
  readonly keys: 'one' | 'one each';
  /** The same string gives the same keys in every process; leftovers of an earlier run do not contend with this one. */
  readonly prefix: string;
  /** What happens inside the lock: nothing, one turn of the event loop, or a GET and a SET. */
  readonly inside: 'nothing' | 'turn' | 'get and set';
  readonly ms: number;
  /** How often each task uses the lock; as often as it can within the time when absent. */
  readonly cyclesEach?: number;
  /** No run follows in this process, so that what is under way at the end need not finish. */
  readonly isLast?: boolean;
}

export interface RunAnswer {
  readonly elapsedMs: number;
  /** For each task. */
  readonly cycles: readonly number[];
  /** Includes tasks that were still waiting at the end. */
  readonly worstWaitMs: number;
  /** User and system time of the process. */
  readonly cpuUs: number;
}

/** Takes the lock and answers when it has it; `release` gives it back and answers when it began to do so. */
export type HandoverOrder = { readonly op: 'acquire' | 'release'; readonly key: string };

export interface HandoverAnswer {
  /** By the monotonic clock, which all processes of a machine share. */
  readonly atUs: number;
}

/** What only holdfast is asked; see `players/scale`. */
export type ScaleOrder =
  | { readonly op: 'guard'; readonly rounds: number }
  | { readonly op: 'channels'; readonly rounds: number }
  | { readonly op: 'hold'; readonly count: number; readonly watchdogMs: number }
  | { readonly op: 'observe'; readonly ms: number }
  | { readonly op: 'drain'; readonly count: number }
  | { readonly op: 'wait'; readonly count: number };

export type Order = RunOrder | HandoverOrder | ScaleOrder;
