/**
 * Which channels carry wake-ups: those of a slot, or those of the whole Cluster. Publishers and subscribers use the
 * same kind, as in Redisson, because neither kind hears the other.
 */
import type { ChannelKind } from '../../drivers/driver.ts';

export class WakeChannels {
  #kind: ChannelKind;

  /** @param kind sharded only where the servers are a Cluster */
  constructor(kind: ChannelKind) {
    this.#kind = kind;
  }

  get kind(): ChannelKind {
    return this.#kind;
  }

  get publish(): 'PUBLISH' | 'SPUBLISH' {
    return this.#kind === 'sharded' ? 'SPUBLISH' : 'PUBLISH';
  }

  /** A server of the Cluster lacks sharded channels: stops using them, even if it supports them later. */
  giveUpSharded(): void {
    this.#kind = 'plain';
  }
}
