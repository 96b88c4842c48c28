/** The scripts of the rate limiter: what they answer, and what they leave in Redis. */
import { describe, expect, it } from 'vitest';
import {
  rateLimiterAcquire,
  rateLimiterAvailablePermits,
  rateLimiterGetConfig,
  rateLimiterRelease,
  rateLimiterSetRate,
  rateLimiterTrySetRate,
  rateLimiterUndo,
} from '../../src/scripts/generated.ts';
import {
  bytesOn,
  entriesOn,
  entryOf,
  historyKey,
  leftKey,
  serverTime,
} from '../behaviour/support/rate-limiter-by-hand.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

/** Limiters have no expiry, so their names are not the bench's, which wants one on every key. */
const newName = () => randomName('lua');
const CLIENT = 'b7c1f4a0-0000-4000-8000-000000000001';
const answerOf = (name: string, request: string) => `redisson_unlock_latch:{${name}}:${request}`;
const idOf = (request: string) => Buffer.alloc(16, request);

const stateOf = (name: string) => ({
  config: name,
  overallValue: leftKey(name),
  overallHistory: historyKey(name),
  clientValue: leftKey(name, CLIENT),
  clientHistory: historyKey(name, CLIENT),
});
const keysOf = (name: string, request: string) => ({ ...stateOf(name), answer: answerOf(name, request) });

interface Rate {
  readonly mode?: string;
  readonly rate?: number;
  readonly intervalMs?: number;
  readonly keepAliveMs?: number;
}

const rateOf = ({ mode = '0', rate = 3, intervalMs = 60_000, keepAliveMs = 0 }: Rate) => ({
  mode,
  rate,
  intervalMs,
  keepAliveMs,
  rememberMs: 40_000,
});

const trySet = (name: string, request: string, rate: Rate = {}) =>
  bench.run(rateLimiterTrySetRate, keysOf(name, request), rateOf(rate));
const setRate = (name: string, request: string, rate: Rate = {}) =>
  bench.run(rateLimiterSetRate, keysOf(name, request), rateOf(rate));
const getConfig = (name: string) => bench.run(rateLimiterGetConfig, { config: name }, {});
const available = (name: string) => bench.run(rateLimiterAvailablePermits, stateOf(name), {});

function acquire(name: string, request: string, count = 1, rememberMs = 0, connection = bench.connection) {
  const args = { count, id: idOf(request), rememberMs };
  return bench.run(rateLimiterAcquire, keysOf(name, request), args, connection);
}

function undo(name: string, request: string, count = 1, connection = bench.connection) {
  const args = { count, id: idOf(request), rememberMs: 40_000 };
  return bench.run(rateLimiterUndo, keysOf(name, request), args, connection);
}

function release(name: string, request: string, count = 1, connection = bench.connection) {
  return bench.run(rateLimiterRelease, keysOf(name, request), { count, rememberMs: 40_000 }, connection);
}

const stored = (name: string) => bench.command('GET', leftKey(name));
const granted = (name: string) => entriesOn(bench.connection, historyKey(name));

/** A limiter as Redisson leaves it: the permits left, and entries of so many permits, so many ms old. */
async function planted(
  { rate = 3, intervalMs = 60_000, mode = '0' }: Rate,
  left: number | null,
  entries: readonly (readonly [permits: number, ageMs: number])[],
): Promise<string> {
  const name = newName();
  await bench.command('HSET', name, 'rate', rate, 'interval', intervalMs, 'type', mode, 'keepAliveTime', 0);
  if (left !== null) await bench.command('SET', leftKey(name), left);
  const now = await serverTime(bench.connection);
  for (const [permits, ageMs] of entries) {
    await bench.command('ZADD', historyKey(name), now - ageMs, entryOf(permits));
  }
  return name;
}

/** A time to wait that was so long a moment ago. */
function expectWait(reply: { status: string; waitMs?: number }, waitMs: number): void {
  expect(reply.status).toBe('short');
  expect(reply.waitMs).toBeLessThanOrEqual(waitMs);
  expect(reply.waitMs).toBeGreaterThan(waitMs - 20_000);
}

