/**
 * The commands of the simple lock: `SET key token NX PX`, compare and delete.
 *
 * Redlock-style libraries use the same layout and can share its keys. They send no wake-up when they release,
 * so waiters poll more often than elsewhere. The value has no room for a count: this process counts the
 * entries, and re-entry checks that the key still has the owner's value.
 */
import type { Wire } from '../requests/wire.ts';
import type { Guarded, Renew, Waiting } from '../runtime/protocol.ts';
import {
  simpleLockAcquire,
  simpleLockDescribe,
  simpleLockEnd,
  simpleLockForceRelease,
  simpleLockGuardedAcquire,
  simpleLockHolder,
  simpleLockReclaim,
  simpleLockRelease,
  simpleLockRenew,
  simpleLockSettledAcquire,
} from '../scripts/generated.ts';
import { guardedBy } from './reclaiming.ts';
import { ScriptedProtocol } from './scripted-protocol.ts';

export const SIMPLE_SCRIPTS = {
  acquire: {
    unguarded: simpleLockAcquire,
    settled: simpleLockSettledAcquire,
    guarded: simpleLockGuardedAcquire,
  },
  release: simpleLockRelease,
  end: simpleLockEnd,
  renew: simpleLockRenew,
  holder: simpleLockHolder,
  forceRelease: simpleLockForceRelease,
  describe: simpleLockDescribe,
};

const POLL_MS = 250;

export class SimpleProtocol extends ScriptedProtocol {
  readonly kind = 'simple';
  readonly identity: string;
  readonly line: string;
  readonly guarded: Guarded | undefined;

  constructor(wire: Wire, name: string, renew: Renew) {
    super(wire, name, SIMPLE_SCRIPTS, renew);
    this.identity = `simple-lock ${this.key}`;
    this.line = this.identity;
    this.guarded = guardedBy(wire, this.key, ({ owner, leaseMs }, { guard, grace }) => {
      const keys = { lock: this.key, ended: this.tombstoneOf(owner), ...guard };
      return simpleLockReclaim.run(wire.driver, keys, { owner, leaseMs, ...grace });
    });
  }

  readonly canPassOn = true;

  waiting(): Waiting {
    return { kind: 'messages', channel: this.channel, pollMs: POLL_MS, peekKey: this.key };
  }

  async enter(owner: string, _count: number, leaseMs: number): Promise<'held' | 'lost'> {
    const [held] = await this.renew([this.key], leaseMs, [owner], [1]);
    return held === 1 ? 'held' : 'lost';
  }

  async leave(owner: string): Promise<'held' | 'lost'> {
    return (await this.describe()).holder === owner ? 'held' : 'lost';
  }
}
