/**
 * The requests of a permit-expirable semaphore about its permits: acquire, renew, release, count.
 *
 * The client makes the id of a permit: 16 random bytes, a member of Redisson's sorted set, 32 hex digits for users.
 * An id is used once. When its permit ends, a tombstone bars it, so that no late command can take it again.
 */
import { randomBytes } from 'node:crypto';
import { tracesReleases } from '../channels.ts';
import { DriverError } from '../errors.ts';
import { permitTimeoutKey, tombstoneKey } from '../keys.ts';
import { UNANSWERED_MS } from '../requests/answer-retention.ts';
import type { Wire } from '../requests/wire.ts';
import { NO_EXPIRY_MS, type Renew, type TenureProtocol } from '../runtime/protocol.ts';
import { retry } from '../runtime/retry.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { LATE_MS } from '../runtime/tombstone.ts';
import {
  permitSemaphoreAcquire,
  permitSemaphoreCountPermits,
  permitSemaphoreRelease,
  permitSemaphoreReleaseAll,
  permitSemaphoreRenew,
  permitSemaphoreUndo,
} from '../scripts/generated.ts';
import { traceRelease } from '../tracing.ts';
import type { SemaphoreCounter } from './semaphore-counter.ts';
import type { Difference } from './semaphore-creation.ts';

export function newPermitId(): string {
  return randomBytes(16).toString('hex');
}

/** An id as the server keeps it. */
export function permitBytes(id: string): Buffer {
  return Buffer.from(id, 'hex');
}

/** The lease argument of the scripts. */
export function leaseArgument(leaseMs: number): number {
  return leaseMs === Number.POSITIVE_INFINITY ? NO_EXPIRY_MS : leaseMs;
}

/** Renews many permits, of any semaphores, in one call. Made once for each client. */
export function renewPermits({ driver }: Wire): Renew {
  return async (keys, leaseMs, ids) => {
    const timeouts = keys.map(permitTimeoutKey);
    return (await permitSemaphoreRenew.run(driver, { timeouts }, { leaseMs, ids: ids.map(permitBytes) }))
      .held;
  };
}

export class ExpirablePermitProtocol implements TenureProtocol {
  readonly kind = 'permitSemaphore';
  readonly name: string;
  readonly key: string;
  readonly identity: string;
  /** Null: messages wake the waiters, and each number of permits has its own line. */
  readonly line = null;
  readonly renew: Renew;
  readonly #counter: SemaphoreCounter;

  constructor(counter: SemaphoreCounter, renew: Renew) {
    this.name = counter.name;
    this.key = counter.key;
    this.identity = counter.identity;
    this.renew = renew;
    this.#counter = counter;
  }

  /** The keys that all permits share. */
  get keys(): { permits: string; timeouts: string } {
    return { ...this.#counter.keys, timeouts: permitTimeoutKey(this.key) };
  }

  get channel(): string {
    return this.#counter.wake.channel;
  }

  /** How long the tombstone of a permit refuses late attempts and answers repeated releases. */
  get tombstoneMs(): number {
    return Math.max(LATE_MS, this.#counter.context.wire.rememberMs);
  }

  /** The keys of the tombstones of these permits. */
  tombstoneKeys(ids: readonly string[]): string[] {
    return ids.map((id) => tombstoneKey(this.key, id));
  }

  get isOneCommand(): boolean {
    return this.#counter.context.wire.grantSender.isOneCommand(this.key);
  }

  /**
   * Takes all of these permits, or says in how many ms the next taken permit expires, or `UNKNOWN_MS`; or that there is
   * no semaphore.
   */
  async acquire(
    ids: readonly string[],
    leaseMs: number,
  ): Promise<{ status: 'taken' | 'missing' } | { status: 'short'; remainingMs: number }> {
    const keys = { ...this.keys, ended: this.tombstoneKeys(ids) };
    const args = { leaseMs: leaseArgument(leaseMs), ...this.#counter.wake, ids: ids.map(permitBytes) };
    const reply = await this.#counter.context.wire.grantSender.permits(
      this,
      permitSemaphoreAcquire,
      keys,
      args,
    );
    // Only a bug in holdfast could use an id again.
    if (reply.status === 'ended')
      throw new DriverError(
        `An attempt to acquire a permit of "${this.name}" was repeated after the permit had ended`,
      );
    return reply;
  }

  async count(): Promise<{ exists: boolean; free: number; taken: number }> {
    const { context, requests, wake } = this.#counter;
    const reply = await requests.read('count permits of', () =>
      permitSemaphoreCountPermits.run(context.wire.driver, this.keys, wake),
    );
    const exists = reply.status === 'permits';
    return { exists, free: exists ? reply.free : 0, taken: reply.taken };
  }

  async compare(wanted: number): Promise<Difference | null> {
    const { exists, free, taken } = await this.count();
    if (!exists || free + taken === wanted) return null;
    return { actual: String(free + taken), remedy: `setPermits(${wanted})` };
  }

  /** Makes sure that none of these permits is taken, now or later. */
  async undo(ids: readonly string[], rememberMs: number): Promise<void> {
    const keys = { ...this.keys, ended: this.tombstoneKeys(ids) };
    const args = { ...this.#counter.wake, rememberMs, ids: ids.map(permitBytes) };
    const reply = await permitSemaphoreUndo.run(this.#counter.context.wire.driver, keys, args);
    this.#counter.changed(reply);
  }

  /** @param request distinguishes a repeat from another release of the same permit */
  async end(id: string, rememberMs: number, request = id): Promise<'released' | 'lost'> {
    const keys = { ...this.keys, ended: tombstoneKey(this.key, id) };
    const args = { request, ...this.#counter.wake, rememberMs, id: permitBytes(id) };
    const reply = await permitSemaphoreRelease.run(this.#counter.context.wire.driver, keys, args);
    this.#counter.changed(reply);
    return reply.status === 'released' ? 'released' : 'lost';
  }

  /** Gives all of these permits back, or none; answers how many. */
  async releaseAll(ids: readonly string[]): Promise<number> {
    const keys = { ...this.keys, ended: this.tombstoneKeys(ids) };
    const args = { ...this.#counter.wake, tombstoneMs: this.tombstoneMs, ids: ids.map(permitBytes) };
    const releaseAll = this.#counter.requestWith(permitSemaphoreReleaseAll, keys, args);
    const reply = await this.#counter.giveBack(ids.length, releaseAll, ({ status }) => status === 'refused', {
      verb: 'release permits of',
    });
    this.#counter.changed(reply);
    return reply.status === 'refused' ? 0 : reply.count;
  }

  /**
   * Releases the permit and answers whether it was held until now. An attempt to take it may still be on its way: the
   * tombstone outlasts every such attempt.
   *
   * @throws OutcomeUnknownError or DriverError when there was no answer; the release is retried in the background
   */
  releaseSurely(runtime: Runtime, id: string, request?: string): Promise<boolean> {
    if (!tracesReleases()) return this.#releaseSurely(runtime, id, request);
    return traceRelease(
      runtime,
      { kind: this.kind, name: this.name, owner: id, permits: 1 },
      () => this.#releaseSurely(runtime, id, request),
      (wasHeld) => !wasHeld,
    );
  }

  async #releaseSurely(runtime: Runtime, id: string, request?: string): Promise<boolean> {
    const what = `release a permit of "${this.name}"`;
    const call = () => this.end(id, this.tombstoneMs, request);
    try {
      return (await retry(runtime, what, call)) === 'released';
    } catch (error) {
      runtime.backgroundRetry.repeatUntilAnswered(what, UNANSWERED_MS, call);
      throw error;
    }
  }
}