describe('rate-limiter/try-set-rate', () => {
  it('writes the four fields as plain text, without expiry', async () => {
    const name = newName();
    const rate = { mode: '1', rate: 5, intervalMs: 2_000 };
    expect(await trySet(name, 'a', rate)).toEqual({ status: 'set' });
    const fields = { rate: '5', interval: '2000', type: '1', keepAliveTime: '0' };
    expect(await bench.hash(name)).toEqual(fields);
    expect(await bench.pttl(name)).toBe(-1);
  });

  it('gives an expiry to the limiter, and to the rest of an earlier one', async () => {
    const name = newName();
    await bench.command('SET', leftKey(name), '1');
    await bench.command('ZADD', historyKey(name), await serverTime(bench.connection), entryOf(2));
    await trySet(name, 'a', { keepAliveMs: 90_000 });
    expect(await bench.hash(name)).toMatchObject({ keepAliveTime: '90000' });
    for (const key of [name, leftKey(name), historyKey(name)]) expectRunning(await bench.pttl(key), 90_000);
  });

  it('keeps a present rate', async () => {
    const name = newName();
    await trySet(name, 'a', { rate: 5 });
    expect(await trySet(name, 'b', { rate: 7, keepAliveMs: 90_000 })).toEqual({ status: 'kept' });
    expect(await bench.hash(name)).toMatchObject({ rate: '5' });
    expect(await bench.pttl(name)).toBe(-1);
  });

  it('repeated, gives the same answer and sets nothing again', async () => {
    const name = newName();
    await trySet(name, 'a');
    await bench.command('DEL', name);
    expect(await trySet(name, 'a')).toEqual({ status: 'set' });
    expect(await bench.exists(name)).toBe(false);

    await bench.command('HSET', name, 'type', '0');
    expect(await trySet(name, 'b')).toEqual({ status: 'kept' });
    await bench.command('DEL', name);
    expect(await trySet(name, 'b')).toEqual({ status: 'kept' });
    expect(await bench.exists(name)).toBe(false);
  });
});

describe('rate-limiter/set-rate', () => {
  it('replaces the rate and forgets all grants, in both modes', async () => {
    const name = newName();
    await trySet(name, 'a', { rate: 2 });
    await acquire(name, 'b', 2);
    await bench.command('SET', leftKey(name, CLIENT), '1');
    expect(await setRate(name, 'c', { mode: '1', rate: 9, intervalMs: 7_000 })).toEqual({ status: 'set' });
    const fields = { rate: '9', interval: '7000', type: '1', keepAliveTime: '0' };
    expect(await bench.hash(name)).toEqual(fields);
    const { config: _, ...state } = stateOf(name);
    for (const key of Object.values(state)) expect(await bench.exists(key)).toBe(false);
  });

  it('sets a missing rate', async () => {
    const name = newName();
    expect(await setRate(name, 'a')).toEqual({ status: 'set' });
    expect(await bench.hash(name)).toMatchObject({ rate: '3' });
  });

  it('removes the keep-alive of a limiter, and keeps an expiry of another origin', async () => {
    const name = newName();
    await setRate(name, 'a', { keepAliveMs: 90_000 });
    expectRunning(await bench.pttl(name), 90_000);
    await setRate(name, 'b');
    expect(await bench.pttl(name)).toBe(-1);
    await bench.command('PEXPIRE', name, 50_000);
    await setRate(name, 'c');
    expectRunning(await bench.pttl(name), 50_000);
  });

  it('repeated, forgets nothing again', async () => {
    const name = newName();
    await setRate(name, 'a');
    await acquire(name, 'b', 2);
    await setRate(name, 'a');
    expect(await stored(name)).toBe('1');
  });
});

