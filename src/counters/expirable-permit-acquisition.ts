/**
 * One call that acquires permits with a lease.
 *
 * All its attempts ask for the same ids, so the permits are taken once. If the caller gives up, whatever an attempt
 * took, or may still take, is undone in the background.
 */

import { UNANSWERED_MS } from '../requests/answer-retention.ts';
import { assertInTime, type Grant } from '../runtime/lease-deadline.ts';
import { UNKNOWN_MS, type Waiting } from '../runtime/protocol.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { LATE_MS } from '../runtime/tombstone.ts';
import { POLL_MS } from '../runtime/wake/poller.ts';
import { CounterAcquisition } from './counter-acquisition.ts';
import { type ExpirablePermitProtocol, newPermitId } from './expirable-permit-protocol.ts';
import type { SemaphoreCreation } from './semaphore-creation.ts';

type Answer = Awaited<ReturnType<ExpirablePermitProtocol['acquire']>>;

export class ExpirablePermitAcquisition<T> extends CounterAcquisition<T[], Answer> {
  readonly #protocol: ExpirablePermitProtocol;
  readonly #creation: SemaphoreCreation;
  readonly #leaseMs: number;
  readonly #ids: readonly string[];
  readonly #make: (grant: Grant) => T;
  #sentAt = 0;

  /** @param make turns one grant into the caller's permit */
  constructor(
    runtime: Runtime,
    protocol: ExpirablePermitProtocol,
    creation: SemaphoreCreation,
    count: number,
    leaseMs: number,
    make: (grant: Grant) => T,
  ) {
    super(runtime, protocol, count);
    this.#protocol = protocol;
    this.#creation = creation;
    this.#leaseMs = leaseMs;
    this.#ids = Array.from({ length: count }, newPermitId);
    this.#make = make;
  }

  protected get waiting(): Waiting {
    return { kind: 'messages', channel: this.#protocol.channel, pollMs: POLL_MS };
  }

  protected override get isBounded(): boolean {
    return !this.#creation.creates && this.#protocol.isOneCommand;
  }

  protected attempt(): Promise<Answer> {
    const ask = () => {
      this.#sentAt = this.runtime.leaseClock.sendTime();
      return this.#protocol.acquire(this.#ids, this.#leaseMs);
    };
    return this.#creation.attempt(ask, ask);
  }

  protected busyMs(answer: Answer): number | undefined {
    if (answer.status === 'taken') return undefined;
    if (answer.status === 'short') return answer.remainingMs;
    this.#creation.missing();
    return UNKNOWN_MS;
  }

  protected accept(_answer: Answer, doubtful: boolean): T[] {
    const terms = { sentAt: this.#sentAt, leaseMs: this.#leaseMs, doubtful };
    const grants = this.#ids.map((owner) => ({ owner, ...terms }));
    // One attempt took all permits, so a check of the first grant covers all of them.
    assertInTime(this.runtime, this.#protocol, grants[0] as Grant);
    return grants.map(this.#make);
  }

  protected abandon(): void {
    // Retrying is pointless once the lease has ended. A permit without expiry is retried for the full time.
    const forMs = Math.min(this.#leaseMs, UNANSWERED_MS);
    this.giveBack(() => this.#protocol.undo(this.#ids, forMs + LATE_MS), forMs);
  }
}
