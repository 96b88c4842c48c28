/** The scripts of the reentrant lock: what they answer, what they leave in Redis and whom they wake. */
import { describe, expect, it } from 'vitest';
import {
  lockAcquire,
  lockDescribe,
  lockEnd,
  lockEnter,
  lockForceRelease,
  lockHolder,
  lockLeave,
  lockPeek,
  lockReclaim,
  lockRelease,
  lockRenew,
} from '../../src/scripts/generated.ts';
import { describeWithProcess, openRaw, openShared, ownServer } from '../harness/servers.ts';
import { channelOf, describeExclusiveLock, endedOf, exclusiveCalls } from './support/exclusive-lock.ts';
import { describeReclaim } from './support/reclaim.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

const calls = exclusiveCalls(bench, {
  acquire: lockAcquire,
  end: lockEnd,
  release: lockRelease,
  forceRelease: lockForceRelease,
  renew: lockRenew,
  holder: lockHolder,
  describe: lockDescribe,
});
const { acquire, release, releasePlainly, forceRelease, renew, holderOf, describeLock } = calls;

function enter(name: string, owner: string, count: number, leaseMs = 60_000, connection = bench.connection) {
  return bench.run(lockEnter, { lock: name }, { owner, count, leaseMs }, connection);
}

function leave(name: string, owner: string, count: number, connection = bench.connection) {
  return bench.run(lockLeave, { lock: name }, { owner, count }, connection);
}

describeExclusiveLock(bench, {
  folder: 'lock',
  calls,
  stored: (name) => bench.hash(name),
  holding: (owner) => ({ [owner]: '1' }),
  otherTypes: [
    { type: 'string', write: ['SET', 'data'], read: ['GET'], data: 'data' },
    { type: 'list', write: ['RPUSH', 'a', 'b'], read: ['LRANGE', '0', '-1'], data: ['a', 'b'] },
    { type: 'set', write: ['SADD', 'a'], read: ['SMEMBERS'], data: ['a'] },
  ],
});

describeReclaim(bench, {
  title: 'lock/reclaim',
  reclaim: ({ name, owner, ended, guard, leaseMs, graceMs }) => {
    const args = { owner, count: 3, leaseMs, graceMs, trusted: '' };
    return bench.run(lockReclaim, { lock: name, ended, guard }, args);
  },
  plantOther: (name) => bench.plant('HSET', name, 'c:2', 1),
  isHeldBy: async (name, owner) => (await bench.hash(name))[owner] === '3',
});

