/** The scripts of the semaphore: what they answer, what they leave in Redis and whom they wake. */
import { describe, expect, it } from 'vitest';
import {
  semaphoreAcquire,
  semaphoreAddPermits,
  semaphoreAvailablePermits,
  semaphoreDrainPermits,
  semaphoreRelease,
  semaphoreReleaseIfExists,
  semaphoreTrySetPermits,
  semaphoreUndo,
} from '../../src/scripts/generated.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { openMute } from './support/mute-user.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

/** Semaphores have no expiry, so their names are not the bench's, which wants one on every key. */
const newName = () => randomName('lua');
const channelOf = (name: string) => `redisson_sc:{${name}}`;
const answerOf = (name: string, request: string) => `redisson_unlock_latch:{${name}}:${request}`;

const keysOf = (name: string, request: string) => ({ permits: name, answer: answerOf(name, request) });
const loud = (name: string) => ({ publish: 'PUBLISH', channel: channelOf(name), rememberMs: 40_000 });

function trySet(name: string, request: string, count: number, ttlMs = 0) {
  return bench.run(semaphoreTrySetPermits, keysOf(name, request), { count, ttlMs, ...loud(name) });
}

function acquire(name: string, request: string, count = 1, connection = bench.connection) {
  const args = { count, takenMs: 400_000, shortMs: 40_000 };
  return bench.run(semaphoreAcquire, keysOf(name, request), args, connection);
}

function undo(name: string, request: string, count = 1, connection = bench.connection) {
  return bench.run(semaphoreUndo, keysOf(name, request), { count, ...loud(name) }, connection);
}

function release(name: string, request: string, count = 1, connection = bench.connection) {
  return bench.run(semaphoreRelease, keysOf(name, request), { count, ...loud(name) }, connection);
}

function releaseIfExists(name: string, request: string, count = 1) {
  return bench.run(semaphoreReleaseIfExists, keysOf(name, request), { count, ...loud(name) });
}

function add(name: string, request: string, count: number) {
  return bench.run(semaphoreAddPermits, keysOf(name, request), { count, ...loud(name) });
}

function drain(name: string, request: string) {
  return bench.run(semaphoreDrainPermits, keysOf(name, request), { rememberMs: 40_000 });
}

const stored = (name: string) => bench.command('GET', name);

describe('semaphore/try-set-permits', () => {
  it('writes the number as plain text without expiry and announces it', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    expect(await trySet(name, 'c:1', 3)).toEqual({ status: 'set', announced: 1 });
    expect(await stored(name)).toBe('3');
    expect(await bench.pttl(name)).toBe(-1);
    expect(await heard()).toEqual(['3']);
  });

  it('writes number and TTL together', async () => {
    const name = newName();
    expect(await trySet(name, 'c:1', 3, 60_000)).toMatchObject({ status: 'set' });
    expect(await stored(name)).toBe('3');
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('keeps a present number, whatever it is, and announces nothing', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '0');
    expect(await trySet(name, 'c:1', 3)).toEqual({ status: 'kept' });
    expect(await stored(name)).toBe('0');
    expect(await heard()).toEqual([]);
  });

  it('announces no zero', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    expect(await trySet(name, 'c:1', 0)).toMatchObject({ status: 'set' });
    expect(await stored(name)).toBe('0');
    expect(await heard()).toEqual([]);
  });

  it('repeated, gives the same answer and sets nothing again', async () => {
    const name = newName();
    await trySet(name, 'c:1', 3);
    await bench.command('DEL', name);
    expect(await trySet(name, 'c:1', 3)).toMatchObject({ status: 'set' });
    expect(await bench.exists(name)).toBe(false);

    await bench.command('SET', name, '7');
    expect(await trySet(name, 'c:2', 3)).toEqual({ status: 'kept' });
    await bench.command('DEL', name);
    expect(await trySet(name, 'c:2', 3)).toEqual({ status: 'kept' });
    expect(await bench.exists(name)).toBe(false);
  });
});

