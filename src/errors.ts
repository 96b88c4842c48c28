/**
 * Every error this package throws.
 *
 * Match on `code`, or with `instanceof`, which also recognises errors made by another copy of the
 * package in the same process: a brand is compared, not the prototype. `cause` keeps the original error.
 */
import { isBranded } from './package-copies.ts';

const BRAND = Symbol.for('holdfast.error');

/** The `code` of every error of this package; it never changes between versions. */
export type ErrorCode =
  | 'ERR_ACQUIRE_TIMEOUT'
  | 'ERR_LEASE_LOST'
  | 'ERR_NOT_HELD'
  | 'ERR_REENTRY'
  | 'ERR_DEADLOCK'
  | 'ERR_QUORUM'
  | 'ERR_REPLICATION'
  | 'ERR_OUTCOME_UNKNOWN'
  | 'ERR_DRIVER'
  | 'ERR_CLOSED'
  | 'ERR_STALE_TOKEN'
  | 'ERR_INVALID_OPTION';

function hasCode(value: unknown, code: ErrorCode | undefined): boolean {
  return isBranded(value, BRAND) && (code === undefined || (value as { code?: unknown }).code === code);
}

/** `instanceof` by brand and code for our own classes, the ordinary one for classes users derive from them. */
function isInstance(target: { prototype: object }, code: ErrorCode | undefined, value: unknown): boolean {
  const ours = Object.hasOwn(target, 'brandedCode');
  return ours ? hasCode(value, code) : Object.prototype.isPrototypeOf.call(target.prototype, value as object);
}

/** The base of every error of this package. Its `code` never changes between versions. */
export abstract class HoldfastError extends Error {
  protected static readonly brandedCode: ErrorCode | undefined = undefined;
  abstract readonly code: ErrorCode;
  readonly [BRAND] = true;

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class on the right of instanceof.
    return isInstance(this, this.brandedCode, value);
  }
}

/** The holder when a wait ran out, as far as the server said. */
export interface HeldBy {
  /** The owner field in Redis, or undefined when it is not known. */
  readonly holder?: string | undefined;
  /** The label of the holder's client, or undefined when it is not known: see the client option `label`. */
  readonly label?: string | undefined;
  /** The rest of the holder's lease; -1 when the key has no expiry. */
  readonly remainingMs?: number | undefined;
}

/** `withLock` or `withPermit` waited for its `waitMs` and got no lock or permit. */
export class AcquireTimeoutError extends HoldfastError {
  protected static override readonly brandedCode = 'ERR_ACQUIRE_TIMEOUT';
  override readonly name = 'AcquireTimeoutError';
  readonly code = 'ERR_ACQUIRE_TIMEOUT';
  readonly holder: string | undefined;
  readonly remainingMs: number | undefined;

  constructor(
    readonly lockName: string,
    readonly waitedMs: number,
    readonly heldBy?: HeldBy,
  ) {
    super(
      `Could not acquire "${lockName}" within ${waitedMs} ms${heldBy === undefined ? '' : inTheWay(heldBy)}`,
    );
    this.holder = heldBy?.holder;
    this.remainingMs = heldBy?.remainingMs;
  }
}

function inTheWay({ holder = 'another owner', label, remainingMs = -1 }: HeldBy): string {
  const who = label === undefined ? holder : `${holder} (${label})`;
  const rest = remainingMs < 0 ? '' : ` for another ${remainingMs} ms unless it renews`;
  return `: ${who} holds it${rest}`;
}

/**
 * Why a holder lost its hold.
 *
 * - `expired`: its lease ran out (it was taken with `leaseMs`, the process was too busy to notice in time, or the
 *   server's grant came too late)
 * - `notOwner`: the server says the hold is gone: deleted, evicted, flushed, cut short or released by force elsewhere
 * - `unreachable`: renewals did not get through before the lease could end
 * - `failover`: after a promotion or a restart the server has an older hold of another owner in its place
 * - `suspended`: the machine slept past the lease
 * - `forced`: `forceUnlock` was called on this client
 * - `maxHold`: it was held for longer than its `maxHoldMs`
 * - `closed`: the client was closed
 */
export type LossReason =
  | 'expired'
  | 'notOwner'
  | 'unreachable'
  | 'failover'
  | 'suspended'
  | 'forced'
  | 'maxHold'
  | 'closed';

const LOSS_TEXT: Record<LossReason, string> = {
  expired: 'its lease ran out',
  notOwner: 'the server no longer has this hold',
  unreachable: 'no renewal reached the server in time',
  failover: 'the server lost it in a failover or restart, and another owner holds the lock',
  suspended: 'the machine was suspended until after its lease had ended',
  forced: 'it was released by force',
  maxHold: 'it was held for longer than maxHoldMs',
  closed: 'the client was closed',
};

/** The hold is gone: another owner may be using what it protected. */
export class LeaseLostError extends HoldfastError {
  protected static override readonly brandedCode = 'ERR_LEASE_LOST';
  override readonly name = 'LeaseLostError';
  readonly code = 'ERR_LEASE_LOST';

  constructor(
    readonly lockName: string,
    readonly owner: string,
    readonly reason: LossReason,
    options?: ErrorOptions,
    why: string = LOSS_TEXT[reason],
  ) {
    super(`The hold on "${lockName}" is lost: ${why}`, options);
  }
}

