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
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { addMuteUser } from './support/mute-user.ts';
import { describeReclaim } from './support/reclaim.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

const channelOf = (name: string) => `redisson_lock__channel:{${name}}`;
const endedOf = (name: string, owner: string) => `redisson_unlock_latch:{${name}}:${owner}`;

function acquire(name: string, owner: string, leaseMs = 60_000, connection = bench.connection) {
  const keys = { lock: name, ended: endedOf(name, owner) };
  return bench.run(simpleLockAcquire, keys, { owner, leaseMs }, connection);
}

function release(name: string, owner: string, connection = bench.connection) {
  const keys = { lock: name, ended: endedOf(name, owner) };
  const args = { owner, publish: 'PUBLISH', channel: channelOf(name), rememberMs: 30_000 };
  return bench.run(simpleLockEnd, keys, args, connection);
}

const holderOf = (lock: string) => bench.run(simpleLockHolder, { lock }, {});

function forceRelease(name: string, holder: string, request: string, connection = bench.connection) {
  const keys = { lock: name, answer: endedOf(name, request) };
  const args = { holder, publish: 'PUBLISH', channel: channelOf(name), rememberMs: 30_000 };
  return bench.run(simpleLockForceRelease, keys, args, connection);
}

function renew(locks: string[], leaseMs: number, owners: string[], connection = bench.connection) {
  return bench.run(simpleLockRenew, { locks }, { leaseMs, owners }, connection);
}

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

  it('delivered twice, makes one hold and never shortens the lease', async () => {
    const name = bench.name();
    await acquire(name, 'c:1', 60_000);
    expect(await acquire(name, 'c:1', 10_000)).toEqual({ status: 'held' });
    expectRunning(await bench.pttl(name), 60_000);
    expect(await acquire(name, 'c:1', 200_000)).toEqual({ status: 'held' });
    expectRunning(await bench.pttl(name), 200_000);
  });

  it("says how long another's lease runs and leaves that alone", async () => {
    const name = bench.name();
    await bench.plant('SET', name, 'a token of another library', 'NX', 'PX', 60_000);
    const reply = await acquire(name, 'c:2', 200_000);
    expect(reply).toEqual({ status: 'busy', remainingMs: expect.any(Number) });
    if (reply.status === 'busy') expectRunning(reply.remainingMs, 60_000);
    expect(await bench.command('GET', name)).toBe('a token of another library');
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('says -1 of a value without expiry', async () => {
    const name = bench.name();
    await bench.plant('SET', name, 'data');
    expect(await acquire(name, 'c:2')).toEqual({ status: 'busy', remainingMs: -1 });
    expect(await bench.command('GET', name)).toBe('data');
    expect(await bench.pttl(name)).toBe(-1);
  });

  it('takes an empty value for somebody’s', async () => {
    const name = bench.name();
    await bench.plant('SET', name, '');
    expect(await acquire(name, 'c:2')).toEqual({ status: 'busy', remainingMs: -1 });
  });

  it('after the release of the same owner, or its barring, writes nothing', async () => {
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
  it('removes the lock and announces it with 0, once, however often it is delivered', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await acquire(name, 'c:1');
    expect(await release(name, 'c:1')).toEqual({ status: 'released', heardBy: 1 });
    expect(await bench.exists(name)).toBe(false);
    expect(await release(name, 'c:1')).toEqual({ status: 'released', heardBy: 0 });
    expect(await heard()).toEqual(['0']);
    expect(await bench.command('GET', endedOf(name, 'c:1'))).toBe('released');
    expectRunning(await bench.pttl(endedOf(name, 'c:1')), 30_000);
  });

  it("says lost and leaves another's token alone, also when that came in after the release", async () => {
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
  const releasePlainly = (name: string, owner: string) =>
    bench.run(simpleLockRelease, { lock: name }, { owner, publish: 'PUBLISH', channel: channelOf(name) });

  it('removes the lock, announces it with 0, and leaves nothing behind', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await acquire(name, 'c:1');
    expect(await releasePlainly(name, 'c:1')).toEqual({ status: 'released', heardBy: 1 });
    expect(await heard()).toEqual(['0']);
    expect(await bench.command('KEYS', `*${name}*`)).toEqual([]);
  });

  it('says lost, announces nothing and leaves alone what is not its owner’s', async () => {
    const [name, text] = [bench.name(), bench.name()];
    await acquire(name, 'c:2');
    await bench.plant('HSET', text, 'c:1', '1');
    const heard = await bench.listenTo(channelOf(name));
    expect(await releasePlainly(name, 'c:1')).toEqual({ status: 'lost' });
    expect(await releasePlainly(bench.name(), 'c:1')).toEqual({ status: 'lost' });
    expect(await releasePlainly(text, 'c:1')).toEqual({ status: 'lost' });
    expect(await bench.command('GET', name)).toBe('c:2');
    expect(await bench.exists(text)).toBe(true);
    expect(await heard()).toEqual([]);
  });
});

describe('simple-lock/renew', () => {
  it('answers for each lock, and touches only those that are still their owners’', async () => {
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

  it('never shortens a lease, and gives a lock that lost its expiry one again', async () => {
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
  it('names the token of whoever holds the lock', async () => {
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

  it('leaves everybody else alone, and tells nobody of nothing', async () => {
    const name = bench.name();
    await acquire(name, 'c:2');
    const heard = await bench.listenTo(channelOf(name));
    expect(await forceRelease(name, 'c:1', 'r:1')).toEqual({ status: 'ended', announced: 1 });
    expect(await bench.command('GET', name)).toBe('c:2');
    expect(await heard()).toEqual([]);
  });

  it.each(['ended', 'found gone'])('repeated, does not end the next hold of one that it %s', async (how) => {
    const name = bench.name();
    if (how === 'ended') await acquire(name, 'host:7');
    await forceRelease(name, 'host:7', 'r:1');
    await acquire(name, 'host:7');
    expect(await forceRelease(name, 'host:7', 'r:1')).toEqual({ status: 'ended', announced: 1 });
    expect(await bench.command('GET', name)).toBe('host:7');
  });
});

describe('simple-lock/describe', () => {
  const describeLock = (lock: string) => bench.run(simpleLockDescribe, { lock }, {});

  it('names the holder and the rest of its lease', async () => {
    const name = bench.name();
    expect(await describeLock(name)).toEqual({ status: 'free' });
    await acquire(name, 'c:1', 60_000);
    const reply = await describeLock(name);
    expect(reply).toEqual({ status: 'locked', remainingMs: expect.any(Number), holder: 'c:1' });
    if (reply.status === 'locked') expectRunning(reply.remainingMs, 60_000);
  });

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

describe('a key of another type', () => {
  it.each([
    ['hash', ['HSET', 'c:1', '1'], ['HGETALL'], ['c:1', '1']],
    ['list', ['RPUSH', 'a', 'b'], ['LRANGE', '0', '-1'], ['a', 'b']],
  ] as const)('%s: is refused with WRONGTYPE and left as it was', async (_kind, write, read, data) => {
    const name = bench.name();
    await bench.plant(write[0], name, ...write.slice(1));
    await expect(acquire(name, 'c:1')).rejects.toThrow(/WRONGTYPE /);
    await expect(forceRelease(name, 'c:1', 'r:1')).rejects.toThrow(/WRONGTYPE /);
    await expect(bench.run(simpleLockDescribe, { lock: name }, {})).rejects.toThrow(/WRONGTYPE /);
    expect(await release(name, 'c:1')).toEqual({ status: 'lost' });
    expect(await bench.command(read[0], name, ...read.slice(1))).toEqual(data);
    expect(await bench.pttl(name)).toBe(-1);
  });
});

describe('a lease', () => {
  it('the longest there is can be taken', async () => {
    const name = bench.name();
    expect(await acquire(name, 'c:1', Number.MAX_SAFE_INTEGER)).toEqual({ status: 'held' });
    expectRunning(await bench.pttl(name), Number.MAX_SAFE_INTEGER);
    await release(name, 'c:1');
  });
});

describeWithProcess('a server without memory to spare', () => {
  it('refuses to grant, and lets go of everything', async () => {
    const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] });
    const connection = await openRaw(server.host, server.port);
    await acquire('kept', 'c:1', 60_000, connection);
    await acquire('let go', 'c:2', 60_000, connection);
    await acquire('forced', 'c:3', 60_000, connection);
    await server.command('CONFIG', 'SET', 'maxmemory', '1');

    await expect(acquire('new', 'c:4', 60_000, connection)).rejects.toThrow(/OOM /);
    expect(await connection.command('EXISTS', 'new')).toBe(0);
    expect(await renew(['kept'], 200_000, ['c:1'], connection)).toEqual({ status: 'renewed', held: [1] });
    expectRunning((await connection.command('PTTL', 'kept')) as number, 200_000);
    expect(await release('let go', 'c:2', connection)).toEqual({ status: 'released', heardBy: 0 });
    expect(await forceRelease('forced', 'c:3', 'r:1', connection)).toEqual({ status: 'ended', announced: 1 });
    expect(await connection.command('EXISTS', 'let go', 'forced')).toBe(0);
  });
});

describeWithProcess('a user without permission to publish', () => {
  it('can release; the server just did not take the announcement', async () => {
    const server = await ownServer();
    await addMuteUser(server);
    const connection = await openRaw(server.host, server.port);
    await connection.command('AUTH', 'mute', 'pw');
    await acquire('quiet', 'c:1', 60_000, connection);
    expect(await release('quiet', 'c:1', connection)).toEqual({ status: 'released', heardBy: -1 });
    expect(await connection.command('EXISTS', 'quiet')).toBe(0);
  });
});

bench.itCoversEveryWordOf('simple-lock');
