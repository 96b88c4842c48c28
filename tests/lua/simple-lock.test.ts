/** The scripts of the plain `SET NX PX` lock: what they answer, what they leave in Redis and whom they wake. */
import { describe, expect, it } from 'vitest';
import {
  simpleLockAcquire,
  simpleLockDescribe,
  simpleLockEnd,
  simpleLockForceRelease,
  simpleLockHolder,
  simpleLockReclaim,
  simpleLockRelease,
  simpleLockRenew,
} from '../../src/scripts/generated.ts';
import { channelOf, describeExclusiveLock, exclusiveCalls } from './support/exclusive-lock.ts';
import { describeReclaim } from './support/reclaim.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

const calls = exclusiveCalls(bench, {
  acquire: simpleLockAcquire,
  end: simpleLockEnd,
  release: simpleLockRelease,
  forceRelease: simpleLockForceRelease,
  renew: simpleLockRenew,
  holder: simpleLockHolder,
  describe: simpleLockDescribe,
});
const { acquire, release, releasePlainly, forceRelease, renew, holderOf, describeLock } = calls;

describeExclusiveLock(bench, {
  folder: 'simple-lock',
  calls,
  stored: (name) => bench.command('GET', name),
  holding: (owner) => owner,
  otherTypes: [
    { type: 'hash', write: ['HSET', 'c:1', '1'], read: ['HGETALL'], data: ['c:1', '1'] },
    { type: 'list', write: ['RPUSH', 'a', 'b'], read: ['LRANGE', '0', '-1'], data: ['a', 'b'] },
  ],
});

describeReclaim(bench, {
  title: 'simple-lock/reclaim',
  reclaim: ({ name, owner, ended, guard, leaseMs, graceMs }) =>
    bench.run(simpleLockReclaim, { lock: name, ended, guard }, { owner, leaseMs, graceMs, trusted: '' }),
  plantOther: (name) => bench.plant('SET', name, 'c:2', 'PX', 60_000),
  isHeldBy: async (name, owner) => (await bench.command('GET', name)) === owner,
});

describe('simple-lock/acquire', () => {
  it('writes the token with the lease as its TTL, as SET NX PX does', async () => {
    const name = bench.name((random) => `${random}-鍵-{a}`);
    expect(await acquire(name, 'c:1')).toEqual({ status: 'held' });
    expect(await bench.command('GET', name)).toBe('c:1');
    expectRunning(await bench.pttl(name), 60_000);
    expect(await bench.command('SET', name, 'other', 'NX', 'PX', 1_000)).toBe(null);
  });

  it("reports another owner's remaining lease and does not change it", async () => {
    const name = bench.name();
    await bench.plant('SET', name, 'a token of another library', 'NX', 'PX', 60_000);
    const reply = await acquire(name, 'c:2', 200_000);
    expect(reply).toEqual({ status: 'busy', remainingMs: expect.any(Number) });
    if (reply.status === 'busy') expectRunning(reply.remainingMs, 60_000);
    expect(await bench.command('GET', name)).toBe('a token of another library');
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('answers -1 for a value without expiry', async () => {
    const name = bench.name();
    await bench.plant('SET', name, 'data');
    expect(await acquire(name, 'c:2')).toEqual({ status: 'busy', remainingMs: -1 });
    expect(await bench.command('GET', name)).toBe('data');
    expect(await bench.pttl(name)).toBe(-1);
  });

  it('treats an empty value as held', async () => {
    const name = bench.name();
    await bench.plant('SET', name, '');
    expect(await acquire(name, 'c:2')).toEqual({ status: 'busy', remainingMs: -1 });
  });

  it('after the release of the same owner, or after a tombstone, writes nothing', async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    await release(name, 'c:1');
    expect(await acquire(name, 'c:1')).toEqual({ status: 'ended' });
    expect(await release(name, 'c:2')).toEqual({ status: 'lost' });
    expect(await acquire(name, 'c:2')).toEqual({ status: 'ended' });
    expect(await bench.exists(name)).toBe(false);
  });
});

describe('simple-lock/end', () => {
  it("answers lost and does not change another owner's value, also one written after the release", async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    await release(name, 'c:1');
    await bench.plant('SET', name, 'other', 'PX', 60_000);
    const heard = await bench.listenTo(channelOf(name));
    expect(await release(name, 'c:1')).toEqual({ status: 'released', heardBy: 0 });
    expect(await release(name, 'c:2')).toEqual({ status: 'lost' });
    expect(await bench.command('GET', name)).toBe('other');
    expectRunning(await bench.pttl(name), 60_000);
    expect(await heard()).toEqual([]);
  });
});