describe('rate-limiter/get-config', () => {
  it('reports the settings', async () => {
    const name = newName();
    await trySet(name, 'a', { mode: '1', rate: 4, intervalMs: 5, keepAliveMs: 60_000 });
    const config = { status: 'config', mode: '1', rate: 4, intervalMs: 5, keepAliveMs: 60_000 };
    expect(await getConfig(name)).toEqual(config);
  });

  it('reads the fields of versions without keep-alive, and a limiter without a rate', async () => {
    const name = newName();
    expect(await getConfig(name)).toEqual({ status: 'unset' });
    await bench.command('HSET', name, 'rate', 4, 'interval', 5);
    expect(await getConfig(name)).toEqual({ status: 'unset' });
    await bench.command('HSET', name, 'type', 0);
    expect(await getConfig(name)).toMatchObject({ status: 'config', mode: '0', keepAliveMs: 0 });
  });
});

describe('rate-limiter/acquire', () => {
  it('writes an entry of 21 bytes at the time of the server, and the remaining permits', async () => {
    const name = newName();
    await trySet(name, 'a', { rate: 1_000 });
    const before = await serverTime(bench.connection);
    expect(await acquire(name, 'b', 258)).toEqual({ status: 'granted', left: 742 });
    const after = await serverTime(bench.connection);
    expect(await stored(name)).toBe('742');
    expect(await bench.command('ZCARD', historyKey(name))).toBe(1);
    // 258 is 0x0102.
    const member = Buffer.concat([Buffer.from([0x10]), idOf('b'), Buffer.from([2, 1, 0, 0])]);
    expect(member).toHaveLength(21);
    const score = Number(await bench.command('ZSCORE', historyKey(name), member));
    expect(score).toBeGreaterThanOrEqual(before);
    expect(score).toBeLessThanOrEqual(after);
    expect(await bench.pttl(leftKey(name))).toBe(-1);
  });

  it('takes the largest number that an entry can hold', async () => {
    const name = newName();
    await trySet(name, 'a', { rate: 2 ** 32 });
    expect(await acquire(name, 'b', 2 ** 32 - 1)).toEqual({ status: 'granted', left: 1 });
    const member = Buffer.concat([Buffer.from([0x10]), idOf('b'), Buffer.alloc(4, 0xff)]);
    expect(await bench.command('ZSCORE', historyKey(name), member)).not.toBeNull();
    expect(await available(name)).toEqual({ status: 'permits', count: 1 });
    await bench.command('DEL', leftKey(name));
    expect(await available(name)).toEqual({ status: 'permits', count: 1 });
  });

  it('counts each client separately if the limiter is per client', async () => {
    const name = newName();
    await trySet(name, 'a', { mode: '1' });
    await acquire(name, 'b', 2);
    expect(await bench.command('GET', leftKey(name, CLIENT))).toBe('1');
    expect(await bench.command('ZCARD', historyKey(name, CLIENT))).toBe(1);
    expect(await bench.exists(leftKey(name))).toBe(false);
    expect(await bench.exists(historyKey(name))).toBe(false);
    expect(await available(name)).toEqual({ status: 'permits', count: 1 });
  });

  it('returns permits older than the interval, and no younger ones', async () => {
    const name = await planted({ rate: 5, intervalMs: 30_000 }, 0, [
      [2, 70_000],
      [1, 30_000],
      [2, 10_000],
    ]);
    expect(await acquire(name, 'a')).toEqual({ status: 'granted', left: 2 });
    expect(await stored(name)).toBe('2');
    expect((await granted(name)).map(({ permits }) => permits)).toEqual([2, 1]);
  });

  it('reports when there will be enough permits for this request', async () => {
    const name = await planted({ rate: 5, intervalMs: 200_000 }, 0, [
      [1, 150_000],
      [2, 100_000],
      [2, 50_000],
    ]);
    expectWait(await acquire(name, 'a', 1), 50_000);
    expectWait(await acquire(name, 'b', 2), 100_000);
    expectWait(await acquire(name, 'c', 3), 100_000);
    expectWait(await acquire(name, 'd', 4), 150_000);
    expectWait(await acquire(name, 'e', 5), 150_000);
    expect(await stored(name)).toBe('0');
    expect(await granted(name)).toHaveLength(3);
  });

  it('reads as many entries as it needs', async () => {
    const entries = Array.from({ length: 900 }, (_, i) => [1, 950_000 - i * 1_000] as const);
    const name = await planted({ rate: 900, intervalMs: 1_000_000 }, 0, entries);
    expectWait(await acquire(name, 'a', 1), 50_000);
    expectWait(await acquire(name, 'b', 601), 650_000);
    expectWait(await acquire(name, 'c', 900), 949_000);
    expect(await available(name)).toEqual({ status: 'permits', count: 0 });
  });

  it('counts a long history by the remaining number, and corrects impossible values', async () => {
    const entries = Array.from({ length: 300 }, (_, i) => [1, 500_000 + i] as const);
    const name = await planted({ rate: 300, intervalMs: 1_000_000 }, 0, [[4, 2_000_000], ...entries]);
    // 4 came back, though only 300 of 300 were granted: that cannot be, and is added up when it would matter.
    expect(await acquire(name, 'a', 4)).toEqual({ status: 'granted', left: 0 });
    expect(await stored(name)).toBe('0');

    const over = await planted({ rate: 300, intervalMs: 1_000_000 }, 298, [[4, 2_000_000], ...entries]);
    expect(await available(over)).toEqual({ status: 'permits', count: 0 });
    expectWait(await acquire(over, 'a'), 500_000);
    expect(await stored(over)).toBe('0');

    // Nothing is left, and only 150 of 300 stand in the history: 150 have been lost.
    const half = await planted({ rate: 300, intervalMs: 1_000_000 }, -40, entries.slice(0, 150));
    expectWait(await acquire(half, 'a', 200), 500_000);
    expect(await stored(half)).toBe('150');
  });

  it('reads entries of earlier versions', async () => {
    const name = await planted({ rate: 6, intervalMs: 30_000 }, 0, []);
    const now = await serverTime(bench.connection);
    const since317 = entryOf(2, Buffer.alloc(8, 'r'));
    const since3164 = Buffer.concat([
      Buffer.from([8, 0, 0, 0, 0, 0, 0, 0]),
      Buffer.alloc(8, 'q'),
      Buffer.from([1, 0, 0, 0]),
    ]);
    expect(since317).toHaveLength(13);
    await bench.command('ZADD', historyKey(name), now - 40_000, since317, now - 10_000, since3164);
    await bench.command('ZADD', historyKey(name), now - 9_000, entryOf(3));
    expect(await acquire(name, 'a', 2)).toEqual({ status: 'granted', left: 0 });
    expect(await stored(name)).toBe('0');
    expectWait(await acquire(name, 'b'), 20_000);
  });

  it('refuses more than the rate, and a limiter that is not set or not completely', async () => {
    const name = newName();
    expect(await acquire(name, 'a')).toEqual({ status: 'unset' });
    expect(await release(name, 'b')).toEqual({ status: 'unset' });
    expect(await available(name)).toEqual({ status: 'unset' });
    await bench.command('HSET', name, 'rate', 3, 'type', 0);
    expect(await acquire(name, 'c')).toEqual({ status: 'unset' });
    await bench.command('HSET', name, 'interval', 1_000);
    expect(await acquire(name, 'd', 4)).toEqual({ status: 'excess', rate: 3 });
    expect(await bench.exists(leftKey(name))).toBe(false);
  });

  it('delivered twice, takes once', async () => {
    const name = newName();
    await trySet(name, 'a');
    await acquire(name, 'b', 2);
    expect(await acquire(name, 'b', 2)).toEqual({ status: 'granted', left: 1 });
    expect(await stored(name)).toBe('1');
    expect(await bench.exists(answerOf(name, 'b'))).toBe(false);
    expect(await acquire(name, 'b', 2, 40_000)).toEqual({ status: 'granted', left: 1 });
    expectRunning(await bench.pttl(answerOf(name, 'b')), 40_000);
    expect(await stored(name)).toBe('1');
  });

  it('repeated after its interval, takes for the present interval', async () => {
    const name = await planted({ intervalMs: 30_000 }, 1, []);
    const now = await serverTime(bench.connection);
    await bench.command('ZADD', historyKey(name), now - 40_000, entryOf(2, idOf('a')));
    expect(await acquire(name, 'a', 2)).toEqual({ status: 'granted', left: 1 });
    expect(await stored(name)).toBe('1');
    const [entry, ...more] = await granted(name);
    expect(entry?.score).toBeGreaterThanOrEqual(now);
    expect(more).toEqual([]);
  });

  it('a copy that arrives when the entry is gone takes nothing if there is a tombstone', async () => {
    const name = newName();
    await trySet(name, 'a');
    await acquire(name, 'b', 2, 40_000);
    await bench.command('DEL', leftKey(name), historyKey(name));
    expect(await acquire(name, 'b', 2)).toEqual({ status: 'granted', left: 3 });
    expect(await available(name)).toEqual({ status: 'permits', count: 3 });
  });

  it('copies that found too few take once when there are enough', async () => {
    const name = await planted({ intervalMs: 60_000 }, 0, [[3, 10_000]]);
    expect(await acquire(name, 'a')).toMatchObject({ status: 'short', left: 0 });
    await bench.command('DEL', historyKey(name));
    await acquire(name, 'a');
    await acquire(name, 'a');
    expect(await stored(name)).toBe('2');
  });
});

