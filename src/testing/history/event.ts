/**
 * One line of a history: an action, an observation or an incident of a process.
 *
 * The checker judges histories. A history does not show how a lock works; it shows what callers asked for, what they
 * got, and when. Times come from the monotonic clock, which all processes of one machine share.
 */

/** The primitive. A read/write lock is one key with two kinds; a multi lock is recorded under each of its keys. */
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

/** A caller's action. Each has an `invoke` and, unless the process died, one outcome. */
export type RecordedCall =
  /** Acquires the lock or `permits`. `fail`: the wait ended without a grant. */
  | 'acquire'
  /** Releases it. `ok`: it was held until now; `fail`: it had been lost before. */
  | 'release'
  /** A forced release. */
  | 'force'
  /** A latch: counts down by one, or waits for zero. */
  | 'countDown'
  | 'await'
  /** A write to the witness under the hold. `fail`: a fence refused it. */
  | 'write';

/** An event that no caller asked for; `type` is always `info`. */
export type RecordedIncident =
  /** The holder's `signal` aborted. */
  | 'lost'
  /** The holder checked its hold: it is held until `deadlineNs`. */
  | 'held'
  /**
   * The capacity: `permits` of a semaphore, `count` of a latch, `permits` per `intervalMs` of a rate. Recorded after it
   * is set, but before the call if a semaphore's number rises. A rate per client is recorded under one key for each
   * client.
   */
  | 'set'
  /** The server's list of a fair lock's waiters: `queue`, the head first. */
  | 'queue'
  /** The process did not run from `fromNs` until now: it was stopped, or its event loop was blocked. */
  | 'stalled'
  /** The process ended without closing its client. */
  | 'died'
  /** Found after everything was healed and closed: the available `permits`, or the description of a `leak`. */
  | 'left'
  /** A fault begins (`invoke`) or ends (`ok`); here `type` is not `info`. */
  | 'fault';

/** One event. Its optional fields depend on `op`. */
export interface HistoryEvent {
  /** The process, or `nemesis` for faults, or `witness` for values read from the server. */
  readonly proc: string;
  /** The worker inside the process; it makes one call at a time. */
  readonly worker: string;
  /** The name of the primitive; empty for `stalled`, `died` and `fault`. */
  readonly key: string;
  readonly kind?: RecordedKind;
  readonly op: RecordedCall | RecordedIncident;
  readonly type: 'invoke' | 'ok' | 'fail' | 'info';
  /** By `process.hrtime`. */
  readonly atNs: number;
  /** Links an invocation to its outcome; unique in its process. */
  readonly call?: number;
  /** The caller's handle, from its grant on; unique in the history. */
  readonly hold?: string;
  /** The owner, if several handles belong to one that may re-enter. Without it each handle is a separate party. */
  readonly party?: string;
  /** The owner field in Redis. */
  readonly owner?: string;
  /** The fencing token. */
  readonly token?: number;
  /** How many permits were requested, returned, set or left. Default one. */
  readonly permits?: number;
  readonly count?: number;
  readonly intervalMs?: number;
  /** How long the caller would wait; absent if unknown. 0 is a single attempt. */
  readonly waitMs?: number;
  /** The requested lease; absent if the watchdog renews it. */
  readonly leaseMs?: number;
  /** The holder's deadline, as it knew it at `atNs`. */
  readonly deadlineNs?: number;
  /** When a stall began. */
  readonly fromNs?: number;
  readonly queue?: readonly string[];
  /** Of a loss: the reason. Of an outcome that is not `ok`: the error's code. Of a fault: its name. Of a leak: what. */
  readonly what?: string;
  /** Of a fault: it may remove holds from the server, so a loss after it is no false alarm. */
  readonly removesHolds?: boolean;
  /** Of a fault: the affected processes; all if absent. */
  readonly procs?: readonly string[];
}