/** The caller of `lock.unlock()` does not hold the lock, or the permit to release does not exist. */
export class NotHeldError extends HoldfastError {
  protected static override readonly brandedCode = 'ERR_NOT_HELD';
  override readonly name = 'NotHeldError';
  readonly code = 'ERR_NOT_HELD';

  constructor(
    readonly lockName: string,
    why = 'is not held by the caller: call unlock() inside a scope, or with the owner that holds the lock',
  ) {
    super(`"${lockName}" ${why}`);
  }
}

/**
 * The owner holds the lock already and cannot take it this way: again although the lock is not reentrant, to write
 * while the owner only reads, or with a token while the owner holds the lock without one.
 */
export class ReentryError extends HoldfastError {
  protected static override readonly brandedCode = 'ERR_REENTRY';
  override readonly name = 'ReentryError';
  readonly code = 'ERR_REENTRY';

  constructor(
    readonly lockName: string,
    why = 'is not reentrant, and its owner already holds it',
  ) {
    super(`"${lockName}" ${why}`);
  }
}

/**
 * The call would wait without a limit for a lock that the section around it holds as another owner: neither would ever
 * end. Take the lock as the owner of the section, by leaving out `owner`, or outside of the section; or give the wait a
 * limit.
 *
 * @example
 * ```ts
 * const lock = client.getLock('ledger');
 * await lock.withLock(async () => {
 *   const error: unknown = await lock.lock({ owner: client.owner() }).catch((reason) => reason);
 *   console.log(error instanceof DeadlockError); // true
 * });
 * ```
 */
export class DeadlockError extends HoldfastError {
  protected static override readonly brandedCode = 'ERR_DEADLOCK';
  override readonly name = 'DeadlockError';
  readonly code = 'ERR_DEADLOCK';

  constructor(
    readonly lockName: string,
    /** The owner field by which the section holds the lock. */
    readonly holder: string,
    asker: string,
  ) {
    super(
      `"${lockName}" is held by ${holder}, and the section that holds it waits for it as ${asker}: ` +
        'a section that awaits this never ends',
    );
  }
}

/** How one server of a quorum answered. */
export interface ServerOutcome {
  readonly server: string;
  readonly outcome: 'held' | 'busy' | 'failed';
  readonly error?: unknown;
}

/** Fewer than a majority of independent servers granted the lock. */
export class QuorumError extends HoldfastError {
  protected static override readonly brandedCode = 'ERR_QUORUM';
  override readonly name = 'QuorumError';
  readonly code = 'ERR_QUORUM';

  constructor(
    readonly lockName: string,
    readonly outcomes: readonly ServerOutcome[],
  ) {
    const told = outcomes.map(({ server, outcome }) => `${server}: ${outcome}`).join(', ');
    super(`Too few servers granted "${lockName}" for a majority (${told})`);
  }
}

/** Too few replicas acknowledged an acquisition, so it was undone. */
export class ReplicationError extends HoldfastError {
  protected static override readonly brandedCode = 'ERR_REPLICATION';
  override readonly name = 'ReplicationError';
  readonly code = 'ERR_REPLICATION';

  constructor(
    readonly lockName: string,
    readonly acknowledged: number,
    readonly required: number,
    options?: ErrorOptions,
  ) {
    super(
      `Only ${acknowledged} of ${required} required replicas acknowledged "${lockName}", so the client released it`,
      options,
    );
  }
}

/** A fence refused a token: it has seen a newer token. */
export class StaleTokenError extends HoldfastError {
  protected static override readonly brandedCode = 'ERR_STALE_TOKEN';
  override readonly name = 'StaleTokenError';
  readonly code = 'ERR_STALE_TOKEN';

  constructor(
    readonly resource: string,
    readonly token: number,
    readonly newestToken: number,
  ) {
    super(`Token ${token} for "${resource}" is stale: the newest token is ${newestToken}`);
  }
}

/** A command was sent, and no answer says whether it ran. */
export class OutcomeUnknownError extends HoldfastError {
  protected static override readonly brandedCode = 'ERR_OUTCOME_UNKNOWN';
  override readonly name = 'OutcomeUnknownError';
  readonly code = 'ERR_OUTCOME_UNKNOWN';
}

/** Any other error of the server or the client library; see `cause`. */
export class DriverError extends HoldfastError {
  protected static override readonly brandedCode = 'ERR_DRIVER';
  override readonly name = 'DriverError';
  readonly code = 'ERR_DRIVER';
}

/** The client is closed, or is closing and takes nothing new. */
export class ClosedError extends HoldfastError {
  protected static override readonly brandedCode = 'ERR_CLOSED';
  override readonly name = 'ClosedError';
  readonly code = 'ERR_CLOSED';

  constructor(message = 'The holdfast client is closed') {
    super(message);
  }
}

/** Wrong use, nearly always refused before anything is sent. Also a `TypeError`. */
export class OptionError extends TypeError {
  protected static readonly brandedCode = 'ERR_INVALID_OPTION';
  override readonly name = 'OptionError';
  readonly code = 'ERR_INVALID_OPTION';
  readonly [BRAND] = true;

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class on the right of instanceof.
    return isInstance(this, this.brandedCode, value);
  }
}
