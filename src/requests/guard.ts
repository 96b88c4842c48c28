/**
 * The guard of one client: which servers it has seen in charge, and what a script needs to decide whether its server
 * can have forgotten holds that still run.
 *
 * After a promotion, a restart without data or a return to older data, the server refuses new owners for one grace and
 * lets holders reclaim their holds. The script decides this on the server, from the replication id and a record in the
 * lock's slot. Every holder has its hold confirmed at least once in every grace, or gives it up.
 */

import type { Clock } from '../clock.ts';
import type { Driver } from '../drivers/driver.ts';
import { slotOf, tagOfSlot } from '../slots.ts';

/** What a script needs to decide whether a grace applies, beside the record. */
export interface GuardTerms {
  readonly graceMs: number;
  /** The ids of servers that this client has seen in charge for longer than a grace. */
  readonly trusted: string;
}

export interface GuardSettings {
  readonly clock: Clock;
  readonly graceMs: number;
  readonly driver: Pick<Driver, 'topology' | 'keyPrefix' | 'nodeOf' | 'nodes'>;
}

/** A server by its replication id, which is never reused and changes with every promotion and restart. */
interface InCharge {
  readonly server: string;
  readonly since: number;
}

const RECORD = 'holdfast_guard';

export class Guard {
  readonly graceMs: number;
  readonly #clock: Clock;
  readonly #driver: GuardSettings['driver'];
  /** The server in charge at each node. Scripts get only these ids, so that the list does not grow. */
  readonly #inCharge = new Map<string, InCharge>();
  readonly #settled = new Set<string>();
  /** The ids that scripts get until this time, when one more server has been in charge for longer than a grace. */
  #trusted = '';
  #trustedUntil = Number.POSITIVE_INFINITY;

  constructor({ clock, graceMs, driver }: GuardSettings) {
    this.graceMs = graceMs;
    this.#clock = clock;
    this.#driver = driver;
  }

  /** Records the id of the server that has this key. */
  saw(key: string, server: string): void {
    // After a slot has moved, its keys still map to the former node: the new server must not replace the one there.
    for (const known of this.#inCharge.values()) if (known.server === server) return;
    this.sawAt(this.#driver.nodeOf(key), server);
  }

  /** Records the id of the server at this node; it is empty when the server does not reveal it. */
  sawAt(node: string, server: string): void {
    const known = this.#inCharge.get(node);
    if (server === '' || known?.server === server) return;
    if (known === undefined) this.#forgetFormerNodes();
    this.#inCharge.set(node, { server, since: this.#clock.now() });
    this.#trustAnew();
  }

  /** One record for each server, or for each slot in a Cluster: a script reads only keys in the slot of its lock. */
  recordFor(key: string): string {
    const { topology, keyPrefix } = this.#driver;
    return topology === 'cluster' ? `${RECORD}:{${tagOfSlot(slotOf(key))}}` : `${keyPrefix}${RECORD}`;
  }

  /** Whether the record named the server in charge, with its grace over, when this client last looked. */
  isSettled(record: string): boolean {
    return this.#settled.has(record);
  }

  settled(record: string): void {
    this.#settled.add(record);
  }

  unsettled(record: string): void {
    this.#settled.delete(record);
  }

  terms(): GuardTerms {
    if (this.#clock.now() > this.#trustedUntil) this.#trustAnew();
    return { graceMs: this.graceMs, trusted: this.#trusted };
  }

  #trustAnew(): void {
    const now = this.#clock.now();
    const trusted: string[] = [];
    this.#trustedUntil = Number.POSITIVE_INFINITY;
    for (const { server, since } of this.#inCharge.values()) {
      const trustedFrom = since + this.graceMs;
      if (now > trustedFrom) trusted.push(server);
      else this.#trustedUntil = Math.min(this.#trustedUntil, trustedFrom);
    }
    this.#trusted = trusted.join(' ');
  }

  #forgetFormerNodes(): void {
    const nodes = new Set(this.#driver.nodes());
    for (const node of this.#inCharge.keys()) if (!nodes.has(node)) this.#inCharge.delete(node);
  }
}
