/**
 * The commands of one kind of lock: the functions that a primitive gives to the runtime.
 *
 * All of them are idempotent. An owner is used for one hold only and never again, so that a late command of
 * an old hold cannot touch a new one.
 */
import type { PrimitiveKind } from '../events.ts';
import type { Owner } from './owner.ts';

/** How the head of the line learns when to attempt again. */
export type Waiting =
  | {
      readonly kind: 'messages';
      readonly channel: string;
      readonly pollMs: number;
      /** A key that exists exactly while others hold the lock: many such keys are polled together. */
      readonly peekKey?: string;
    }
  | { readonly kind: 'spin'; readonly nextDelayMs: () => number };

/** Renews many holds of one kind in one call; returns 1 or 0 for each. Counts are how often each was entered. */
export type Renew = (
  keys: readonly string[],
  leaseMs: number,
  owners: readonly string[],
  counts: readonly number[],
) => Promise<readonly number[]>;

/**
 * The answer to an acquisition: held, with a fencing token if the lock has them; busy, and for how long; or the owner
 * has ended, and the server never grants it anything again.
 */
export type AcquireAnswer =
  | { readonly status: 'held'; readonly token?: number }
  | { readonly status: 'busy'; readonly remainingMs: number }
  | { readonly status: 'ended' };

/**
 * The answer to a release: released, as a number where it is known how many heard of it, -1 where the server
 * refused to publish it; or lost, when there was no hold to release.
 */
export type ReleaseAnswer = number | 'released' | 'lost';

/** In place of a remaining time, as PTTL answers: no owner holds the lock, or its lease never ends. */
export const FREE_MS = -2;
export const NO_EXPIRY_MS = -1;

/** In place of the time for which others hold something: it is held, and nothing says for how long. */
export const UNKNOWN_MS = -1;

/** The state of a lock on the server. */
export interface LockState {
  /** A time, `FREE_MS` or `NO_EXPIRY_MS`. */
  readonly remainingMs: number;
  readonly holder: string | null;
}

export const FREE_LOCK: LockState = { remainingMs: FREE_MS, holder: null };

/** How a tenure begins: its owner field on the server, and the protocol to use for it. */
export interface TenureStart {
  readonly field: string;
  readonly protocol: LockProtocol;
}

/** A hold as its holder knows it, for a server that forgot it. */
export interface Claimed {
  readonly owner: string;
  readonly count: number;
  readonly leaseMs: number;
  readonly token: number | undefined;
}

/** How holds survive when the server forgets them in a failover or a restart. */
export interface Guarded {
  /** When the server has not confirmed a hold for this long, another owner may have the lock. */
  readonly graceMs: number;
  /** Restores a hold that the server forgot; `taken` if another owner has the lock, `lost` if it forgot nothing. */
  reclaim(hold: Claimed): Promise<'held' | 'taken' | 'lost'>;
  /** Whether the server may have forgotten holds, and grants only those that are reclaimed. */
  isGrace(): Promise<boolean>;
}

/** The commands that keep and end a tenure. Without `enter` and `leave` it cannot be re-entered. */
export interface TenureProtocol {
  readonly kind: PrimitiveKind;
  /** The user's name of the lock, for messages. */
  readonly name: string;
  /** The lock's key. */
  readonly key: string;
  /** The key and its layout: an owner re-enters what it holds under the same identity. */
  readonly identity: string;
  /**
   * Waiters with the same line queue up together in this process. Null where there is no such line: the server keeps
   * the queue, the caller does not queue at all, or waiters queue by the number of permits they want.
   */
  readonly line: string | null;
  /** Re-enters: sets the count, and the lease to at least this. */
  enter?(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'>;
  /** Leaves one of several entries: sets the count. */
  leave?(owner: string, count: number): Promise<'held' | 'lost'>;
  /** Ends the hold, whatever its count, or the wait, and leaves a tombstone for `rememberMs`. */
  end(owner: string, rememberMs: number): Promise<ReleaseAnswer>;
  /** Ends the hold of an owner whose commands were all answered, when no copy of them can arrive later. */
  release?(owner: string): Promise<ReleaseAnswer>;
  /** It may be passed to another waiter of this process, which needs nothing new from the server. */
  readonly canPassOn?: boolean;
  /** Whether no copy of an answered command can arrive later. */
  readonly writesOnce?: boolean;
  /** Other owners may keep the key alive after this lease: a lost hold must be released all the same. */
  readonly outlivesLease?: boolean;
  /** Other clients may shorten its lease at any time: the watchdog keeps confirming what is left of it. */
  readonly isCutByOthers?: boolean;
  /** Left out for a lock without the guard. */
  readonly guarded?: Guarded | undefined;
  /** One function for all locks of this kind on this client: holds that share it are renewed together. */
  readonly renew: Renew;
}

export interface LockProtocol extends TenureProtocol {
  /** Where the server notes who waits, as in a queue: how long it keeps the note of a waiter that vanished. */
  readonly waitNoteMs?: number;
  /**
   * Where a tenure needs more than a fresh field: how this owner begins one, given its holds on related locks.
   *
   * @throws ReentryError when a hold of the owner keeps it from ever getting this
   */
  begin?(owner: Owner | undefined, fresh: string): TenureStart;
  /** The owner of this protocol's tenure holds the lock exclusively already, so that this takes nothing from others. */
  readonly isDowngrade?: boolean;
  /** Whether an acquisition is a single command at present, with no follow-up to wait for. */
  readonly isOneCommand: boolean;
  /** How to wait; called for every acquisition, since a backoff has state. */
  waiting(owner: string): Waiting;
  /** Takes the lock, or says how long another owner has it. With a `waitMs` of 0, it does not queue. */
  acquire(owner: string, leaseMs: number, waitMs: number): Promise<AcquireAnswer>;
  enter(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'>;
  leave(owner: string, count: number): Promise<'held' | 'lost'>;
  /** Names the holders that a forced release would end now. Rejects a key that holds no lock. */
  holders(): Promise<readonly string[]>;
  /** Ends only these holders. The server keeps the answer under its key, so that a repeat ends no later holder. */
  forceRelease(holders: readonly string[], answer: string, rememberMs: number): Promise<void>;
  /** If there are many holders, names this owner when it is one of them. */
  describe(owner?: string): Promise<LockState>;
  /** What keeps others out, where `describe` does not say. */
  obstacle?(): Promise<LockState>;
}