describe('rate-limiter: impossible states', () => {
  it('too few with an empty history: the history was lost, and there are as many as the rate', async () => {
    const name = await planted({ rate: 3 }, 0, []);
    expect(await available(name)).toEqual({ status: 'permits', count: 3 });
    expect(await acquire(name, 'a', 2)).toEqual({ status: 'granted', left: 1 });
    expect(await stored(name)).toBe('1');
  });

  it('fewer than the history leaves: as many as the history leaves', async () => {
    const name = await planted({ rate: 10 }, 0, [[4, 10_000]]);
    expect(await acquire(name, 'a', 7)).toMatchObject({ status: 'short', left: 6 });
    expect(await stored(name)).toBe('6');
    expect(await acquire(name, 'b', 6)).toEqual({ status: 'granted', left: 0 });
    expect(await stored(name)).toBe('0');
  });

  it('no remaining number, with a history: the number is computed', async () => {
    const name = await planted({ rate: 5, intervalMs: 30_000 }, null, [
      [3, 10_000],
      [2, 40_000],
    ]);
    expect(await acquire(name, 'a', 3)).toMatchObject({ status: 'short', left: 2 });
    expect(await stored(name)).toBe('2');
  });

  it('more than the rate: as many as the history leaves', async () => {
    const name = await planted({ rate: 5 }, 50, [[3, 10_000]]);
    expect(await available(name)).toEqual({ status: 'permits', count: 2 });
    expect(await acquire(name, 'a', 3)).toMatchObject({ status: 'short', left: 2 });
    expect(await acquire(name, 'b', 2)).toEqual({ status: 'granted', left: 0 });
  });

  it('an entry from far in the future counts from now on, and blocks no caller for longer than the interval', async () => {
    const name = await planted({ rate: 3, intervalMs: 30_000 }, 0, [
      [2, -90_000],
      [1, -20_000],
    ]);
    const now = await serverTime(bench.connection);
    // Two that come back 30 s from now, and one, from the near future, which is left alone.
    expectWait(await acquire(name, 'a', 2), 30_000);
    expectWait(await acquire(name, 'b', 3), 50_000);
    const [first, second] = await granted(name);
    expect(first?.permits).toBe(2);
    expect(first?.score).toBeGreaterThanOrEqual(now);
    expect(first?.score).toBeLessThan(now + 20_000);
    expect(second?.permits).toBe(1);
    expect(second?.score).toBeLessThanOrEqual(now + 20_000);
  });

  it('other data under the keys: an error, and nothing is changed', async () => {
    const name = await planted({ rate: 3 }, null, []);
    await bench.command('SET', leftKey(name), 'text');
    await expect(acquire(name, 'a')).rejects.toThrow('not a number of permits');
    await expect(release(name, 'a')).rejects.toThrow('not a number of permits');
    expect(await stored(name)).toBe('text');
    expect(await bench.exists(historyKey(name))).toBe(false);

    await bench.command('SET', leftKey(name), '0');
    await bench.command('ZADD', historyKey(name), 1, 'one', 2, 'two');
    await expect(acquire(name, 'a')).rejects.toThrow('no entry');
    expect(await bench.command('ZCARD', historyKey(name))).toBe(2);

    const list = newName();
    await bench.command('RPUSH', list, 'data');
    for (const call of [trySet, setRate, acquire, release, undo]) {
      await expect(call(list, 'b')).rejects.toThrow('WRONGTYPE');
    }
    expect(await bench.command('LRANGE', list, 0, -1)).toEqual(['data']);
  });
});