describe('semaphore/acquire', () => {
  it('takes all requested permits or none', async () => {
    const name = newName();
    await bench.command('SET', name, '3');
    expect(await acquire(name, 'c:1', 2)).toEqual({ status: 'taken' });
    expect(await stored(name)).toBe('1');
    expect(await acquire(name, 'c:2', 2)).toEqual({ status: 'short', left: 1 });
    expect(await stored(name)).toBe('1');
    expect(await acquire(name, 'c:3', 1)).toEqual({ status: 'taken' });
    expect(await stored(name)).toBe('0');
  });

  it('answers missing without a key, and creates none', async () => {
    const name = newName();
    expect(await acquire(name, 'c:1')).toEqual({ status: 'missing' });
    expect(await bench.exists(name)).toBe(false);
  });

  it('finds too few if the number of permits is negative', async () => {
    const name = newName();
    await bench.command('SET', name, '-2');
    expect(await acquire(name, 'c:1')).toEqual({ status: 'short', left: -2 });
    expect(await stored(name)).toBe('-2');
  });

  it('delivered twice, takes once', async () => {
    const name = newName();
    await bench.command('SET', name, '3');
    expect(await acquire(name, 'c:1')).toEqual({ status: 'taken' });
    expect(await acquire(name, 'c:1')).toEqual({ status: 'taken' });
    expect(await stored(name)).toBe('2');
    expectRunning(await bench.pttl(answerOf(name, 'c:1')), 400_000);
  });

  it('having found too few or no key, gives a later copy the same answer', async () => {
    const name = newName();
    expect(await acquire(name, 'c:1')).toEqual({ status: 'missing' });
    await bench.command('SET', name, '0');
    expect(await acquire(name, 'c:2')).toEqual({ status: 'short', left: 0 });
    await bench.command('SET', name, '3');
    expect(await acquire(name, 'c:1')).toEqual({ status: 'missing' });
    expect(await acquire(name, 'c:2')).toEqual({ status: 'short', left: 0 });
    expect(await stored(name)).toBe('3');
    for (const request of ['c:1', 'c:2']) expectRunning(await bench.pttl(answerOf(name, request)), 40_000);
  });

  it('keeps a TTL', async () => {
    const name = newName();
    await bench.command('SET', name, '3', 'PX', 60_000);
    await acquire(name, 'c:1');
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('does not change a key that is not a number of permits', async () => {
    const [text, list] = [newName(), newName()];
    await bench.command('SET', text, 'data');
    await bench.command('RPUSH', list, 'data');
    await expect(acquire(text, 'c:1')).rejects.toThrow('not a number of permits');
    await expect(acquire(list, 'c:1')).rejects.toThrow('WRONGTYPE');
    expect(await stored(text)).toBe('data');
  });
});

describe('semaphore/undo', () => {
  it('after the attempt: returns its permits once, and announces the new total', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '5');
    await acquire(name, 'c:1', 3);
    expect(await undo(name, 'c:1', 3)).toEqual({ status: 'returned', announced: 1 });
    expect(await undo(name, 'c:1', 3)).toEqual({ status: 'barred' });
    expect(await stored(name)).toBe('5');
    expect(await heard()).toEqual(['5']);
    expect(await acquire(name, 'c:1', 3)).toEqual({ status: 'undone' });
    expect(await stored(name)).toBe('5');
  });

  it('before the attempt: bars the attempt, and returns nothing', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '5');
    expect(await undo(name, 'c:1', 3)).toEqual({ status: 'barred' });
    expect(await undo(name, 'c:1', 3)).toEqual({ status: 'barred' });
    expect(await acquire(name, 'c:1', 3)).toEqual({ status: 'undone' });
    expect(await undo(name, 'c:1', 3)).toEqual({ status: 'barred' });
    expect(await stored(name)).toBe('5');
    expect(await heard()).toEqual([]);
    expectRunning(await bench.pttl(answerOf(name, 'c:1')), 40_000);
  });

  it('of an attempt that found too few returns nothing', async () => {
    const name = newName();
    await bench.command('SET', name, '1');
    await acquire(name, 'c:1', 3);
    expect(await undo(name, 'c:1', 3)).toEqual({ status: 'barred' });
    expect(await stored(name)).toBe('1');
  });

  it('does not recreate a deleted semaphore', async () => {
    const name = newName();
    await bench.command('SET', name, '5');
    await acquire(name, 'c:1');
    await bench.command('DEL', name);
    expect(await undo(name, 'c:1')).toEqual({ status: 'barred' });
    expect(await bench.exists(name)).toBe(false);
  });

  it('does not change permits of others', async () => {
    const name = newName();
    await bench.command('SET', name, '5');
    await acquire(name, 'c:1');
    await undo(name, 'c:2');
    expect(await stored(name)).toBe('4');
  });
});