describe('simple-lock/release', () => {
  it('removes the lock, announces it with 0, and leaves nothing behind', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await acquire(name, 'c:1');
    expect(await releasePlainly(name, 'c:1')).toEqual({ status: 'released', heardBy: 1 });
    expect(await heard()).toEqual(['0']);
    expect(await bench.command('KEYS', `*${name}*`)).toEqual([]);
  });
});

describe('simple-lock/renew', () => {
  it('answers for each lock, and renews only those that their owners still hold', async () => {
    const [mine, foreign, missing, hash] = Array.from({ length: 4 }, () => bench.name()) as [
      string,
      string,
      string,
      string,
    ];
    await acquire(mine, 'c:1', 60_000);
    await acquire(foreign, 'c:9', 60_000);
    await bench.plant('HSET', hash, 'c:4', '1');
    const owners = ['c:1', 'c:2', 'c:3', 'c:4'];
    const reply = await renew([mine, foreign, missing, hash], 200_000, owners);
    expect(reply).toEqual({ status: 'renewed', held: [1, 0, 0, 0] });
    expectRunning(await bench.pttl(mine), 200_000);
    expectRunning(await bench.pttl(foreign), 60_000);
    expect(await bench.exists(missing)).toBe(false);
    expect(await bench.pttl(hash)).toBe(-1);
  });

  it('never shortens a lease, and restores a lost expiry', async () => {
    const name = bench.name();
    await acquire(name, 'c:1', 200_000);
    await renew([name], 10_000, ['c:1']);
    expectRunning(await bench.pttl(name), 200_000);
    await bench.command('PERSIST', name);
    expect(await renew([name], 60_000, ['c:1'])).toEqual({ status: 'renewed', held: [1] });
    expectRunning(await bench.pttl(name), 60_000);
  });
});

describe('simple-lock/holder', () => {
  it('names the value of the holder', async () => {
    const name = bench.name();
    expect(await holderOf(name)).toEqual({ status: 'free' });
    await acquire(name, 'c:1');
    expect(await holderOf(name)).toEqual({ status: 'held', holder: 'c:1' });
  });

  it('refuses a string without expiry', async () => {
    const name = bench.name();
    await bench.plant('SET', name, 'a page of text');
    await expect(holderOf(name)).rejects.toThrow(/WRONGTYPE /);
    expect(await bench.command('GET', name)).toBe('a page of text');
  });
});

describe('simple-lock/force-release', () => {
  it.each([
    ['a text', 'a token of another library'],
    ['twenty bytes', Buffer.from('00ff80fe0a0dc3282209f09f00112233445566ff', 'hex')],
    ['a long text', 'x'.repeat(10_000)],
  ])('ends the hold of the token that was named, and announces it once: %s', async (_title, token) => {
    const name = bench.name();
    await bench.plant('SET', name, token, 'PX', 60_000);
    const found = await holderOf(name);
    if (found.status === 'free') return expect.unreachable('it is held');
    const heard = await bench.listenTo(channelOf(name));
    expect(await forceRelease(name, found.holder, 'r:1')).toEqual({ status: 'ended', announced: 1 });
    expect(await bench.exists(name)).toBe(false);
    expect(await heard()).toEqual(['0']);
  });
});

describe('simple-lock/describe', () => {
  it('shows no more than the beginning of a value', async () => {
    const name = bench.name();
    await bench.plant('SET', name, 'y'.repeat(10_000));
    expect(await describeLock(name)).toEqual({
      status: 'locked',
      remainingMs: -1,
      holder: 'y'.repeat(128),
    });
  });
});

bench.itCoversEveryWordOf('simple-lock');