describe('rate-limiter: expiry', () => {
  it('keeps itself and its state alive, whether it grants or not, and by a release', async () => {
    const name = newName();
    await trySet(name, 'a', { keepAliveMs: 90_000 });
    const all = [name, leftKey(name), historyKey(name)];
    const steps = [
      () => acquire(name, 'b', 2),
      () => acquire(name, 'c', 2),
      () => release(name, 'd'),
      () => acquire(name, 'e', 2),
    ];
    for (const step of steps) {
      for (const key of all) await bench.command('PEXPIRE', key, 20_000);
      await step();
      for (const key of all) {
        expect(await bench.pttl(key)).toBeGreaterThan(70_000);
        expect(await bench.pttl(key)).toBeLessThanOrEqual(90_000);
      }
    }
  });

  it('gives its state the expiry that the limiter has', async () => {
    const name = await planted({ rate: 3 }, null, []);
    await bench.command('PEXPIRE', name, 50_000);
    await acquire(name, 'a');
    for (const key of [name, leftKey(name), historyKey(name)]) expectRunning(await bench.pttl(key), 50_000);
    await bench.command('PERSIST', leftKey(name));
    await undo(name, 'a');
    await release(name, 'b');
    expectRunning(await bench.pttl(leftKey(name)), 50_000);
  });

  it('creates nothing when it is read', async () => {
    const name = await planted({ rate: 3, intervalMs: 30_000 }, null, [[1, 40_000]]);
    expect(await available(name)).toEqual({ status: 'permits', count: 3 });
    expect(await bench.exists(leftKey(name))).toBe(false);
    expect(await granted(name)).toHaveLength(1);
  });
});

