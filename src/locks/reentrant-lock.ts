/**
 * The commands of the reentrant lock, on Redisson's hash: one field for the owner, its value the count.
 *
 * Shared by the reentrant, the non-reentrant and the spin lock, which differ in re-entry and in waiting only.
 */
import type { Wire } from '../requests/wire.ts';
import type { Claimed, Guarded, Renew, Waiting } from '../runtime/protocol.ts';
import { POLL_MS } from '../runtime/wake/poller.ts';
import {
  lockAcquire,
  lockDescribe,
  lockEnd,
  lockEnter,
  lockForceRelease,
  lockGuardedAcquire,
  lockHolder,
  lockLeave,
  lockReclaim,
  lockRelease,
  lockRenew,
  lockSettledAcquire,
} from '../scripts/generated.ts';
import { guardedBy, type Reclaimed, type ReclaimTerms } from './reclaiming.ts';
import { ScriptedProtocol } from './scripted-protocol.ts';

export const REENTRANT_SCRIPTS = {
  acquire: { unguarded: lockAcquire, settled: lockSettledAcquire, guarded: lockGuardedAcquire },
  release: lockRelease,
  end: lockEnd,
  renew: lockRenew,
  holder: lockHolder,
  forceRelease: lockForceRelease,
  describe: lockDescribe,
};

type Kind = 'lock' | 'nonReentrant' | 'spin' | 'fenced';

export class ReentrantProtocol extends ScriptedProtocol {
  readonly kind: Kind;
  readonly identity: string;
  readonly line: string;
  readonly guarded: Guarded | undefined;
  /** A spin lock has no subscription, and gets no turns by wake-ups. */
  readonly canPassOn: boolean;
  readonly #spin: (() => Waiting) | undefined;

  /** @param spin how a spin lock waits, without a subscription */
  constructor(wire: Wire, name: string, renew: Renew, kind: Kind, spin?: () => Waiting) {
    super(wire, name, REENTRANT_SCRIPTS, renew);
    this.kind = kind;
    this.identity = `lock ${this.key}`;
    this.line = spin === undefined ? this.identity : `spin-${this.identity}`;
    this.guarded = guardedBy(wire, this.key, (hold, terms) => this.reclaim(hold, terms));
    this.canPassOn = spin === undefined;
    this.#spin = spin;
  }

  waiting(): Waiting {
    return this.#spin?.() ?? { kind: 'messages', channel: this.channel, pollMs: POLL_MS, peekKey: this.key };
  }

  protected reclaim({ owner, count, leaseMs }: Claimed, { guard, grace }: ReclaimTerms): Promise<Reclaimed> {
    const keys = { lock: this.key, ended: this.tombstoneOf(owner), ...guard };
    return lockReclaim.run(this.wire.driver, keys, { owner, count, leaseMs, ...grace });
  }

  async enter(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'> {
    return (await lockEnter.run(this.wire.driver, { lock: this.key }, { owner, count, leaseMs })).status;
  }

  async leave(owner: string, count: number): Promise<'held' | 'lost'> {
    return (await lockLeave.run(this.wire.driver, { lock: this.key }, { owner, count })).status;
  }
}
