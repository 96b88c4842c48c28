/** A protocol of a guarded lock that a test drives by hand. */
import type { Claimed, Guarded } from '../../../src/runtime/protocol.ts';
import { HandDrivenProtocol, type NotingRenewal } from './bench.ts';

type Reclaimed = 'held' | 'taken' | 'lost';

export class GuardedProtocol extends HandDrivenProtocol {
  /** What was asked back, in order. */
  readonly claims: Claimed[] = [];
  /** What the next ones are answered; may be replaced at any time. */
  reclaim: (hold: Claimed) => Promise<Reclaimed> = async () => 'held';
  isGrace: () => Promise<boolean> = async () => false;
  readonly guarded: Guarded;

  constructor(name: string, renewal: NotingRenewal, graceMs = 30_000) {
    super(name, renewal);
    this.guarded = {
      graceMs,
      reclaim: (hold) => {
        this.claims.push(hold);
        return this.reclaim(hold);
      },
      isGrace: () => {
        this.calls.push('is-grace');
        return this.isGrace();
      },
    };
  }
}