/** Makes every entry so much older. */
const AGE =
  "for _, m in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZINCRBY', KEYS[1], -ARGV[1], m) end";

describe('rate-limiter/release', () => {
  it('returns no more than the rate, and removes as much from the history, the oldest first', async () => {
    const name = await planted({ rate: 9 }, 0, [
      [2, 30_000],
      [3, 20_000],
      [4, 10_000],
    ]);
    const [, second, third] = await granted(name);
    await release(name, 'a', 3);
    expect(await stored(name)).toBe('3');
    expect(await granted(name)).toEqual([{ ...second, permits: 2 }, third]);
    await release(name, 'b', 2);
    expect(await stored(name)).toBe('5');
    expect(await granted(name)).toEqual([third]);
    await release(name, 'c', 50);
    expect(await stored(name)).toBe('9');
    expect(await bench.exists(historyKey(name))).toBe(false);
    await release(name, 'd');
    expect(await stored(name)).toBe('9');
  });

  it("shortens an entry in Redisson's format", async () => {
    const name = newName();
    await trySet(name, 'a', { rate: 1_000 });
    await acquire(name, 'b', 700);
    await release(name, 'c', 100);
    const [left] = await bytesOn(bench.connection, historyKey(name));
    expect(left?.entry).toEqual(entryOf(600, idOf('b')));
  });

  it('returns no more than the history has, if part of it was lost', async () => {
    const entries = Array.from({ length: 150 }, (_, i) => [1, 10_000 + i] as const);
    const name = await planted({ rate: 300 }, 0, entries);
    await release(name, 'a', 200);
    expect(await stored(name)).toBe('150');
    expect(await granted(name)).toEqual([]);
  });

  it('returns permits beside those of Redisson, whose entries stay', async () => {
    // Of six, Redisson gave two back.
    const name = await planted({ rate: 6, intervalMs: 30_000 }, 2, [
      [3, 20_000],
      [3, 10_000],
    ]);
    await release(name, 'a', 1);
    expect(await stored(name)).toBe('3');
    expect((await granted(name)).map(({ permits }) => permits)).toEqual([2, 3]);
    await release(name, 'b', 9);
    expect(await stored(name)).toBe('6');
    expect((await granted(name)).map(({ permits }) => permits)).toEqual([2]);
  });

  it('forgets the request whose entry it removes: its repeat takes again unless there is a tombstone', async () => {
    const name = newName();
    await trySet(name, 'a');
    await acquire(name, 'b', 2);
    await acquire(name, 'c', 1, 40_000);
    await release(name, 'd', 3);
    expect(await acquire(name, 'c', 1)).toEqual({ status: 'granted', left: 3 });
    expect(await stored(name)).toBe('3');
    expect(await acquire(name, 'b', 2)).toEqual({ status: 'granted', left: 1 });
    expect(await stored(name)).toBe('1');
  });

  it('repeated, returns once', async () => {
    const name = newName();
    await trySet(name, 'a');
    await acquire(name, 'b', 3);
    await release(name, 'c');
    expect(await release(name, 'c')).toEqual({ status: 'released' });
    expect(await stored(name)).toBe('1');
    expectRunning(await bench.pttl(answerOf(name, 'c')), 40_000);
  });

  it('a returned permit is not returned again after its interval', async () => {
    const interval = { rate: 3, intervalMs: 30_000 };
    // Two were taken and given back, and their time is over.
    const idle = await planted(interval, 3, [[2, 40_000]]);
    expect(await available(idle)).toEqual({ status: 'permits', count: 3 });
    expect(await acquire(idle, 'a', 3)).toEqual({ status: 'granted', left: 0 });
    expect(await acquire(idle, 'b', 1)).toMatchObject({ status: 'short', left: 0 });

    // And three were taken after that.
    const busy = await planted(interval, 0, [
      [2, 40_000],
      [3, 10_000],
    ]);
    expect(await available(busy)).toEqual({ status: 'permits', count: 0 });
    expectWait(await acquire(busy, 'a', 1), 20_000);
  });

  it('with many grants in the window, returns no permit a second time after its interval', async () => {
    const name = newName();
    await trySet(name, 'set', { rate: 200, intervalMs: 600_000 });
    const take = (from: number, to: number) =>
      Promise.all(Array.from({ length: to - from }, (_, i) => acquire(name, `request ${from + i}`)));
    await take(0, 100);
    await bench.command('EVAL', AGE, 1, historyKey(name), 300_000);
    await release(name, 'given back', 100);
    for (const [i, reply] of (await take(100, 300)).entries()) {
      expect(reply).toEqual({ status: 'granted', left: 199 - i });
    }
    // The time of the first hundred is over.
    await bench.command('EVAL', AGE, 1, historyKey(name), 300_000);
    expect(await available(name)).toEqual({ status: 'permits', count: 0 });
    expectWait(await acquire(name, 'one more'), 300_000);
  });

  it('waits for permits that were not returned', async () => {
    // Of five, two were given back: the oldest, as far as anybody knows.
    const name = await planted({ rate: 5, intervalMs: 100_000 }, 2, [
      [1, 90_000],
      [2, 60_000],
      [2, 30_000],
    ]);
    expectWait(await acquire(name, 'a', 3), 40_000);
    expectWait(await acquire(name, 'b', 4), 70_000);
    expect(await acquire(name, 'c', 2)).toEqual({ status: 'granted', left: 0 });
  });
});