describe('semaphore/release', () => {
  it('adds once however often it is delivered, and announces the new total', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '1', 'PX', 60_000);
    expect(await release(name, 'c:1', 2)).toEqual({ status: 'released', announced: 1 });
    expect(await release(name, 'c:1', 2)).toEqual({ status: 'released', announced: 1 });
    expect(await stored(name)).toBe('3');
    expect(await heard()).toEqual(['3']);
    expectRunning(await bench.pttl(name), 60_000);
    expectRunning(await bench.pttl(answerOf(name, 'c:1')), 40_000);
  });

  it('creates a missing semaphore', async () => {
    const name = newName();
    await release(name, 'c:1', 2);
    expect(await stored(name)).toBe('2');
    expect(await bench.pttl(name)).toBe(-1);
  });

  it('announces nothing while the number of permits is negative', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '-2');
    await release(name, 'c:1');
    await release(name, 'c:2');
    expect(await stored(name)).toBe('0');
    await release(name, 'c:3');
    expect(await heard()).toEqual(['1']);
  });

  it('uses a channel without further braces for a name with braces', async () => {
    const name = `{${newName()}}:x`;
    const keys = { permits: name, answer: `redisson_unlock_latch:${name}:c:1` };
    const heard = await bench.listenTo(`redisson_sc:${name}`);
    const args = { count: 1, publish: 'PUBLISH', channel: `redisson_sc:${name}`, rememberMs: 40_000 };
    await bench.run(semaphoreRelease, keys, args);
    expect(await heard()).toEqual(['1']);
  });

  it('does not change a key that is not a number of permits', async () => {
    const name = newName();
    await bench.command('SET', name, 'data');
    await expect(release(name, 'c:1')).rejects.toThrow('not an integer');
    expect(await stored(name)).toBe('data');
    expect(await bench.exists(answerOf(name, 'c:1'))).toBe(false);
  });
});

describe('semaphore/release-if-exists', () => {
  it('adds once to an existing semaphore', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '1');
    expect(await releaseIfExists(name, 'c:1', 2)).toEqual({ status: 'released', announced: 1 });
    expect(await releaseIfExists(name, 'c:1', 2)).toEqual({ status: 'released', announced: 1 });
    expect(await stored(name)).toBe('3');
    expect(await heard()).toEqual(['3']);
  });

  it('creates nothing if there is no key, also when repeated', async () => {
    const name = newName();
    expect(await releaseIfExists(name, 'c:1')).toEqual({ status: 'missing' });
    expect(await bench.exists(name)).toBe(false);
    await bench.command('SET', name, '1');
    expect(await releaseIfExists(name, 'c:1')).toEqual({ status: 'missing' });
    expect(await stored(name)).toBe('1');
  });
});

