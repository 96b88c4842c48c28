/**
 * A Redisson client's rate limiter played with plain commands, by its rules and on its own clock, and what is
 * needed to look at a limiter from outside. Keys and bytes are spelled by hand.
 */
import { randomBytes } from 'node:crypto';
import type { RawView } from '../../harness/cluster-connection.ts';

export const leftKey = (name: string, clientId?: string) =>
  clientId === undefined ? `{${name}}:value` : `{${name}}:value:${clientId}`;
export const historyKey = (name: string, clientId?: string) =>
  clientId === undefined ? `{${name}}:permits` : `{${name}}:permits:${clientId}`;

/** An entry of the history: the length of its random bytes, these bytes, the permits with the low byte first. */
export function entryOf(permits: number, id: Buffer = randomBytes(16)): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32LE(permits);
  return Buffer.concat([Buffer.from([id.length]), id, count]);
}

/** The number of an entry that was read as text: its bytes are below 128 here, and behind whatever is not text. */
function permitsOf(text: string): number {
  const [low = 0, second = 0, third = 0, high = 0] = [...text.slice(-4)].map((byte) => byte.charCodeAt(0));
  return low + second * 2 ** 8 + third * 2 ** 16 + high * 2 ** 24;
}

export interface Entry {
  readonly permits: number;
  readonly score: number;
}

/** The history, the oldest entry first. */
export async function entriesOn(raw: RawView, key: string): Promise<Entry[]> {
  const flat = (await raw.command('ZRANGE', key, 0, -1, 'WITHSCORES')) as string[];
  const entries: Entry[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    entries.push({ permits: permitsOf(flat[i] as string), score: Number(flat[i + 1]) });
  }
  return entries;
}

const IN_HEX = `
  local entries = redis.call('zrange', KEYS[1], 0, -1, 'withscores')
  for i = 1, #entries, 2 do
    entries[i] = string.gsub(entries[i], '.', function(byte) return string.format('%02x', string.byte(byte)) end)
  end
  return entries`;

/** The history with the bytes of its entries, which do not survive being read as text. */
export async function bytesOn(raw: RawView, key: string): Promise<{ entry: Buffer; score: number }[]> {
  const flat = (await raw.command('EVAL', IN_HEX, 1, key)) as string[];
  const found: { entry: Buffer; score: number }[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    found.push({ entry: Buffer.from(flat[i] as string, 'hex'), score: Number(flat[i + 1]) });
  }
  return found;
}

/** The server's time in ms. */
export async function serverTime(raw: RawView): Promise<number> {
  const [seconds, micros] = (await raw.command('TIME')) as [string, string];
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

export class JavaLimiter {
  readonly #raw: RawView;
  readonly #name: string;
  readonly #clientId: string | undefined;
  readonly #aheadMs: number;

  /** @param aheadMs how much its clock is ahead */
  constructor(
    raw: RawView,
    name: string,
    { clientId, aheadMs = 0 }: { clientId?: string; aheadMs?: number } = {},
  ) {
    this.#raw = raw;
    this.#name = name;
    this.#clientId = clientId;
    this.#aheadMs = aheadMs;
  }

  async setRate(type: '0' | '1', rate: number, intervalMs: number): Promise<void> {
    const fields = ['rate', rate, 'interval', intervalMs, 'type', type, 'keepAliveTime', 0];
    await this.#raw.command('HSET', this.#name, ...fields);
    await this.#raw.command(
      'DEL',
      leftKey(this.#name, this.#clientId),
      historyKey(this.#name, this.#clientId),
    );
  }

  /** Null when granted, else after how many ms to try again. */
  async tryAcquire(permits: number): Promise<number | null> {
    const { rate, intervalMs, value, history } = await this.#keys();
    const now = Date.now() + this.#aheadMs;
    let left = await this.#raw.command('GET', value);
    if (left === null) {
      await this.#raw.command('SET', value, rate);
      left = String(rate);
    } else {
      const entries = await entriesOn(this.#raw, history);
      const old = entries.filter(({ score }) => score <= now - intervalMs);
      const released = sum(old);
      if (released > 0) {
        await this.#raw.command('ZREMRANGEBYSCORE', history, '-inf', now - intervalMs);
        const more = Number(left) + released;
        left = String(more > rate ? rate - (sum(entries) - released) : more);
        await this.#raw.command('SET', value, left);
      }
    }
    if (Number(left) < permits) {
      const [oldest] = await entriesOn(this.#raw, history);
      if (oldest === undefined) throw new Error('attempt to perform arithmetic on a nil value');
      return 3 + intervalMs - (now - oldest.score);
    }
    await this.#raw.command('ZADD', history, now, entryOf(permits));
    await this.#raw.command('DECRBY', value, permits);
    return null;
  }

  async release(permits: number): Promise<void> {
    const { rate, value } = await this.#keys();
    const left = Number((await this.#raw.command('GET', value)) ?? rate);
    await this.#raw.command('SET', value, Math.min(rate, left + permits));
  }

  async #keys() {
    const fields = (await this.#raw.command('HMGET', this.#name, 'rate', 'interval', 'type')) as string[];
    const [rate, intervalMs, type] = fields;
    const clientId = type === '1' ? this.#clientId : undefined;
    return {
      rate: Number(rate),
      intervalMs: Number(intervalMs),
      value: leftKey(this.#name, clientId),
      history: historyKey(this.#name, clientId),
    };
  }
}

function sum(entries: readonly Entry[]): number {
  return entries.reduce((total, { permits }) => total + permits, 0);
}
