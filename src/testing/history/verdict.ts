/**
 * The checker's result: whether a history was allowed, the violations, and some figures.
 */

/** The kinds of violations. */
export type ViolationKind =
  /** Two parties were inside at once: mutex, fair, fenced, write/write, write/read, multi, red. */
  | 'overlap'
  /** More permits were out at one moment than exist. */
  | 'too-many-permits'
  /** The number of permits left at the end is wrong. */
  | 'not-conserved'
  /** A later grant has no higher token, or a fence accepted an older token. */
  | 'token-fell'
  /** A party re-entered and got another token. */
  | 'token-changed'
  /** A waiter of a fair lock was overtaken. */
  | 'out-of-order'
  /** A latch let a waiter pass before it was counted down. */
  | 'latch-opened-early'
  /** A rate limiter granted more than its rate within one interval. */
  | 'rate-exceeded'
  /** The holder learned of the loss too late. */
  | 'late-loss'
  /** The holder was notified of a loss that did not happen. */
  | 'early-loss'
  /** The release of a lost hold succeeded as if it were still held. */
  | 'released-after-loss'
  /** An owner field was used for a second tenure. */
  | 'owner-reused'
  /** A waiter was not granted a free lock. */
  | 'left-behind'
  /** A call never settled. */
  | 'hung'
  /** A resource was left after everything had ended. */
  | 'leak'
  /** No order of the calls explains their outcomes. */
  | 'not-linearizable';

/** One event or pattern in a history that was not allowed. */
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

/** The extent of the check, and performance figures. */
export interface Figures {
  /** The calls made. */
  readonly operations: number;
  /** The acquisitions granted. */
  readonly grants: number;
  /** The intervals in which a holder believed it held. */
  readonly windows: number;
  /** The number of losses reported to holders, by reason. */
  readonly losses: Readonly<Record<string, number>>;
  readonly faults: number;
  /** The longest time from the moment a key became free, while a live process waited for it, to the next grant. */
  readonly worstTakeoverMs: number;
  /** The longest time from a holder's deadline to its `lost`, without the time in which its process was stalled. */
  readonly worstLossLatenessMs: number;
}

/** `unknown`: no violation was found, but a search was abandoned. */
export interface Verdict {
  readonly verdict: 'valid' | 'invalid' | 'unknown';
  readonly violations: readonly Violation[];
  readonly figures: Figures;
}

/** How strict the checker is. */
export interface CheckBounds {
  /** How late a timer may fire on a busy machine; less is not late. Default 50. */
  readonly slackMs: number;
  /** How long the effects of a fault may last after its end. Default 3,000. */
  readonly settleMs: number;
  /** How soon a waiter must be granted a free lock; longer than the library's poll interval. Default 8,000. */
  readonly takeoverMs: number;
  /** How long a waiter that died or is stalled may block others from what it waits for. Default 12,000. */
  readonly silentMs: number;
  /** How many short samples are searched for an order that explains them. Default none. */
  readonly samples: number;
  /** Selects the samples. */
  readonly seed: number;
  /** The search of one sample is abandoned after this many steps. */
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
