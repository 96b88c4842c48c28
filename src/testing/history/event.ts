/**
 * One line of a history: something that a process did, saw or suffered.
 *
 * A history is what the checker judges. It knows nothing of how a lock works; it knows what callers asked for, what
 * they were told, and when. Times come from the monotonic clock, which all processes of one machine share.
 */

/** What was asked. A read/write lock is one key with two kinds; a multi lock is recorded under each of its keys. */
export type RecordedKind =
  | 'lock'
  | 'fair'
  | 'fenced'
  | 'read'
  | 'write'
  | 'semaphore'
  | 'permit'
  | 'latch'
  | 'rate';

/** What a caller does. Each has an `invoke` and, unless the process died, one outcome. */
export type RecordedCall =
  /** Takes the lock or `permits`. `fail`: the wait ended without it. */
  | 'acquire'
  /** Gives it back. `ok`: it was held until now; `fail`: it had been lost before. */
  | 'release'
  /** Frees whoever holds it. */
  | 'force'
  /** A latch: counts down by one, or waits for zero. */
  | 'countDown'
  | 'await'
  /** A write to the witness, guarded by the hold. `fail`: a fence refused it. */
  | 'write';

/** What happens without being asked for; `type` is always `info`. */
export type RecordedIncident =
  /** The holder's `signal` aborted. */
  | 'lost'
  /** The holder looked at its hold: it is held until `deadlineNs`. */
  | 'held'
  /**
   * How much there is to share: `permits` of a semaphore, `count` of a latch, `permits` per `intervalMs` of a rate.
   * Recorded when it is done; of a semaphore whose number rises, before that is asked for. A rate for each client is
   * recorded under a key for each client.
   */
  | 'set'
  /** The waiters of a fair lock as the server lists them: `queue`, the head first. */
  | 'queue'
  /** The process did not run from `fromNs` until now: stopped, or its event loop was blocked. */
  | 'stalled'
  /** The process ended without closing its client. */
  | 'died'
  /** Found after everything had been healed and closed: `permits` still available, or a `leak` in words. */
  | 'left'
  /** A fault begins (`invoke`) or is over (`ok`); these two have types of their own. */
  | 'fault';

/** One event. Which of the optional fields are there depends on `op`. */
export interface HistoryEvent {
  /** The process, or `nemesis` for faults, or `witness` for what was read from the server. */
  readonly proc: string;
  /** Who acted inside the process: one call at a time. */
  readonly worker: string;
  /** The name of the primitive; empty for `stalled`, `died` and `fault`. */
  readonly key: string;
  readonly kind?: RecordedKind;
  readonly op: RecordedCall | RecordedIncident;
  readonly type: 'invoke' | 'ok' | 'fail' | 'info';
  /** By `process.hrtime`. */
  readonly atNs: number;
  /** Ties an invocation to its outcome; unique in its process. */
  readonly call?: number;
  /** The handle that the caller got, from its grant on; unique in the history. */
  readonly hold?: string;
  /** Who asked, where several handles belong to one owner that may re-enter. Without it each handle is its own party. */
  readonly party?: string;
  /** The owner field in Redis. */
  readonly owner?: string;
  /** The fencing token. */
  readonly token?: number;
  /** How many permits were asked for, given back, set or left. One when it is not there. */
  readonly permits?: number;
  readonly count?: number;
  readonly intervalMs?: number;
  /** How long the caller was ready to wait; not there when that is not known. 0 is one try. */
  readonly waitMs?: number;
  /** The lease that was asked for; not there when the watchdog renews it. */
  readonly leaseMs?: number;
  /** Until when the holder may rely on what it holds, as far as it knew at `atNs`. */
  readonly deadlineNs?: number;
  /** When a stall began. */
  readonly fromNs?: number;
  readonly queue?: readonly string[];
  /** Of a loss: the reason. Of an outcome that is not `ok`: the error's code. Of a fault: its name. Of a leak: what. */
  readonly what?: string;
  /** Of a fault: it may take holds away from holders on the server, so that a loss after it is no false alarm. */
  readonly removesHolds?: boolean;
  /** Of a fault: the processes it strikes; all when it is not there. */
  readonly procs?: readonly string[];
}
