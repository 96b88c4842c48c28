/**
 * A Redisson client's read/write lock, played with plain Redis commands by the rules Redisson follows.
 */
import { randomUUID } from 'node:crypto';
import type { RawView } from '../../harness/cluster-connection.ts';
import { listenersOf } from './listeners.ts';

export const rwChannelOf = (name: string): string => `redisson_rwlock:{${name}}`;
export const holdKeyOf = (name: string, owner: string, hold: number): string =>
  `{${name}}:${owner}:rwlock_timeout:${hold}`;

/** The fields of the lock, empty when it is free. */
export async function fieldsOf(raw: RawView, name: string): Promise<Record<string, string>> {
  const flat = (await raw.command('HGETALL', name)) as string[];
  const fields: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) fields[flat[i] as string] = flat[i + 1] as string;
  return fields;
}

export class RedissonReadWriteByHand {
  readonly reader = `${randomUUID()}:37`;
  readonly writer = `${this.reader}:write`;
  readonly #raw: RawView;
  readonly #name: string;

  constructor(raw: RawView, name: string) {
    this.#raw = raw;
    this.#name = name;
  }

  /** Answers what is left of the others' lease, or null when the lock was taken. */
  async tryRead(leaseMs = 30_000): Promise<number | null> {
    const { mode, ...fields } = await fieldsOf(this.#raw, this.#name);
    if (mode === undefined) await this.#raw.command('HSET', this.#name, 'mode', 'read');
    else if (mode === 'write' && fields[this.writer] === undefined) return this.#pttl(this.#name);
    const hold = Number(await this.#raw.command('HINCRBY', this.#name, this.reader, 1));
    const leftMs = await this.#pttl(this.#name);
    await this.#raw.command('SET', this.#holdKey(this.reader, hold), '1', 'PX', leaseMs);
    await this.#raw.command('PEXPIRE', this.#name, Math.max(leftMs, leaseMs));
    return null;
  }

  async tryWrite(leaseMs = 30_000): Promise<number | null> {
    const { mode, ...fields } = await fieldsOf(this.#raw, this.#name);
    if (mode === undefined) {
      await this.#raw.command('HSET', this.#name, 'mode', 'write', this.writer, 1);
      await this.#raw.command('PEXPIRE', this.#name, leaseMs);
      return null;
    }
    const leftMs = await this.#pttl(this.#name);
    if (mode !== 'write' || fields[this.writer] === undefined) return leftMs;
    await this.#raw.command('HINCRBY', this.#name, this.writer, 1);
    await this.#raw.command('PEXPIRE', this.#name, leftMs + leaseMs);
    return null;
  }

  /** Answers whether the lock was freed. */
  async unlockRead(): Promise<boolean> {
    const left = Number(await this.#raw.command('HINCRBY', this.#name, this.reader, -1));
    if (left === 0) await this.#raw.command('HDEL', this.#name, this.reader);
    await this.#raw.command('DEL', this.#holdKey(this.reader, left + 1));
    const { mode, ...fields } = await fieldsOf(this.#raw, this.#name);
    if (Object.keys(fields).length > 0) {
      const longestMs = await this.#longestHold(fields);
      if (longestMs > 0) {
        await this.#raw.command('PEXPIRE', this.#name, longestMs);
        return false;
      }
      if (mode === 'write') return false;
    }
    await this.#raw.command('DEL', this.#name);
    await this.#raw.command('PUBLISH', rwChannelOf(this.#name), '0');
    return true;
  }

  async unlockWrite(): Promise<void> {
    if (Number(await this.#raw.command('HINCRBY', this.#name, this.writer, -1)) > 0) return;
    await this.#raw.command('HDEL', this.#name, this.writer);
    if (Number(await this.#raw.command('HLEN', this.#name)) > 1) {
      await this.#raw.command('HSET', this.#name, 'mode', 'read');
      return;
    }
    await this.#raw.command('DEL', this.#name);
    await this.#raw.command('PUBLISH', rwChannelOf(this.#name), '1');
  }

  /**
   * Its watchdog: sets the time of the lock without a look at what it has. Before 4.4.0 it does so to everybody's
   * hold keys; 3.44 to 3.52 miss those that they should renew.
   */
  async renewRead(timeoutMs: number, whose: 'own' | 'everybody' | 'none' = 'own'): Promise<void> {
    const { mode: _, ...fields } = await fieldsOf(this.#raw, this.#name);
    for (const [field, count] of Object.entries(fields)) {
      if (whose === 'none' || (whose === 'own' && field !== this.reader)) continue;
      for (let hold = 1; hold <= Number(count); hold += 1) {
        await this.#raw.command('PEXPIRE', this.#holdKey(field, hold), timeoutMs);
      }
    }
    await this.#raw.command('PEXPIRE', this.#name, timeoutMs);
  }

  /** The hold keys of its reader run out though it lives, as with 3.44 to 3.52. */
  async losesHoldKeys(): Promise<void> {
    const count = Number(await this.#raw.command('HGET', this.#name, this.reader));
    for (let hold = 1; hold <= count; hold += 1) {
      await this.#raw.command('DEL', this.#holdKey(this.reader, hold));
    }
  }

  async #longestHold(fields: Record<string, string>): Promise<number> {
    let longestMs = -2;
    for (const [field, count] of Object.entries(fields)) {
      for (let hold = Number(count); hold >= 1; hold -= 1) {
        longestMs = Math.max(longestMs, await this.#pttl(this.#holdKey(field, hold)));
      }
    }
    return longestMs;
  }

  #holdKey(owner: string, hold: number): string {
    return holdKeyOf(this.#name, owner, hold);
  }

  async #pttl(key: string): Promise<number> {
    return Number(await this.#raw.command('PTTL', key));
  }
}

/** How many connections listen for the releases of the lock. */
export function rwSubscribersOf(raw: RawView, name: string): Promise<number> {
  return listenersOf(raw, rwChannelOf(name));
}
