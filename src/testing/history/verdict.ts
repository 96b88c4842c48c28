/**
 * What the checker answers: whether a history was allowed, what was not, and some figures.
 */

/** What can be wrong with a history. */
export type ViolationKind =
  /** Two parties were inside at once: mutex, fair, fenced, write/write, write/read, multi, red. */
  | 'overlap'
  /** More permits were out at one moment than there are. */
  | 'too-many-permits'
  /** The permits left at the end are not those that must be left. */
  | 'not-conserved'
  /** A later grant has no higher token, or a fence let an older token pass. */
  | 'token-fell'
  /** A party re-entered and got another token. */
  | 'token-changed'
  /** A waiter of a fair lock was overtaken. */
  | 'out-of-order'
  /** A latch let a waiter pass before it was counted down. */
  | 'latch-opened-early'
  /** A rate limiter granted more than its rate within one interval. */
  | 'rate-exceeded'
  /** The holder was not told in time. */
  | 'late-loss'
  /** The holder was told of a loss that was none. */
  | 'early-loss'
  /** A hold that had been lost was given back as if held until then. */
  | 'released-after-loss'
  /** An owner field was used for a second tenure. */
  | 'owner-reused'
  /** A waiter did not get in although nothing was in its way. */
  | 'left-behind'
  /** A call never settled. */
  | 'hung'
  /** Something was still there after everything had ended. */
  | 'leak'
  /** No order of the calls explains their outcomes. */
  | 'not-linearizable';

/** One thing in a history that was not allowed. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly key: string;
  /** One sentence; its times are milliseconds since the history's first event. */
  readonly text: string;
  readonly fromNs: number;
  readonly toNs: number;
  /** The holds concerned. */
  readonly holds: readonly string[];
  /** The processes concerned. */
  readonly procs: readonly string[];
}

/** How much was checked, and how well it went. */
export interface Figures {
  /** Calls that were made. */
  readonly operations: number;
  /** Acquisitions that were granted. */
  readonly grants: number;
  /** Times in which a holder believed to hold. */
  readonly windows: number;
  /** How often a holder was told of a loss, by its reason. */
  readonly losses: Readonly<Record<string, number>>;
  readonly faults: number;
  /** The longest time from the moment a key became free, while a live process waited for it, to the next grant. */
  readonly worstTakeoverMs: number;
  /** The longest time from a holder's deadline to its `lost`, without the time in which its process stood still. */
  readonly worstLossLatenessMs: number;
}

/** `unknown`: nothing wrong was found, but a search was given up before its end. */
export interface Verdict {
  readonly verdict: 'valid' | 'invalid' | 'unknown';
  readonly violations: readonly Violation[];
  readonly figures: Figures;
}

/** How strict the checker is. */
export interface CheckBounds {
  /** How late a timer may fire on a busy machine: what lies within is no lateness. 50 unless told. */
  readonly slackMs: number;
  /** For how long a fault that is over may still have effects. 3,000 unless told. */
  readonly settleMs: number;
  /** How soon a waiter must get what is free; longer than a poll of the library. 8,000 unless told. */
  readonly takeoverMs: number;
  /** For how long a waiter that died or stands still may keep others from what it waits for. 12,000 unless told. */
  readonly silentMs: number;
  /** How many short samples are searched for an order that explains them. None unless told. */
  readonly samples: number;
  /** Which samples these are. */
  readonly seed: number;
  /** After how many steps the search of one sample is given up. */
  readonly searchSteps: number;
}

export const DEFAULT_BOUNDS: CheckBounds = {
  slackMs: 50,
  settleMs: 3_000,
  takeoverMs: 8_000,
  silentMs: 12_000,
  samples: 0,
  seed: 1,
  searchSteps: 200_000,
};
