/**
 * A waiter of Redisson's fair lock, played with plain commands by Redisson's rules: it knows the lock, the
 * queue and the times, and nothing of ours.
 */
import { randomUUID } from 'node:crypto';
import type { RawView } from '../../harness/cluster-connection.ts';
import type { Context } from './context.ts';

export const queueOf = (name: string) => `redisson_lock_queue:{${name}}`;
export const timeoutsOf = (name: string) => `redisson_lock_timeout:{${name}}`;
export const seenOf = (name: string) => `holdfast_lock_seen:{${name}}`;
export const ownChannelOf = (name: string, owner: string) => `redisson_lock__channel:{${name}}:${owner}`;

/** Redisson's fairLockWaitTimeout. */
const WAIT_MS = 300_000;

export class FairByHand {
  readonly owner = `${randomUUID()}:41`;
  readonly #raw: RawView;
  readonly #calls: RawView;
  readonly #name: string;
  #called = 0;
  #onCall: (() => void) | undefined;

  private constructor(raw: RawView, calls: RawView, name: string) {
    this.#raw = raw;
    this.#calls = calls;
    this.#name = name;
  }

  /** Listens on its own channel from the start, which Redisson does before its second try. */
  static async meet(context: Context, name: string): Promise<FairByHand> {
    const waiter = new FairByHand(await context.raw(), await context.raw(), name);
    await waiter.#calls.subscribe(ownChannelOf(name, waiter.owner));
    waiter.#calls.onMessage(() => {
      waiter.#called += 1;
      waiter.#onCall?.();
    });
    return waiter;
  }

  /** How often it was called. */
  get calls(): number {
    return this.#called;
  }

  /** The waiting form: null when taken, otherwise the time that Redisson's script answers. */
  async acquire({ waitMs = WAIT_MS, leaseMs = 30_000 } = {}): Promise<number | null> {
    const now = Date.now();
    await this.#sweep(now);
    const [queue, timeouts] = [queueOf(this.#name), timeoutsOf(this.#name)];
    const head = await this.#head();
    if ((await this.#raw.command('EXISTS', this.#name)) === 0 && (head === null || head === this.owner)) {
      await this.#raw.command('LPOP', queue);
      await this.#raw.command('ZREM', timeouts, this.owner);
      for (const waiter of (await this.#raw.command('ZRANGE', timeouts, 0, -1)) as string[]) {
        await this.#raw.command('ZINCRBY', timeouts, -waitMs, waiter);
      }
      await this.#raw.command('HSET', this.#name, this.owner, 1);
      await this.#raw.command('PEXPIRE', this.#name, leaseMs);
      return null;
    }
    const leaseLeftMs = Number(await this.#raw.command('PTTL', this.#name));
    if ((await this.#raw.command('ZSCORE', timeouts, this.owner)) !== null) return Math.max(0, leaseLeftMs);
    const last = (await this.#raw.command('LINDEX', queue, -1)) as string | null;
    const lastDiesAt = last === null ? null : await this.#raw.command('ZSCORE', timeouts, last);
    const base = lastDiesAt === null ? leaseLeftMs : Number(lastDiesAt) - now;
    await this.#raw.command('ZADD', timeouts, base + waitMs + now, this.owner);
    await this.#raw.command('RPUSH', queue, this.owner);
    return base;
  }

  /** Waits for calls and tries at each; resolves when it has the lock. */
  async untilHeld(waitMs = WAIT_MS): Promise<void> {
    while ((await this.acquire({ waitMs })) !== null) {
      const before = this.#called;
      await new Promise<void>((resolve) => {
        this.#onCall = resolve;
        if (this.#called > before) resolve();
      });
    }
  }

  async unlock(): Promise<void> {
    await this.#sweep(Date.now());
    if ((await this.#raw.command('HEXISTS', this.#name, this.owner)) === 0) throw new Error('not the owner');
    await this.#raw.command('DEL', this.#name);
    const head = await this.#head();
    if (head !== null) await this.#raw.command('PUBLISH', ownChannelOf(this.#name, head), '0');
  }

  async #sweep(now: number): Promise<void> {
    for (;;) {
      const head = await this.#head();
      const diesAt = head === null ? null : await this.#raw.command('ZSCORE', timeoutsOf(this.#name), head);
      if (head === null || diesAt === null || Number(diesAt) > now) return;
      await this.#raw.command('ZREM', timeoutsOf(this.#name), head);
      await this.#raw.command('LPOP', queueOf(this.#name));
    }
  }

  async #head(): Promise<string | null> {
    return (await this.#raw.command('LINDEX', queueOf(this.#name), 0)) as string | null;
  }
}

/** Everybody in the queue, first come first. */
export async function queueIn(raw: RawView, name: string): Promise<string[]> {
  return (await raw.command('LRANGE', queueOf(name), 0, -1)) as string[];
}

/** Which keys of the queue there are. */
export async function traceIn(raw: RawView, name: string): Promise<string[]> {
  const keys = [queueOf(name), timeoutsOf(name), seenOf(name)];
  const there = await Promise.all(keys.map((key) => raw.command('EXISTS', key)));
  return keys.filter((_, i) => there[i] === 1);
}
