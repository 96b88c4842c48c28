/**
 * How wake-ups travel: by the channels of a slot, or by those of the whole Cluster. Decided once for publishing and
 * subscribing alike, as Redisson does, because neither hears the other.
 */
import type { ChannelKind } from '../drivers/driver.ts';

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

  /** A server of the Cluster knows no sharded channels, so that nobody uses them, also once it does. */
  giveUpSharded(): void {
    this.#kind = 'plain';
  }
}