describe('rate-limiter/undo', () => {
  it('removes the entry and returns its permits, once', async () => {
    const name = newName();
    await trySet(name, 'a');
    await acquire(name, 'b', 2);
    await acquire(name, 'c', 1);
    expect(await undo(name, 'b', 2)).toEqual({ status: 'returned' });
    expect(await undo(name, 'b', 2)).toEqual({ status: 'barred' });
    expect(await stored(name)).toBe('2');
    expect((await granted(name)).map(({ permits }) => permits)).toEqual([1]);
    expect(await acquire(name, 'b', 2)).toEqual({ status: 'undone' });
    expect(await stored(name)).toBe('2');
    expectRunning(await bench.pttl(answerOf(name, 'b')), 40_000);
  });

  it('bars an attempt that has not run', async () => {
    const name = newName();
    await trySet(name, 'a');
    expect(await undo(name, 'b', 2)).toEqual({ status: 'barred' });
    expect(await acquire(name, 'b', 2)).toEqual({ status: 'undone' });
    expect(await bench.exists(leftKey(name))).toBe(false);
  });

  it('undoes an attempt that left a tombstone', async () => {
    const name = newName();
    await trySet(name, 'a');
    await acquire(name, 'b', 2, 40_000);
    expect(await undo(name, 'b', 2)).toEqual({ status: 'returned' });
    expect(await acquire(name, 'b', 2)).toEqual({ status: 'undone' });
    expect(await stored(name)).toBe('3');
  });

  it('finds the entry after the limiter changed its mode', async () => {
    const name = newName();
    await trySet(name, 'a');
    await acquire(name, 'b', 2);
    await bench.command('HSET', name, 'type', '1');
    expect(await undo(name, 'b', 2)).toEqual({ status: 'returned' });
    expect(await stored(name)).toBe('3');
  });

  it('returns no more than the rate, and nothing to a deleted limiter', async () => {
    const name = newName();
    await trySet(name, 'a');
    await acquire(name, 'b', 2);
    await bench.command('SET', leftKey(name), 2);
    await undo(name, 'b', 2);
    expect(await stored(name)).toBe('3');

    await acquire(name, 'd', 2);
    await bench.command('DEL', name, leftKey(name));
    expect(await undo(name, 'd', 2)).toEqual({ status: 'returned' });
    expect(await bench.exists(leftKey(name))).toBe(false);
    expect(await bench.exists(historyKey(name))).toBe(false);
  });

  it('returns nothing if a release shortened the entry: its rest is unknown', async () => {
    const name = newName();
    await trySet(name, 'a');
    await acquire(name, 'b', 2);
    await release(name, 'c', 1);
    expect(await undo(name, 'b', 2)).toEqual({ status: 'barred' });
    expect(await stored(name)).toBe('2');
    expect((await granted(name)).map(({ permits }) => permits)).toEqual([1]);
  });
});