describe('semaphore/add-permits', () => {
  it('adds once, keeps the TTL and announces the new total', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '1', 'PX', 60_000);
    expect(await add(name, 'c:1', 4)).toEqual({ status: 'added', announced: 1 });
    expect(await add(name, 'c:1', 4)).toEqual({ status: 'added', announced: 1 });
    expect(await stored(name)).toBe('5');
    expectRunning(await bench.pttl(name), 60_000);
    expect(await heard()).toEqual(['5']);
  });

  it('subtracts, below zero if necessary, and never announces less than one', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '2', 'PX', 60_000);
    await add(name, 'c:1', -5);
    expect(await stored(name)).toBe('-3');
    expectRunning(await bench.pttl(name), 60_000);
    await add(name, 'c:2', 3);
    expect(await stored(name)).toBe('0');
    expect(await heard()).toEqual([]);
    await add(name, 'c:3', 1);
    expect(await heard()).toEqual(['1']);
  });

  it('creates a missing semaphore', async () => {
    const name = newName();
    await add(name, 'c:1', 2);
    expect(await stored(name)).toBe('2');
  });
});

describe('semaphore/drain-permits', () => {
  it('takes all permits, answers how many, keeps the TTL, and repeats the answer', async () => {
    const name = newName();
    await bench.command('SET', name, '9007199254740991', 'PX', 60_000);
    expect(await drain(name, 'c:1')).toEqual({ status: 'drained', count: 9_007_199_254_740_991 });
    expect(await stored(name)).toBe('0');
    expectRunning(await bench.pttl(name), 60_000);
    await bench.command('INCRBY', name, 2);
    expect(await drain(name, 'c:1')).toEqual({ status: 'drained', count: 9_007_199_254_740_991 });
    expect(await stored(name)).toBe('2');
  });

  it('creates nothing if there is no key', async () => {
    const name = newName();
    expect(await drain(name, 'c:1')).toEqual({ status: 'drained', count: 0 });
    expect(await bench.exists(name)).toBe(false);
  });

  it('resets a negative number, as Redisson does', async () => {
    const name = newName();
    await bench.command('SET', name, '-4');
    expect(await drain(name, 'c:1')).toEqual({ status: 'drained', count: -4 });
    expect(await stored(name)).toBe('0');
  });
});

describe('semaphore/available-permits', () => {
  it('reads the number, and nothing for a missing key', async () => {
    const name = newName();
    const read = () => bench.run(semaphoreAvailablePermits, { permits: name }, {});
    expect(await read()).toEqual({ status: 'permits', count: 0 });
    await bench.command('SET', name, '-3');
    expect(await read()).toEqual({ status: 'permits', count: -3 });
  });
});

describeWithProcess('semaphore on a server', () => {
  it('out of memory: nothing is taken, taken permits are returned, and each call is answered once', async () => {
    const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] });
    const raw = await openRaw(server.host, server.port);
    const name = newName();
    await raw.command('SET', name, '5');
    await acquire(name, 'c:1', 2, raw);
    await raw.command('CONFIG', 'SET', 'maxmemory', '1');
    await expect(acquire(name, 'c:2', 1, raw)).rejects.toThrow('OOM');
    expect(await raw.command('GET', name)).toBe('3');
    expect(await acquire(name, 'c:3', 4, raw)).toEqual({ status: 'short', left: 3 });
    expect(await undo(name, 'c:1', 2, raw)).toEqual({ status: 'returned', announced: 1 });
    expect(await undo(name, 'c:1', 2, raw)).toEqual({ status: 'barred' });
    await release(name, 'c:4', 1, raw);
    await release(name, 'c:4', 1, raw);
    expect(await raw.command('GET', name)).toBe('6');
  });

  it('without permission to publish: the release counts and reports that no waiter was woken', async () => {
    const { server, connection: raw } = await openMute();
    const name = newName();
    expect(await release(name, 'c:1', 1, raw)).toEqual({ status: 'released', announced: 0 });
    expect(await server.command('GET', name)).toBe('1');
  });
});

bench.itCoversEveryWordOf('semaphore');
