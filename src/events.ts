/**
 * The events that the runtime reports, besides the results of calls.
 *
 * One function, `Report`, carries every event; the client hands them to its listeners and to their
 * diagnostics channels. Nothing a listener does can disturb the runtime.
 */
import type { LossReason } from './errors.ts';

/** What is acquired, held or released. */
export type PrimitiveKind =
  | 'lock'
  | 'nonReentrant'
  | 'fair'
  | 'fenced'
  | 'spin'
  | 'simple'
  | 'read'
  | 'write'
  | 'multi'
  | 'red'
  | 'semaphore'
  | 'permitSemaphore'
  | 'latch'
  | 'rateLimiter';

/** Every event a client emits, by name. */
export interface ClientEvents {
  /** A hold is gone; its `signal` has just been aborted. `label` is that of this client. */
  lost: {
    readonly kind: PrimitiveKind;
    readonly name: string;
    readonly owner: string;
    readonly label: string;
    readonly reason: LossReason;
  };
  /** A renewal failed; it is being repeated until the lease ends. */
  atRisk: {
    readonly kind: PrimitiveKind;
    readonly name: string;
    readonly owner: string;
    readonly label: string;
    readonly remainingMs: number;
    readonly error: unknown;
  };
  /** The event loop was blocked for so long that renewals came late. */
  stalled: { readonly lateMs: number };
  /** Something works less well than it could, for example without permission to publish. */
  warning: {
    readonly code: WarningCode;
    readonly message: string;
    /** For `HOLDFAST_HELD_LONG` and `HOLDFAST_WAIT_LONG`. */
    readonly about?: Lasted;
    /** The lock or synchronizer that the warning is about; left out when it is about the server. */
    readonly name?: string;
  };
  /** Something failed in the background that no caller waits for. */
  error: { readonly error: unknown; readonly during: string };
}

/** What is held, or waited for, longer than it should be. */
export interface Lasted {
  /** The name of the lock or synchronizer. */
  readonly name: string;
  /** The owner field, or the id of the permit; undefined while a waiter has none. */
  readonly owner: string | undefined;
  /** For how long by now. */
  readonly forMs: number;
  /** The stack of the call that acquires it, without the frames of this package. */
  readonly stack: string;
}

/** The names of all events. */
export const CLIENT_EVENTS: readonly (keyof ClientEvents)[] = [
  'lost',
  'atRisk',
  'stalled',
  'warning',
  'error',
];

/**
 * The codes of warnings.
 *
 * - `HOLDFAST_EVICTION`: the server may drop locks when its memory is full
 * - `HOLDFAST_NO_INFO`: the server does not permit INFO
 * - `HOLDFAST_NO_PUBLISH`, `HOLDFAST_NO_SUBSCRIBE`: wake-ups cannot be sent or received; waiters poll
 * - `HOLDFAST_NO_REPLICAS`: replicas cannot be asked for acknowledgements
 * - `HOLDFAST_FEW_REPLICAS`: there are fewer than must acknowledge, or none where a majority is required
 * - `HOLDFAST_NO_GUARD`: the guard is switched on and cannot work
 * - `HOLDFAST_SPLIT_BRAIN`: with the guard, a primary that is cut off from its replicas would go on granting
 * - `HOLDFAST_STALE_PRIMARY`: Sentinels replaced the primary, and the user's client stays with the old one for a while
 * - `HOLDFAST_DISK`: the server cannot write its data to disk
 * - `HOLDFAST_CLOCK_SKEW`: the clocks of server and client differ; people are misled, locks are not
 * - `HOLDFAST_UNFIT`: the server is unfit for locks: a replica, a node of a Cluster, or too old
 * - `HOLDFAST_NO_LABEL`: the server refuses the record with the label of this client
 * - `HOLDFAST_HELD_LONG`, `HOLDFAST_WAIT_LONG`: something is held, or waited for, longer than `warnHeldMs`, `warnWaitMs`
 * - `HOLDFAST_SELF_WAIT`: a section waits for a lock that it holds itself, as another owner
 * - `HOLDFAST_NOT_SET_UP`: a caller asks for permits of a semaphore that does not exist
 * - `HOLDFAST_PERMITS_DIFFER`: a semaphore has another number of permits than the code that uses it says
 */
export type WarningCode =
  | 'HOLDFAST_EVICTION'
  | 'HOLDFAST_NO_INFO'
  | 'HOLDFAST_NO_PUBLISH'
  | 'HOLDFAST_NO_SUBSCRIBE'
  | 'HOLDFAST_NO_REPLICAS'
  | 'HOLDFAST_FEW_REPLICAS'
  | 'HOLDFAST_NO_GUARD'
  | 'HOLDFAST_SPLIT_BRAIN'
  | 'HOLDFAST_STALE_PRIMARY'
  | 'HOLDFAST_DISK'
  | 'HOLDFAST_CLOCK_SKEW'
  | 'HOLDFAST_UNFIT'
  | 'HOLDFAST_NO_LABEL'
  | 'HOLDFAST_HELD_LONG'
  | 'HOLDFAST_WAIT_LONG'
  | 'HOLDFAST_SELF_WAIT'
  | 'HOLDFAST_NOT_SET_UP'
  | 'HOLDFAST_PERMITS_DIFFER';

/** The events as the parts of a client report them; the client adds its label. */
export type Reported = { [Name in keyof ClientEvents]: Omit<ClientEvents[Name], 'label'> };

export type Report = <Name extends keyof Reported>(event: Name, payload: Reported[Name]) => void;
