/**
 * What one kind of exclusive lock says to the server: the functions a primitive lends to the runtime.
 *
 * All of them may be repeated without harm. An owner is used for one hold only and never again, so that a
 * late command of an old hold cannot touch a new one.
 */
import type { Waiting } from './acquire.ts';

/** Renews many holds of one kind in one call; answers 1 or 0 for each. Counts are how often each was entered. */
export type Renew = (
  keys: readonly string[],
  leaseMs: number,
  owners: readonly string[],
  counts: readonly number[],
) => Promise<readonly number[]>;

/** What an acquisition was answered: held, with a fencing token where there are such, or for how long it is not. */
export type AcquireAnswer =
  | { readonly status: 'held'; readonly token?: number }
  | { readonly status: 'busy'; readonly remainingMs: number };

/** What the server says of a lock. */
export interface LockState {
  /** -2 free, -1 without expiry. */
  readonly remainingMs: number;
  readonly holder: string | null;
}

export interface LockProtocol {
  /** The user's name of the lock, for messages. */
  readonly name: string;
  /** Where the server keeps it. */
  readonly key: string;
  /** The key and how it is laid out: what is held under this identity is re-entered. */
  readonly identity: string;
  /** Waiters with the same line queue up together in this process; null where the server queues them itself. */
  readonly line: string | null;
  /** How to wait; asked anew for every acquisition, since a back-off has a state. */
  waiting(): Waiting;
  /** Takes it, or says for how long somebody else has it. */
  acquire(owner: string, leaseMs: number): Promise<AcquireAnswer>;
  /** Re-enters: the count becomes this, the lease at least that. */
  enter(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'>;
  /** Takes one of several entries back: the count becomes this. */
  leave(owner: string, count: number): Promise<'held' | 'lost'>;
  /** Ends the hold, whatever its count, and bars the owner for `rememberMs`. */
  release(owner: string, rememberMs: number): Promise<'released' | 'lost'>;
  /** One function for all locks of this kind on this client: holds that share it are renewed together. */
  readonly renew: Renew;
  /** Ends the hold of whoever has it. The request id tells a repeat from a second wish. */
  forceRelease(requestId: string): Promise<'released' | 'free'>;
  describe(): Promise<LockState>;
}
