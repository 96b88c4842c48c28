/**
 * A Redisson client's read/write lock, played with plain Redis commands by the rules Redisson follows.
 */
import { randomUUID } from 'node:crypto';
import type { RawConnection } from '../../src/testing/index.ts';

export const rwChannelOf = (name: string): string => `redisson_rwlock:{${name}}`;
export const holdKeyOf = (name: string, owner: string, hold: number): string =>
  `{${name}}:${owner}:rwlock_timeout:${hold}`;

/** The fields of the lock, empty when it is free. */
export async function fieldsOf(raw: RawConnection, name: string): Promise<Record<string, string>> {
  const flat = (await raw.command('HGETALL', name)) as string[];
  const fields: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) fields[flat[i] as string] = flat[i + 1] as string;
  return fields;
}

export class RedissonReadWriteByHand {
  readonly reader = `${randomUUID()}:37`;
  readonly writer = `${this.reader}:write`;
  readonly #raw: RawConnection;
  readonly #name: string;

  constructor(raw: RawConnection, name: string) {
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
export async function rwSubscribersOf(raw: RawConnection, name: string): Promise<number> {
  const [, count] = (await raw.command('PUBSUB', 'NUMSUB', rwChannelOf(name))) as [string, number];
  return Number(count);
}
