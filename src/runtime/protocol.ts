/**
 * What one kind of exclusive lock says to the server: the functions a primitive lends to the runtime.
 *
 * All of them may be repeated without harm. An owner is used for one hold only and never again, so that a
 * late command of an old hold cannot touch a new one.
 */
import type { Waiting } from './acquire.ts';
import type { Owner } from './owner.ts';

/** Renews many holds of one kind in one call; answers 1 or 0 for each. Counts are how often each was entered. */
export type Renew = (
  keys: readonly string[],
  leaseMs: number,
  owners: readonly string[],
  counts: readonly number[],
) => Promise<readonly number[]>;

/**
 * What an acquisition was answered: held, with a fencing token where there are such; for how long it is not; or that the
 * owner has ended, and nothing is ever granted to it again.
 */
export type AcquireAnswer =
  | { readonly status: 'held'; readonly token?: number }
  | { readonly status: 'busy'; readonly remainingMs: number }
  | { readonly status: 'ended' };

/**
 * What a release was answered: released, as a number where it is known how many heard of it, -1 where the server
 * refused to tell anybody; or nothing was left.
 */
export type ReleaseAnswer = number | 'released' | 'lost';

/** What the server says of a lock. */
export interface LockState {
  /** -2 free, -1 without expiry. */
  readonly remainingMs: number;
  readonly holder: string | null;
}

/** Who begins a tenure: its field on the server, and the protocol that speaks for it. */
export interface Beginner {
  readonly field: string;
  readonly protocol: LockProtocol;
}

/** A hold as its holder knows it, for a server that does not. */
export interface Claimed {
  readonly owner: string;
  readonly count: number;
  readonly leaseMs: number;
  readonly token: number | undefined;
}

/** How holds outlive what the server forgets when it fails over or starts anew. */
export interface Guarded {
  /** A hold that the server has not confirmed for this long may be somebody else's by now. */
  readonly graceMs: number;
  /** Gives back what the server forgot; `taken` when it has somebody else's there, `lost` when it forgot nothing. */
  reclaim(hold: Claimed): Promise<'held' | 'taken' | 'lost'>;
  /** Whether the server may have forgotten holds, and lets in only those who come back. */
  isGrace(): Promise<boolean>;
}

/** What a tenure needs to be kept and ended. Without `enter` and `leave` it cannot be entered again. */
export interface TenureProtocol {
  /** The user's name of the lock, for messages. */
  readonly name: string;
  /** Where the server keeps it. */
  readonly key: string;
  /** The key and how it is laid out: what is held under this identity is re-entered. */
  readonly identity: string;
  /** Waiters with the same line queue up together in this process; null where the server queues them itself. */
  readonly line: string | null;
  /** Re-enters: the count becomes this, the lease at least that. */
  enter?(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'>;
  /** Takes one of several entries back: the count becomes this. */
  leave?(owner: string, count: number): Promise<'held' | 'lost'>;
  /** Ends the hold, whatever its count, or the wait, and bars the owner for `rememberMs`. */
  end(owner: string, rememberMs: number): Promise<ReleaseAnswer>;
  /** Ends the hold of an owner whose every command was answered, and of which no copy can come later. */
  release?(owner: string): Promise<ReleaseAnswer>;
  /** It may be handed to another waiter of this process, who needs nothing of its own on the server. */
  readonly isPassedOn?: boolean;
  /** Whether no copy of a command that was answered can come later. */
  readonly writesOnce?: boolean;
  /** Its key may live on after its lease, because others keep it: what is lost must be released all the same. */
  readonly outlivesLease?: boolean;
  /** Other clients may shorten its lease without asking: what is left of it is confirmed again and again. */
  readonly isCutByOthers?: boolean;
  /** Left out where the server's word is final. */
  readonly guarded?: Guarded | undefined;
  /** One function for all locks of this kind on this client: holds that share it are renewed together. */
  readonly renew: Renew;
}

export interface LockProtocol extends TenureProtocol {
  /** Where the server queues: for how long a waiter that left without a word may keep its place there. */
  readonly queueMs?: number;
  /**
   * Where a tenure is more than a fresh number: as whom this owner begins one. Several locks may be one for it.
   *
   * @throws ReentryError when what the owner holds keeps it from ever getting this
   */
  begin?(owner: Owner | undefined, fresh: string): Beginner;
  /** Whether an acquisition is a single command at present, with nothing that is waited for behind it. */
  readonly isOneCommand: boolean;
  /** How to wait; asked anew for every acquisition, since a back-off has a state. */
  waiting(owner: string): Waiting;
  /** Takes it, or says for how long somebody else has it. Who waits no time at all is not queued. */
  acquire(owner: string, leaseMs: number, waitMs: number): Promise<AcquireAnswer>;
  enter(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'>;
  leave(owner: string, count: number): Promise<'held' | 'lost'>;
  /** Names the holders that a forced release would end, as things are now. A key that holds no lock is refused. */
  holders(): Promise<readonly string[]>;
  /** Ends these holders and no other. The answer is kept under its key, so that a repeat ends nobody who came back. */
  forceRelease(holders: readonly string[], answer: string, rememberMs: number): Promise<void>;
  /** Where many hold it, the holder named is this owner if it is one of them. */
  describe(owner?: string): Promise<LockState>;
  /** What keeps others out, where that is not what `describe` tells. */
  obstacle?(): Promise<LockState>;
}
