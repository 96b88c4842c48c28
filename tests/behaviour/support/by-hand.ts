/**
 * Other clients, played with plain Redis commands by the rules that Redisson and redlock-style libraries follow.
 */
import { randomUUID } from 'node:crypto';
import type { RawView } from '../../harness/cluster-connection.ts';
import { eventually } from '../../harness/wait.ts';
import type { Context } from './context.ts';
import type { Kind } from './kinds.ts';
import { listenersOf } from './listeners.ts';

/** Where Redisson announces the releases of a lock. */
export function channelOf(name: string): string {
  return name.includes('{') ? `redisson_lock__channel:${name}` : `redisson_lock__channel:{${name}}`;
}

/** A Redisson client's lock: a hash field `<uuid>:<thread id>` that counts its entries. */
export class RedissonByHand {
  readonly owner = `${randomUUID()}:37`;
  readonly name: string;
  readonly #raw: RawView;

  constructor(raw: RawView, name: string) {
    this.#raw = raw;
    this.name = name;
  }

  /** Answers whether it was taken; null in Redisson's script stands for that. */
  async tryLock(leaseMs = 30_000): Promise<boolean> {
    const isFree = (await this.#raw.command('EXISTS', this.name)) === 0;
    const isMine = (await this.#raw.command('HEXISTS', this.name, this.owner)) === 1;
    if (!isFree && !isMine) return false;
    await this.#raw.command('HINCRBY', this.name, this.owner, 1);
    await this.#raw.command('PEXPIRE', this.name, leaseMs);
    return true;
  }

  async unlock(): Promise<void> {
    if (Number(await this.#raw.command('HINCRBY', this.name, this.owner, -1)) > 0) return;
    await this.#raw.command('DEL', this.name);
    await this.#raw.command('PUBLISH', channelOf(this.name), '0');
  }
}

const COMPARE_AND_DELETE =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

/** A redlock-style client's lock: `SET key token NX PX`, and a script that compares and deletes. */
export class RedlockByHand {
  readonly owner = randomUUID().replaceAll('-', '');
  readonly name: string;
  readonly #raw: RawView;

  constructor(raw: RawView, name: string) {
    this.#raw = raw;
    this.name = name;
  }

  async tryLock(leaseMs = 30_000): Promise<boolean> {
    return (await this.#raw.command('SET', this.name, this.owner, 'NX', 'PX', leaseMs)) === 'OK';
  }

  async unlock(): Promise<void> {
    await this.#raw.command('EVAL', COMPARE_AND_DELETE, 1, this.name, this.owner);
  }
}

/** Somebody else's hold of a lock of that kind. */
export function byHand(raw: RawView, { layout }: Kind, name: string): RedissonByHand | RedlockByHand {
  return layout === 'hash' ? new RedissonByHand(raw, name) : new RedlockByHand(raw, name);
}

/** How many connections listen for the releases of a lock. */
export function subscribersOf(raw: RawView, name: string): Promise<number> {
  return listenersOf(raw, channelOf(name));
}

/** Listens to a channel; what it returns resolves with all that was published there up to its call. */
export async function listenTo(context: Context, channel: string): Promise<() => Promise<string[]>> {
  const [listener, raw] = [await context.raw(), await context.raw()];
  const heard: string[] = [];
  listener.onMessage(({ message }) => heard.push(message));
  await listener.subscribe(channel);
  return async () => {
    // Messages keep their order: what was published before has arrived when this has.
    await raw.command('PUBLISH', channel, 'end');
    await eventually(() => heard.at(-1) === 'end');
    heard.pop();
    return [...heard];
  };
}

/** Resolves when this many processes wait for the lock; for a kind that does not listen, right away. */
export async function untilWaiting(raw: RawView, kind: Kind, name: string, processes = 1): Promise<void> {
  if (kind.listens) await eventually(async () => (await subscribersOf(raw, name)) === processes);
}
