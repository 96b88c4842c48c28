/**
 * The fenced lock: the reentrant lock, with a token that rises with every hold.
 *
 * A holder can stall past its lease just before a write. The resource detects this if every write carries the
 * token and the resource refuses a token lower than the last. The fences do that part.
 */

import { tokenKey } from '../keys.ts';
import { checkOptions } from '../options/checks.ts';
import type { LockKindOptions } from '../options/client-options.ts';
import type { Wire } from '../requests/wire.ts';
import type { AcquireAnswer, Claimed, Renew } from '../runtime/protocol.ts';
import { retry } from '../runtime/retry.ts';
import {
  fencedLockAcquire,
  fencedLockGuardedAcquire,
  fencedLockLastToken,
  fencedLockReclaim,
  fencedLockSettledAcquire,
} from '../scripts/generated.ts';
import type { Hold } from './hold.ts';
import type { Lock } from './lock.ts';
import type { LockContext } from './lock-context.ts';
import { ProtocolLock } from './protocol-lock.ts';
import type { Reclaimed, ReclaimTerms } from './reclaiming.ts';
import { ReentrantProtocol } from './reentrant-lock.ts';

/** A hold with its fencing token. */
export interface FencedHold extends Hold {
  /**
   * Higher than the token of every earlier hold of this lock; re-entry keeps the token. The token stays
   * readable after the hold has ended: the fence decides whether it still counts.
   */
  readonly token: number;
}

/**
 * A lock whose holds have tokens, for resources that check them.
 *
 * An owner that took the same name through a lock without tokens has no token: re-entry here throws `ReentryError`.
 *
 * @example
 * ```ts
 * const stock = client.getFencedLock('stock:7');
 * await stock.withLock(async (outer) => {
 *   await stock.withLock((inner) => console.log(inner.token === outer.token)); // true
 * });
 * ```
 */
export interface FencedLock extends Lock<FencedHold> {
  /** The last token granted to any owner; 0 when none is known. Any client may ask. */
  getToken(): Promise<number>;
}

/** How one fenced lock behaves. */
export interface FencedLockOptions extends LockKindOptions {
  /**
   * How long the server keeps the last token after the grant, at least 60 000. Left out: forever, which Redisson
   * clients need. Tokens keep rising after the server forgets the last, since none is lower than its clock.
   */
  tokenRetentionMs?: number | undefined;
}

const ACQUIRE = {
  unguarded: fencedLockAcquire,
  settled: fencedLockSettledAcquire,
  guarded: fencedLockGuardedAcquire,
};

class FencedProtocol extends ReentrantProtocol {
  /** The next hold needs a new token. */
  override readonly canPassOn = false;
  readonly #token: string;
  readonly #retentionMs: number;

  constructor(wire: Wire, name: string, renew: Renew, retentionMs: number) {
    super(wire, name, renew, 'fenced');
    this.#token = tokenKey(this.key);
    this.#retentionMs = retentionMs;
  }

  override acquire(owner: string, leaseMs: number): Promise<AcquireAnswer> {
    const keys = { lock: this.key, ended: this.tombstoneOf(owner), token: this.#token };
    const args = { owner, leaseMs, retentionMs: this.#retentionMs };
    return this.grant(ACQUIRE, keys, args);
  }

  protected override reclaim(hold: Claimed, terms: ReclaimTerms): Promise<Reclaimed> {
    const { owner, count, leaseMs, token } = hold;
    // A lock of the same name without tokens began this tenure: there is no token to restore.
    if (token === undefined) return super.reclaim(hold, terms);
    const keys = { lock: this.key, ended: this.tombstoneOf(owner), last: this.#token, ...terms.guard };
    return fencedLockReclaim.run(this.wire.driver, keys, { owner, count, token, leaseMs, ...terms.grace });
  }

  async lastToken(): Promise<number> {
    return (await fencedLockLastToken.run(this.wire.driver, { token: this.#token }, {})).value;
  }
}

export class ProtocolFencedLock extends ProtocolLock<FencedHold> implements FencedLock {
  readonly #lastToken: () => Promise<number>;

  constructor(context: LockContext, wire: Wire, name: string, renew: Renew, options?: FencedLockOptions) {
    const { tokenRetentionMs = 0 } = checkOptions('fencedLock', options);
    const protocol = new FencedProtocol(wire, name, renew, tokenRetentionMs);
    super(context, protocol, { reentrant: true, fenced: true });
    const { runtime } = context;
    this.#lastToken = () => {
      runtime.assertOpen();
      return retry(runtime, `read the token of "${name}"`, () => protocol.lastToken());
    };
  }

  async getToken(): Promise<number> {
    return this.#lastToken();
  }
}
