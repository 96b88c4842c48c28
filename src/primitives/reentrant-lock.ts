/**
 * What the reentrant lock says to the server: Redisson's hash, one field for the owner, its value the count.
 *
 * Shared by the reentrant, the non-reentrant and the spin lock, which differ in re-entry and in waiting only.
 */
import type { Waiting } from '../runtime/acquire.ts';
import type { Renew } from '../runtime/protocol.ts';
import {
  lockAcquire,
  lockDescribe,
  lockEnter,
  lockForceRelease,
  lockLeave,
  lockRelease,
  lockRenew,
} from '../scripts/generated.ts';
import { ScriptedProtocol } from './scripted-protocol.ts';
import type { Wire } from './wire.ts';

export const REENTRANT_SCRIPTS = {
  acquire: lockAcquire,
  release: lockRelease,
  renew: lockRenew,
  forceRelease: lockForceRelease,
  describe: lockDescribe,
};

/** How long a waiter sleeps at most without a message: what a lost wake-up costs. */
const POLL_MS = 5_000;

export class ReentrantProtocol extends ScriptedProtocol {
  readonly identity: string;
  readonly line: string;
  readonly #spin: (() => Waiting) | undefined;

  /** @param spin how to wait without listening, for the spin lock */
  constructor(wire: Wire, name: string, renew: Renew, spin?: () => Waiting) {
    super(wire, name, REENTRANT_SCRIPTS, renew);
    this.identity = `lock ${this.key}`;
    this.line = spin === undefined ? this.identity : `spin-${this.identity}`;
    this.#spin = spin;
  }

  waiting(): Waiting {
    return this.#spin?.() ?? { kind: 'messages', channel: this.channel, pollMs: POLL_MS };
  }

  async enter(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'> {
    return (await lockEnter.run(this.wire.driver, { lock: this.key }, { owner, count, leaseMs })).status;
  }

  async leave(owner: string, count: number): Promise<'held' | 'lost'> {
    return (await lockLeave.run(this.wire.driver, { lock: this.key }, { owner, count })).status;
  }
}
