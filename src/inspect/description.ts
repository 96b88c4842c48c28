/**
 * What `inspect` and `list` answer: a tagged union over every primitive.
 */

/** Who a client is, for people: its record in Redis, which lasts as long as it holds something, or a little longer. */
export interface ClientRecord {
  /** The client's option `label`. */
  readonly label: string;
  readonly host: string;
  readonly pid: number;
  /** When the client was made, by its own clock. */
  readonly since: Date;
}

/** An owner of a hold or of a place in a queue. */
export interface OwnerInfo {
  /** The owner field in Redis: `<client id>:<number>`. Other libraries may have written any text. */
  readonly owner: string;
  /** The client of holdfast or of Redisson that the field names; null for other text. */
  readonly clientId: string | null;
  /** Null for a client of Redisson, and where the record has expired or may not be read. */
  readonly client: ClientRecord | null;
}

/** An owner that holds a lock. */
export interface HolderInfo extends OwnerInfo {
  /** How many times the owner has entered the lock. */
  readonly holdCount: number;
  /** What is left of its lease; `Infinity` without an expiry, 0 for a reader that no longer counts. */
  readonly remainingMs: number;
  /**
   * When the owner got the lock. For a hold of another client of holdfast: as that client says, by its clock, once the
   * hold has lasted for a third of its client's `watchdogMs`; null before, and for clients of Redisson.
   */
  readonly heldSince: Date | null;
}

/** A taken permit of a semaphore with leases. */
export interface PermitInfo {
  readonly id: string;
  /** What is left of its lease; `Infinity` without an expiry. */
  readonly remainingMs: number;
  /** When this client got the permit; null for permits of other clients. */
  readonly heldSince: Date | null;
}

interface Described<Kind extends string> {
  /** The key in Redis: the name with prefix and mapping. */
  readonly key: string;
  readonly kind: Kind;
}

/** No key: free, never used, or a latch that is open. */
export interface FreeDescription extends Described<'free'> {
  readonly kind: 'free';
}

/** A lock that one owner holds: reentrant, non-reentrant or spin, or fair and without waiters. */
export interface LockDescription extends Described<'lock'> {
  readonly holders: readonly [HolderInfo];
}

/** The plain lock of `getSimpleLock`, or another string with an expiry. */
export interface SimpleLockDescription extends Described<'simple'> {
  readonly holders: readonly [HolderInfo];
}

/** A lock with a queue. It has no holder while it passes to the next waiter. */
export interface FairLockDescription extends Described<'fair'> {
  readonly holders: readonly HolderInfo[];
  /** The first thousand waiters, the next to be served first. */
  readonly waiters: readonly OwnerInfo[];
}

/** A lock that has issued fencing tokens; it has no holder while it is free. */
export interface FencedLockDescription extends Described<'fenced'> {
  readonly holders: readonly HolderInfo[];
  readonly lastToken: number;
}

/** A read/write lock: all its readers, or its writer and that owner's read holds. */
export interface ReadWriteLockDescription extends Described<'readWrite'> {
  /** `write`: the holder whose owner ends in `:write` is the writer; any other is the same owner, reading as well. */
  readonly mode: 'read' | 'write';
  readonly holders: readonly HolderInfo[];
}

/** A semaphore, where `inspect` was told that it is one. */
export interface SemaphoreDescription extends Described<'semaphore'> {
  readonly freePermits: number;
}

/** A semaphore whose permits have leases. */
export interface PermitSemaphoreDescription extends Described<'permitSemaphore'> {
  readonly freePermits: number;
  readonly takenPermits: number;
  /** The first thousand taken permits, in the order in which they end. */
  readonly permits: readonly PermitInfo[];
}

/** A count-down latch, where `inspect` was told that it is one. */
export interface LatchDescription extends Described<'latch'> {
  readonly count: number;
}

/** A rate limiter. */
export interface RateLimiterDescription extends Described<'rateLimiter'> {
  readonly mode: 'overall' | 'perClient';
  readonly rate: number;
  readonly intervalMs: number;
  /** Free now; null where each client has its own number, or the server cannot tell. */
  readonly freePermits: number | null;
}

/** A whole number: a semaphore's free permits, a latch's count, or any counter. `inspect` can be told which. */
export interface CounterDescription extends Described<'counter'> {
  readonly count: number;
}

/** A key that is none of these; `type` is its Redis type. */
export interface OtherDescription extends Described<'other'> {
  readonly type: string;
}

/** What is under a name; `kind` says which of these it is. */
export type Description =
  | FreeDescription
  | LockDescription
  | SimpleLockDescription
  | FairLockDescription
  | FencedLockDescription
  | ReadWriteLockDescription
  | SemaphoreDescription
  | PermitSemaphoreDescription
  | LatchDescription
  | RateLimiterDescription
  | CounterDescription
  | OtherDescription;

/** How to read a key whose layout several primitives share. */
export interface InspectOptions {
  /** Reads a whole number as the permits of a semaphore, or as the count of a latch. */
  as?: 'semaphore' | 'permitSemaphore' | 'latch' | undefined;
}

/** What to list. */
export interface ListOptions {
  /** Lists whole numbers too: semaphores and latches, but also any counter of yours. Default: false. */
  counters?: boolean | undefined;
}
