/**
 * The commands of the fair lock, on Redisson's hash and Redisson's queue of waiters.
 *
 * The server decides the order, so every waiter asks separately and gets its wake-ups on a separate channel.
 * Every waiter must also poll: a silent waiter loses its place to the next.
 */
import {
  fairChannel,
  fairQueueKey,
  fairSeenKey,
  fairTimeoutKey,
  lockChannel,
  tombstoneKey,
} from '../keys.ts';
import type { Wire } from '../requests/wire.ts';
import {
  type AcquireAnswer,
  FREE_LOCK,
  type Guarded,
  type LockProtocol,
  type LockState,
  type Renew,
  type Waiting,
} from '../runtime/protocol.ts';
import {
  fairLockAcquire,
  fairLockForceRelease,
  fairLockGuardedAcquire,
  fairLockReclaim,
  fairLockRelease,
  lockDescribe,
  lockEnter,
  lockHolder,
  lockLeave,
} from '../scripts/generated.ts';
import { guardedBy } from './reclaiming.ts';

/** How often a waiter polls, and the longest delay after a lost wake-up. */
const POLL_MS = 2_500;

/** Polls are up to a fifth late, to spread the polls of many processes. */
const LATE_POLL = 1.2;

/** The permitted silence includes at most this for a slow answer: a dead waiter must not block the others. */
const LONGEST_ANSWER_MS = 30_000;

/** The shortest poll interval, however little silence is permitted: a shorter one would be spinning. */
const SHORTEST_POLL_MS = 100;

const ACQUIRE = { unguarded: fairLockAcquire, guarded: fairLockGuardedAcquire };

export class FairProtocol implements LockProtocol {
  readonly kind = 'fair';
  readonly name: string;
  readonly key: string;
  readonly identity: string;
  readonly line = null;
  readonly waitNoteMs: number;
  readonly renew: Renew;
  readonly guarded: Guarded | undefined;
  readonly #wire: Wire;
  readonly #channel: string;
  readonly #queueKeys: { queue: string; timeouts: string; seen: string };
  readonly #pollMs: number;
  /** A waiter counts as dead after this much silence: one poll may go unanswered, and the next may be late. */
  readonly #silentMs: number;

  constructor(wire: Wire, name: string, renew: Renew) {
    this.name = name;
    this.key = wire.keyOf(name);
    this.identity = `lock ${this.key}`;
    this.waitNoteMs = wire.fairWaitMs;
    this.renew = renew;
    this.guarded = guardedBy(wire, this.key, ({ owner, count, leaseMs }, { guard, grace }) => {
      const keys = { lock: this.key, ...this.#queueKeys, ended: tombstoneKey(this.key, owner), ...guard };
      return fairLockReclaim.run(wire.driver, keys, { owner, count, leaseMs, ...grace });
    });
    this.#wire = wire;
    this.#channel = lockChannel(this.key);
    this.#queueKeys = {
      queue: fairQueueKey(this.key),
      timeouts: fairTimeoutKey(this.key),
      seen: fairSeenKey(this.key),
    };
    // Redisson clients do not read our `seen` hash: they drop a waiter that does not poll in time.
    this.#pollMs = Math.max(SHORTEST_POLL_MS, Math.min(POLL_MS, wire.fairWaitMs / 3));
    const answerMs = Math.min(wire.commandTimeoutMs, LONGEST_ANSWER_MS);
    this.#silentMs = Math.ceil(2 * LATE_POLL * this.#pollMs) + answerMs;
  }

  waiting(owner: string): Waiting {
    return { kind: 'messages', channel: fairChannel(this.key, owner), pollMs: this.#pollMs };
  }

  get isOneCommand(): boolean {
    return this.#wire.grantSender.isOneCommand(this.key);
  }

  async acquire(owner: string, leaseMs: number, waitMs: number): Promise<AcquireAnswer> {
    const { grantSender, publish, fairWaitMs } = this.#wire;
    const keys = { lock: this.key, ...this.#queueKeys, ended: tombstoneKey(this.key, owner) };
    const args = {
      owner,
      leaseMs,
      // Polling keeps the waiter's place: no time longer than the permitted silence is needed.
      waitMs: Math.min(Math.ceil(waitMs), fairWaitMs),
      silentMs: this.#silentMs,
      publish,
      channel: this.#channel,
    };
    const reply = await grantSender.lock(this, ACQUIRE, keys, args);
    return reply.status === 'queued' ? { status: 'busy', remainingMs: reply.lookAgainMs } : reply;
  }

  async enter(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'> {
    return (await lockEnter.run(this.#wire.driver, { lock: this.key }, { owner, count, leaseMs })).status;
  }

  async leave(owner: string, count: number): Promise<'held' | 'lost'> {
    return (await lockLeave.run(this.#wire.driver, { lock: this.key }, { owner, count })).status;
  }

  async end(owner: string, rememberMs: number): Promise<'released' | 'lost'> {
    const { driver, publish } = this.#wire;
    const keys = { lock: this.key, ...this.#queueKeys, ended: tombstoneKey(this.key, owner) };
    const args = { owner, silentMs: this.#silentMs, publish, channel: this.#channel, rememberMs };
    const reply = await fairLockRelease.run(driver, keys, args);
    if (reply.status !== 'lost') this.#wire.announced(reply.announced);
    return reply.status === 'released' ? 'released' : 'lost';
  }

  async holders(): Promise<readonly string[]> {
    const reply = await lockHolder.run(this.#wire.driver, { lock: this.key }, {});
    return reply.status === 'free' ? [] : [reply.holder];
  }

  async forceRelease([holder = '']: readonly string[], answer: string, rememberMs: number): Promise<void> {
    const { driver, publish } = this.#wire;
    const keys = { lock: this.key, ...this.#queueKeys, answer };
    const args = { holder, silentMs: this.#silentMs, publish, channel: this.#channel, rememberMs };
    const reply = await fairLockForceRelease.run(driver, keys, args);
    this.#wire.announced(reply.announced);
  }

  async describe(): Promise<LockState> {
    const reply = await lockDescribe.run(this.#wire.driver, { lock: this.key }, {});
    return reply.status === 'free' ? FREE_LOCK : reply;
  }
}
