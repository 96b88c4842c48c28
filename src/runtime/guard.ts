/**
 * The guard of one client: what it knows of the servers in charge, and how it asks whether they can have
 * forgotten holds that still run.
 *
 * After a promotion, a restart without data or a return to older data, the server keeps strangers out for one
 * grace, and lets holders come back. That is decided on the server, from its replication id and a record in the
 * lock's own slot. Holders do their part by being confirmed at least once in every grace, or giving up.
 */
import { slotOf, tagOfSlot } from '../slots.ts';
import type { Clock } from './clock.ts';

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
  readonly isCluster: boolean;
  readonly keyPrefix: string;
}

const RECORD = 'holdfast_guard';

export class Guard {
  readonly graceMs: number;
  readonly #clock: Clock;
  readonly #isCluster: boolean;
  readonly #keyPrefix: string;
  /** When each server in charge was first seen. Ids are never used again. */
  readonly #seenSince = new Map<string, number>();

  constructor({ clock, graceMs, isCluster, keyPrefix }: GuardSettings) {
    this.graceMs = graceMs;
    this.#clock = clock;
    this.#isCluster = isCluster;
    this.#keyPrefix = keyPrefix;
  }

  /** A server with this id is in charge. */
  saw(server: string): void {
    if (server !== '' && !this.#seenSince.has(server)) this.#seenSince.set(server, this.#clock.now());
  }

  /** How the server that has this key is to be judged. */
  termsFor(key: string): GuardTerms {
    const now = this.#clock.now();
    const trusted: string[] = [];
    for (const [server, since] of this.#seenSince) if (now - since > this.graceMs) trusted.push(server);
    return { key: this.#recordFor(key), graceMs: this.graceMs, trusted: trusted.join(' ') };
  }

  /** One record for each server, or for each slot: what a script looks at must be where the lock is. */
  #recordFor(key: string): string {
    return this.#isCluster ? `${RECORD}:{${tagOfSlot(slotOf(key))}}` : `${this.#keyPrefix}${RECORD}`;
  }
}