describeWithProcess('rate-limiter: out of memory', () => {
  it('nothing is taken, taken permits are returned, and each call is answered once', async () => {
    const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] });
    const raw = await openRaw(server.host, server.port);
    const name = newName();
    await raw.command('HSET', name, 'rate', 5, 'interval', 60_000, 'type', 0, 'keepAliveTime', 0);
    await acquire(name, 'a', 2, 0, raw);
    await acquire(name, 'b', 1, 0, raw);
    await raw.command('CONFIG', 'SET', 'maxmemory', '1');
    await expect(acquire(name, 'c', 1, 0, raw)).rejects.toThrow('OOM');
    expect(await raw.command('GET', leftKey(name))).toBe('2');
    expect(await raw.command('ZCARD', historyKey(name))).toBe(2);
    expect(await acquire(name, 'd', 4, 0, raw)).toMatchObject({ status: 'short' });
    expect(await undo(name, 'a', 2, raw)).toEqual({ status: 'returned' });
    expect(await undo(name, 'a', 2, raw)).toEqual({ status: 'barred' });
    expect(await raw.command('GET', leftKey(name))).toBe('4');
    await release(name, 'e', 1, raw);
    expect(await raw.command('GET', leftKey(name))).toBe('5');
  });
});

bench.itCoversEveryWordOf('rate-limiter');