describe('lock/acquire', () => {
  it('makes a hash of one field with the count 1 and the lease as its TTL', async () => {
    const name = bench.name();
    expect(await acquire(name, 'c:1')).toEqual({ status: 'held' });
    expect(await bench.hash(name)).toEqual({ 'c:1': '1' });
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('does not lower the count of a hold that was entered again', async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    await enter(name, 'c:1', 3);
    expect(await acquire(name, 'c:1')).toEqual({ status: 'held' });
    expect(await bench.hash(name)).toEqual({ 'c:1': '3' });
  });

  it("reports another owner's remaining lease and does not change it", async () => {
    const name = bench.name();
    await acquire(name, 'c:1', 60_000);
    const reply = await acquire(name, 'c:2', 200_000);
    expect(reply).toEqual({ status: 'busy', remainingMs: expect.any(Number) });
    if (reply.status === 'busy') expectRunning(reply.remainingMs, 60_000);
    expect(await bench.hash(name)).toEqual({ 'c:1': '1' });
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('answers -1 for a lock without expiry', async () => {
    const name = bench.name();
    await bench.plant('HSET', name, 'java:7', '1');
    expect(await acquire(name, 'c:2')).toEqual({ status: 'busy', remainingMs: -1 });
  });

  it('after the release of the same owner, writes nothing', async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    await release(name, 'c:1');
    expect(await acquire(name, 'c:1')).toEqual({ status: 'ended' });
    expect(await bench.exists(name)).toBe(false);
  });

  it('after a tombstone for the owner, writes nothing', async () => {
    const name = bench.name();
    expect(await release(name, 'c:1')).toEqual({ status: 'lost' });
    expect(await acquire(name, 'c:1')).toEqual({ status: 'ended' });
    expect(await bench.exists(name)).toBe(false);
    expect(await acquire(name, 'c:2')).toEqual({ status: 'held' });
  });

  it.each(['redisson_unlock_latch', 'order {with} braces', '{t}:order', 'ключ-鍵-🔑', 'a\nb\0c'])(
    'accepts the name %j unchanged',
    async (text) => {
      const name = bench.name((random) => `${random}${text}`);
      expect(await acquire(name, 'c:ü')).toEqual({ status: 'held' });
      expect(await bench.hash(name)).toEqual({ 'c:ü': '1' });
      expect(await release(name, 'c:ü')).toEqual({ status: 'released', heardBy: 0 });
      expect(await bench.exists(name)).toBe(false);
    },
  );
});

describe('lock/enter', () => {
  it('sets the count absolutely: a repeat changes nothing', async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    for (let delivery = 1; delivery <= 3; delivery += 1) {
      expect(await enter(name, 'c:1', 2)).toEqual({ status: 'held' });
      expect(await bench.hash(name)).toEqual({ 'c:1': '2' });
    }
  });

  it('lengthens the lease and never shortens it', async () => {
    const name = bench.name();
    await acquire(name, 'c:1', 60_000);
    await enter(name, 'c:1', 2, 10_000);
    expectRunning(await bench.pttl(name), 60_000);
    await enter(name, 'c:1', 3, 200_000);
    expectRunning(await bench.pttl(name), 200_000);
  });

  it('restores the expiry of a lock that lost it', async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    await bench.command('PERSIST', name);
    await enter(name, 'c:1', 2, 60_000);
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('does not take the lock again when the hold is gone', async () => {
    const name = bench.name();
    expect(await enter(name, 'c:1', 2)).toEqual({ status: 'lost' });
    expect(await bench.exists(name)).toBe(false);
  });

  it("leaves another owner's hold alone", async () => {
    const name = bench.name();
    await acquire(name, 'c:2', 60_000);
    expect(await enter(name, 'c:1', 2, 200_000)).toEqual({ status: 'lost' });
    expect(await bench.hash(name)).toEqual({ 'c:2': '1' });
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('counts a key of another type as lost and does not change it', async () => {
    const name = bench.name();
    await bench.plant('SET', name, 'data');
    expect(await enter(name, 'c:1', 2)).toEqual({ status: 'lost' });
    expect(await bench.command('GET', name)).toBe('data');
    expect(await bench.pttl(name)).toBe(-1);
  });
});

describe('lock/leave', () => {
  it('sets the count and leaves the lease as it runs', async () => {
    const name = bench.name();
    await acquire(name, 'c:1', 60_000);
    await enter(name, 'c:1', 3);
    expect(await leave(name, 'c:1', 2)).toEqual({ status: 'held' });
    expect(await leave(name, 'c:1', 2)).toEqual({ status: 'held' });
    expect(await bench.hash(name)).toEqual({ 'c:1': '2' });
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('creates no hold', async () => {
    const name = bench.name();
    expect(await leave(name, 'c:1', 1)).toEqual({ status: 'lost' });
    expect(await bench.exists(name)).toBe(false);
    await acquire(name, 'c:2');
    expect(await leave(name, 'c:1', 1)).toEqual({ status: 'lost' });
    expect(await bench.hash(name)).toEqual({ 'c:2': '1' });
  });

  it('counts a key of another type as lost', async () => {
    const name = bench.name();
    await bench.plant('RPUSH', name, 'a');
    expect(await leave(name, 'c:1', 1)).toEqual({ status: 'lost' });
    expect(await bench.command('LRANGE', name, 0, -1)).toEqual(['a']);
  });
});

describe('lock/end', () => {
  it('ends the hold whatever its count', async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    await enter(name, 'c:1', 3);
    expect(await release(name, 'c:1')).toEqual({ status: 'released', heardBy: 0 });
    expect(await bench.exists(name)).toBe(false);
  });

  it('repeated after another owner took the lock, does not change that hold', async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    await release(name, 'c:1');
    await acquire(name, 'c:2');
    const heard = await bench.listenTo(channelOf(name));
    expect(await release(name, 'c:1')).toEqual({ status: 'released', heardBy: 0 });
    expect(await bench.hash(name)).toEqual({ 'c:2': '1' });
    expect(await heard()).toEqual([]);
  });

  it("answers lost, announces nothing and does not change another owner's lock", async () => {
    const name = bench.name();
    await acquire(name, 'c:2', 60_000);
    await enter(name, 'c:2', 2);
    const before = await bench.command('DUMP', name);
    const heard = await bench.listenTo(channelOf(name));
    expect(await release(name, 'c:1')).toEqual({ status: 'lost' });
    expect(await release(name, 'c:1')).toEqual({ status: 'lost' });
    expect(await bench.command('DUMP', name)).toBe(before);
    expectRunning(await bench.pttl(name), 60_000);
    expect(await heard()).toEqual([]);
    expect(await bench.command('GET', endedOf(name, 'c:1'))).toBe('lost');
  });

  it('bars an owner without a hold for the given time', async () => {
    const name = bench.name();
    await release(name, 'c:1');
    expectRunning(await bench.pttl(endedOf(name, 'c:1')), 30_000);
    await bench.command('DEL', endedOf(name, 'c:1'));
    expect(await acquire(name, 'c:1')).toEqual({ status: 'held' });
  });

  it('of a key of another type answers lost and does not change it', async () => {
    const name = bench.name();
    await bench.plant('SET', name, 'data');
    expect(await release(name, 'c:1')).toEqual({ status: 'lost' });
    expect(await bench.command('GET', name)).toBe('data');
  });

  it('announces on the channel of a name with braces', async () => {
    const name = bench.name((random) => `{${random}}:order`);
    const channel = `redisson_lock__channel:${name}`;
    const ended = `redisson_unlock_latch:${name}:c:1`;
    const heard = await bench.listenTo(channel);
    await bench.run(lockAcquire, { lock: name, ended }, { owner: 'c:1', leaseMs: 60_000 });
    const args = { owner: 'c:1', publish: 'PUBLISH', channel, rememberMs: 30_000 };
    expect(await bench.run(lockEnd, { lock: name, ended }, args)).toEqual({
      status: 'released',
      heardBy: 1,
    });
    expect(await heard()).toEqual(['0']);
  });

  it('is released even when the answer cannot be remembered', async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    const keys = { lock: name, ended: endedOf(name, 'c:1') };
    const args = ['c:1', 'PUBLISH', channelOf(name), 'a while'];
    expect(await bench.command('EVAL', lockEnd.source, 2, keys.lock, keys.ended, ...args)).toBe(0);
    expect(await bench.exists(name)).toBe(false);
    expect(await bench.exists(keys.ended)).toBe(false);
  });
});

describe('lock/release', () => {
  it('removes the lock, announces it with 0, and leaves nothing behind', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await acquire(name, 'c:1');
    await enter(name, 'c:1', 3);
    expect(await releasePlainly(name, 'c:1')).toEqual({ status: 'released', heardBy: 1 });
    expect(await heard()).toEqual(['0']);
    expect(await bench.command('KEYS', `*${name}*`)).toEqual([]);
  });
});

describe('lock/renew', () => {
  it('answers for each lock, and renews only those that their owners still hold', async () => {
    const [mine, foreign, missing, text, list, alsoMine] = Array.from({ length: 6 }, () => bench.name()) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    await acquire(mine, 'c:1', 60_000);
    await acquire(foreign, 'c:9', 60_000);
    await bench.plant('SET', text, 'data', 'PX', 60_000);
    await bench.plant('RPUSH', list, 'a');
    await acquire(alsoMine, 'c:6', 60_000);

    const locks = [mine, foreign, missing, text, list, alsoMine];
    const owners = ['c:1', 'c:2', 'c:3', 'c:4', 'c:5', 'c:6'];
    expect(await renew(locks, 200_000, owners)).toEqual({ status: 'renewed', held: [1, 0, 0, 0, 0, 1] });

    expectRunning(await bench.pttl(mine), 200_000);
    expectRunning(await bench.pttl(alsoMine), 200_000);
    expectRunning(await bench.pttl(foreign), 60_000);
    expectRunning(await bench.pttl(text), 60_000);
    expect(await bench.pttl(list)).toBe(-1);
    expect(await bench.exists(missing)).toBe(false);
    expect(await bench.hash(mine)).toEqual({ 'c:1': '1' });
    expect(await bench.hash(foreign)).toEqual({ 'c:9': '1' });
  });

  it('never shortens a lease', async () => {
    const name = bench.name();
    await acquire(name, 'c:1', 200_000);
    expect(await renew([name], 10_000, ['c:1'])).toEqual({ status: 'renewed', held: [1] });
    expectRunning(await bench.pttl(name), 200_000);
  });

  it('restores the expiry of a lock that lost it', async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    await bench.command('PERSIST', name);
    expect(await bench.pttl(name)).toBe(-1);
    await renew([name], 60_000, ['c:1']);
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('leaves the count alone', async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    await enter(name, 'c:1', 4);
    await renew([name], 200_000, ['c:1']);
    expect(await bench.hash(name)).toEqual({ 'c:1': '4' });
  });

  it('renews nothing for an empty list', async () => {
    expect(await renew([], 1_000, [])).toEqual({ status: 'renewed', held: [] });
  });
});

describe('lock/holder', () => {
  const uuid = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455';

  it('names the holder', async () => {
    const name = bench.name();
    expect(await holderOf(name)).toEqual({ status: 'free' });
    await acquire(name, 'c:1');
    expect(await holderOf(name)).toEqual({ status: 'held', holder: 'c:1' });
  });

  it.each([`${uuid}:37`, `${uuid}:37:5f0e`])(
    'recognises %s though its lock lost its expiry',
    async (owner) => {
      const name = bench.name();
      await bench.plant('HSET', name, owner, '2');
      expect(await holderOf(name)).toEqual({ status: 'held', holder: owner });
    },
  );

  it.each([
    [['visits', '5'], false],
    [[`${uuid}:37`, '0'], true],
    [['price', '2.5'], true],
    [['size', '0x10'], true],
    [['name', 'Ada'], true],
    [['name', '5', 'born', '1815'], true],
    [['mode', 'read', `${uuid}:37`, '1'], true],
  ])('refuses a hash that is not a lock: %j, with an expiry: %j', async (fields, lasts) => {
    const name = bench.name();
    await bench.plant('HSET', name, ...fields);
    if (lasts) await bench.command('PEXPIRE', name, 60_000);
    await expect(holderOf(name)).rejects.toThrow(/WRONGTYPE /);
    expect(Object.entries(await bench.hash(name)).flat()).toEqual(fields);
  });
});

describe('lock/peek', () => {
  it('reports for each lock, of any layout, how long it is taken', async () => {
    const [held, free, plain, immortal] = Array.from({ length: 4 }, () => bench.name()) as [
      string,
      string,
      string,
      string,
    ];
    await acquire(held, 'c:1', 60_000);
    await bench.plant('SET', plain, 'token', 'PX', 30_000);
    await bench.plant('HSET', immortal, 'c:2', '1');
    const { remaining } = await bench.run(lockPeek, { locks: [held, free, plain, immortal] }, {});
    expectRunning(remaining[0] ?? 0, 60_000);
    expectRunning(remaining[2] ?? 0, 30_000);
    expect([remaining[1], remaining[3]]).toEqual([-2, -1]);
  });

  it('accepts an empty list', async () => {
    expect(await bench.run(lockPeek, { locks: [] }, {})).toEqual({ status: 'peeked', remaining: [] });
  });
});

describe('lock/force-release', () => {
  it('ends the hold of the named owner and announces it once', async () => {
    const name = bench.name();
    await acquire(name, 'c:1');
    const heard = await bench.listenTo(channelOf(name));
    expect(await forceRelease(name, 'c:1', 'r:1')).toEqual({ status: 'ended', announced: 1 });
    expect(await bench.exists(name)).toBe(false);
    expect(await forceRelease(name, 'c:1', 'r:1')).toEqual({ status: 'ended', announced: 1 });
    expect(await heard()).toEqual(['0']);
  });
});

describe('lock/describe', () => {
  it('names no holder if the hash has more fields than a lock', async () => {
    const name = bench.name();
    await bench.plant('HSET', name, 'a', '1', 'b', '2');
    expect(await describeLock(name)).toEqual({ status: 'locked', remainingMs: -1, holder: null });
  });

  it('of a key of another type is an error', async () => {
    const name = bench.name();
    await bench.plant('SET', name, 'data');
    await expect(describeLock(name)).rejects.toThrow(/WRONGTYPE /);
  });
});

describe('a lease', () => {
  it('one millisecond is a lease', async () => {
    const name = bench.name();
    expect(await acquire(name, 'c:1', 1)).toEqual({ status: 'held' });
    expect(await bench.pttl(name)).not.toBe(-1);
  });
});

describeWithProcess('a server without memory to spare', () => {
  it('refuses to enter again, and lets leave and release what was', async () => {
    const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] });
    const connection = await openRaw(server.host, server.port);
    await acquire('kept', 'c:1', 60_000, connection);
    await acquire('let go', 'c:2', 60_000, connection);
    await enter('let go', 'c:2', 3, 60_000, connection);
    await server.command('CONFIG', 'SET', 'maxmemory', '1');

    await expect(enter('kept', 'c:1', 2, 60_000, connection)).rejects.toThrow(/OOM /);
    expect(await connection.command('HGETALL', 'kept')).toEqual(['c:1', '1']);
    expect(await leave('let go', 'c:2', 2, connection)).toEqual({ status: 'held' });
    expect(await release('let go', 'c:2', connection)).toEqual({ status: 'released', heardBy: 0 });
    expect(await connection.command('EXISTS', 'let go')).toBe(0);
  });
});

describe('two connections at once', () => {
  it('admit one owner', async () => {
    const name = bench.name();
    const connections = await Promise.all(Array.from({ length: 8 }, () => openShared()));
    const replies = await Promise.all(
      connections.map((connection, i) => acquire(name, `c:${i}`, 60_000, connection)),
    );
    expect(replies.filter((reply) => reply.status === 'held')).toHaveLength(1);
    expect(replies.filter((reply) => reply.status === 'busy')).toHaveLength(7);
    expect(Object.values(await bench.hash(name))).toEqual(['1']);
  });
});

bench.itCoversEveryWordOf('lock');
