/** The scripts of the count-down latch: what they answer, what they leave in Redis and whom they wake. */
import { describe, expect, it } from 'vitest';
import {
  countDownLatchCountDown,
  countDownLatchDelete,
  countDownLatchGetCount,
  countDownLatchTrySetCount,
} from '../../src/scripts/generated.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

/** Latches have no expiry, so their names are not the bench's, which wants one on every key. */
const newName = () => randomName('lua');
const channelOf = (name: string) => `redisson_countdownlatch__channel__{${name}}`;
const answerOf = (name: string, request: string) => `redisson_unlock_latch:{${name}}:${request}`;

const keysOf = (name: string, request: string) => ({ latch: name, answer: answerOf(name, request) });
const loud = (name: string) => ({ publish: 'PUBLISH', channel: channelOf(name), rememberMs: 40_000 });

function trySet(name: string, request: string, count: number) {
  return bench.run(countDownLatchTrySetCount, keysOf(name, request), { count, ...loud(name) });
}

function countDown(name: string, request: string, connection = bench.connection) {
  return bench.run(countDownLatchCountDown, keysOf(name, request), loud(name), connection);
}

function getCount(name: string) {
  return bench.run(countDownLatchGetCount, { latch: name }, {});
}

function remove(name: string, request: string) {
  return bench.run(countDownLatchDelete, keysOf(name, request), loud(name));
}

const stored = (name: string) => bench.command('GET', name);

describe('count-down-latch/try-set-count', () => {
  it('writes the count as plain text without expiry and announces 1', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    expect(await trySet(name, 'c:1', 2)).toEqual({ status: 'set', announced: 1 });
    expect(await stored(name)).toBe('2');
    expect(await bench.pttl(name)).toBe(-1);
    expect(await heard()).toEqual(['1']);
    expectRunning(await bench.pttl(answerOf(name, 'c:1')), 40_000);
  });

  it('writes the largest count digit by digit', async () => {
    const name = newName();
    await trySet(name, 'c:1', Number.MAX_SAFE_INTEGER);
    expect(await stored(name)).toBe('9007199254740991');
    await bench.command('DEL', name);
  });

  it('keeps a running count', async () => {
    const name = newName();
    await bench.command('SET', name, '1');
    expect(await trySet(name, 'c:1', 5)).toEqual({ status: 'kept' });
    expect(await stored(name)).toBe('1');
  });

  it('replaces a 0 that a Java client left, which is an open latch', async () => {
    const name = newName();
    await bench.command('SET', name, '0');
    expect(await trySet(name, 'c:1', 5)).toMatchObject({ status: 'set' });
    expect(await stored(name)).toBe('5');
  });

  it('repeated, gives the same answer and closes nothing again', async () => {
    const name = newName();
    await trySet(name, 'c:1', 1);
    await countDown(name, 'c:2');
    expect(await trySet(name, 'c:1', 1)).toMatchObject({ status: 'set' });
    expect(await bench.exists(name)).toBe(false);
  });

  it('refuses a count below 1, and a key that holds something else', async () => {
    const name = newName();
    await expect(trySet(name, 'c:1', 0)).rejects.toThrow('positive');
    await bench.command('SET', name, 'data');
    await expect(trySet(name, 'c:2', 1)).rejects.toThrow('not a count');
    expect(await stored(name)).toBe('data');
  });
});

describe('count-down-latch/count-down', () => {
  it('counts, opens at zero, and announces 0 only then', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '2');
    expect(await countDown(name, 'c:1')).toEqual({ status: 'counted' });
    expect(await stored(name)).toBe('1');
    expect(await heard()).toEqual([]);
    expect(await countDown(name, 'c:2')).toEqual({ status: 'opened', announced: 1 });
    expect(await bench.exists(name)).toBe(false);
    expect(await heard()).toEqual(['0']);
  });

  it('delivered twice, counts once', async () => {
    const name = newName();
    await bench.command('SET', name, '3');
    await countDown(name, 'c:1');
    expect(await countDown(name, 'c:1')).toEqual({ status: 'counted' });
    expect(await stored(name)).toBe('2');
    expectRunning(await bench.pttl(answerOf(name, 'c:1')), 40_000);
  });

  it('of an open latch changes nothing, and a late copy does not count at the next latch', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    expect(await countDown(name, 'c:1')).toEqual({ status: 'open' });
    expect(await bench.exists(name)).toBe(false);
    expect(await heard()).toEqual([]);
    await bench.command('SET', name, '3');
    expect(await countDown(name, 'c:1')).toEqual({ status: 'open' });
    expect(await stored(name)).toBe('3');
  });

  it('removes a 0 without a message', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '0');
    expect(await countDown(name, 'c:1')).toEqual({ status: 'open' });
    expect(await bench.exists(name)).toBe(false);
    expect(await heard()).toEqual([]);
  });

  it('does not change a key that is not a count', async () => {
    const name = newName();
    await bench.command('SET', name, 'data');
    await expect(countDown(name, 'c:1')).rejects.toThrow('not a count');
    expect(await stored(name)).toBe('data');
  });
});

describe('count-down-latch/get-count', () => {
  it('reads the count, and 0 if there is no key', async () => {
    const name = newName();
    expect(await getCount(name)).toEqual({ status: 'count', left: 0 });
    await bench.command('SET', name, '4');
    expect(await getCount(name)).toEqual({ status: 'count', left: 4 });
  });
});

describe('count-down-latch/delete', () => {
  it('removes the latch and announces 1, as Redisson does, and then 0, which wakes waiters', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '4');
    expect(await remove(name, 'c:1')).toEqual({ status: 'deleted', announced: 1 });
    expect(await bench.exists(name)).toBe(false);
    expect(await heard()).toEqual(['1', '0']);
  });

  it('repeated, does not change the next latch', async () => {
    const name = newName();
    await bench.command('SET', name, '4');
    await remove(name, 'c:1');
    await bench.command('SET', name, '2');
    expect(await remove(name, 'c:1')).toMatchObject({ status: 'deleted' });
    expect(await stored(name)).toBe('2');
  });

  it('answers that there was no latch, also when repeated', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    expect(await remove(name, 'c:1')).toEqual({ status: 'missing' });
    await bench.command('SET', name, '2');
    expect(await remove(name, 'c:1')).toEqual({ status: 'missing' });
    expect(await stored(name)).toBe('2');
    expect(await heard()).toEqual([]);
  });

  it('does not change a key that is not a latch', async () => {
    const name = newName();
    await bench.command('RPUSH', name, 'data');
    await expect(remove(name, 'c:1')).rejects.toThrow('WRONGTYPE');
    expect(await bench.exists(name)).toBe(true);
  });
});

describeWithProcess('count-down latch on a server out of memory', () => {
  it('counts down, once, and opens', async () => {
    const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] });
    const raw = await openRaw(server.host, server.port);
    const name = newName();
    await raw.command('SET', name, '2');
    await raw.command('CONFIG', 'SET', 'maxmemory', '1');
    await countDown(name, 'c:1', raw);
    expect(await countDown(name, 'c:1', raw)).toEqual({ status: 'counted' });
    expect(await raw.command('GET', name)).toBe('1');
    expect(await countDown(name, 'c:2', raw)).toMatchObject({ status: 'opened' });
    expect(await raw.command('EXISTS', name)).toBe(0);
  });
});

bench.itCoversEveryWordOf('count-down-latch');
