/**
 * The guard of one client: what it knows of the servers in charge, and how it asks whether they can have
 * forgotten holds that still run.
 *
 * After a promotion, a restart without data or a return to older data, the server keeps strangers out for one
 * grace, and lets holders come back. That is decided on the server, from its replication id and a record in the
 * lock's own slot. Holders do their part by being confirmed at least once in every grace, or giving up.
 */

import type { Clock } from '../clock.ts';
import type { Driver } from '../drivers/driver.ts';
import { slotOf, tagOfSlot } from '../slots.ts';

/** What a script needs to know to judge the server. */
export interface GuardTerms {
  readonly key: string;
  readonly graceMs: number;
  /** The ids of servers that have been in charge for longer than a grace, as far as this client has seen. */
  readonly trusted: string;
}

export interface GuardSettings {
  readonly clock: Clock;
  readonly graceMs: number;
  readonly driver: Pick<Driver, 'topology' | 'keyPrefix' | 'nodeOf' | 'nodes'>;
}

/** A server, by its replication id: never used again, and another one after every promotion and restart. */
interface InCharge {
  readonly server: string;
  readonly since: number;
}

const RECORD = 'holdfast_guard';

export class Guard {
  readonly graceMs: number;
  readonly #clock: Clock;
  readonly #driver: GuardSettings['driver'];
  /** Who is in charge of what each node had. Only those are told to scripts, so that it does not grow. */
  readonly #inCharge = new Map<string, InCharge>();

  constructor({ clock, graceMs, driver }: GuardSettings) {
    this.graceMs = graceMs;
    this.#clock = clock;
    this.#driver = driver;
  }

  /** The server that has this key said who it is. */
  saw(key: string, server: string): void {
    // Who has just taken a slot over is still found by its former node: it must not displace the server there.
    for (const known of this.#inCharge.values()) if (known.server === server) return;
    this.sawAt(this.#driver.nodeOf(key), server);
  }

  /** The server at this node said who it is, or nothing where it does not tell. */
  sawAt(node: string, server: string): void {
    const known = this.#inCharge.get(node);
    if (server === '' || known?.server === server) return;
    if (known === undefined) this.#forgetFormerNodes();
    this.#inCharge.set(node, { server, since: this.#clock.now() });
  }

  /** How the server that has this key is to be judged. */
  termsFor(key: string): GuardTerms {
    const now = this.#clock.now();
    const trusted: string[] = [];
    for (const { server, since } of this.#inCharge.values()) {
      if (now - since > this.graceMs) trusted.push(server);
    }
    return { key: this.#recordFor(key), graceMs: this.graceMs, trusted: trusted.join(' ') };
  }

  #forgetFormerNodes(): void {
    const nodes = new Set(this.#driver.nodes());
    for (const node of this.#inCharge.keys()) if (!nodes.has(node)) this.#inCharge.delete(node);
  }

  /** One record for each server, or for each slot: what a script looks at must be where the lock is. */
  #recordFor(key: string): string {
    const { topology, keyPrefix } = this.#driver;
    return topology === 'cluster' ? `${RECORD}:{${tagOfSlot(slotOf(key))}}` : `${keyPrefix}${RECORD}`;
  }
}
