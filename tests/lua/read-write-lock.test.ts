/** The scripts of the read/write lock: what they answer, what they leave in Redis and whom they wake. */
import { describe, expect, it } from 'vitest';
import {
  readWriteLockDescribe,
  readWriteLockForceRelease,
  readWriteLockHolders,
  readWriteLockReadAcquire,
  readWriteLockReadEnter,
  readWriteLockReadLeave,
  readWriteLockReadReclaim,
  readWriteLockReadRelease,
  readWriteLockReadRenew,
  readWriteLockSteal,
  readWriteLockSweep,
  readWriteLockWriteAcquire,
  readWriteLockWriteReclaim,
  readWriteLockWriteRelease,
} from '../../src/scripts/generated.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { openMute } from './support/mute-user.ts';
import { describeReclaim, type ReclaimTerms, RUNNING_GRACE_MS } from './support/reclaim.ts';
import { expectRunning, heardOn, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

const channelOf = (name: string) => `redisson_rwlock:{${name}}`;
const endedOf = (name: string, owner: string) => `redisson_unlock_latch:{${name}}:${owner}`;
const waitingOf = (name: string) => `holdfast_rwlock_waiting:{${name}}`;
const holdOf = (name: string, owner: string, hold: number) => `{${name}}:${owner}:rwlock_timeout:${hold}`;
const holdsOf = (name: string, owner: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => holdOf(name, owner, from + i));

const speaking = (name: string) => ({ publish: 'PUBLISH', channel: channelOf(name), rememberMs: 30_000 });

function read(name: string, owner: string, { leaseMs = 60_000, writer = '', via = bench.connection } = {}) {
  const keys = {
    lock: name,
    ended: endedOf(name, owner),
    hold: holdOf(name, owner, 1),
    waiting: waitingOf(name),
  };
  return bench.run(readWriteLockReadAcquire, keys, { owner, writer, leaseMs }, via);
}

function write(name: string, owner: string, { leaseMs = 60_000, noteMs = 0, via = bench.connection } = {}) {
  const keys = { lock: name, ended: endedOf(name, owner), waiting: waitingOf(name) };
  return bench.run(readWriteLockWriteAcquire, keys, { owner, leaseMs, noteMs }, via);
}

function enter(name: string, owner: string, count: number, leaseMs = 60_000) {
  const keys = { lock: name, holds: holdsOf(name, owner, 1, count) };
  return bench.run(readWriteLockReadEnter, keys, { owner, leaseMs });
}

function leave(name: string, owner: string, count: number, most: number) {
  const keys = { lock: name, holds: holdsOf(name, owner, count + 1, most) };
  return bench.run(readWriteLockReadLeave, keys, { owner, count });
}

function releaseRead(name: string, owner: string, most = 1, via = bench.connection) {
  const keys = { lock: name, ended: endedOf(name, owner), holds: holdsOf(name, owner, 1, most) };
  return bench.run(readWriteLockReadRelease, keys, { owner, ...speaking(name) }, via);
}

function releaseWrite(name: string, owner: string, via = bench.connection) {
  const keys = { lock: name, ended: endedOf(name, owner), waiting: waitingOf(name) };
  return bench.run(readWriteLockWriteRelease, keys, { owner, ...speaking(name) }, via);
}

function sweep(name: string, ...readers: [owner: string, count: number][]) {
  const holds = readers.flatMap(([owner, count]) => holdsOf(name, owner, 1, count));
  const flat = readers.flatMap(([owner, count]) => [owner, String(count)]);
  const args = { publish: 'PUBLISH', channel: channelOf(name), readers: flat };
  return bench.run(readWriteLockSweep, { lock: name, holds }, args);
}

function renew(leaseMs: number, ...reads: [name: string, owner: string, count: number][]) {
  const places = reads.flatMap(([name, owner, count]) => [name, ...holdsOf(name, owner, 1, count)]);
  const holders = reads.flatMap(([, owner, count]) => [owner, String(count), String(leaseMs)]);
  return bench.run(readWriteLockReadRenew, { places }, { holders });
}

function force(
  name: string,
  mode: 'read' | 'write',
  named: string[],
  request: string,
  via = bench.connection,
) {
  const keys = { lock: name, answer: endedOf(name, request) };
  return bench.run(readWriteLockForceRelease, keys, { mode, holders: named, ...speaking(name) }, via);
}

function steal(name: string, owner: string, robbed: string[], leaseMs = 60_000) {
  const keys = { lock: name, ended: endedOf(name, owner) };
  return bench.run(readWriteLockSteal, keys, { owner, leaseMs, robbed });
}

const endsAt = (key: string) => bench.endsAt(key);

/** Both end at once, but for the millisecond that may pass between the look at one and the writing of the other. */
async function expectTogether(key: string, other: string): Promise<void> {
  expect(Math.abs((await endsAt(key)) - (await endsAt(other)))).toBeLessThanOrEqual(1);
}

const look = (name: string, owner = '') => bench.run(readWriteLockDescribe, { lock: name }, { owner });
const holders = (name: string) => bench.run(readWriteLockHolders, { lock: name }, {});

const HELD = { status: 'held' };
const ENDED = { status: 'ended', announced: 1, readers: [] };
const RELEASED = { status: 'released', announced: 1, readers: [] };

function reclaimRead({ name, owner, ended, guard, leaseMs, graceMs }: ReclaimTerms, writer = '') {
  const keys = { lock: name, ended, guard, holds: holdsOf(name, owner, 1, 2) };
  return bench.run(readWriteLockReadReclaim, keys, { owner, writer, leaseMs, graceMs, trusted: '' });
}

function reclaimWrite({ name, owner, ended, guard, leaseMs, graceMs }: ReclaimTerms, reader = '') {
  const args = { owner, reader, count: 2, leaseMs, graceMs, trusted: '' };
  return bench.run(readWriteLockWriteReclaim, { lock: name, ended, guard }, args);
}

describeReclaim(bench, {
  title: 'read-write-lock/read-reclaim',
  reclaim: (terms) => reclaimRead(terms),
  plantOther: (name) => bench.plant('HSET', name, 'mode', 'write', 'c:2:write', 1),
  isHeldBy: async (name, owner) => {
    const holds = await Promise.all(holdsOf(name, owner, 1, 2).map((hold) => bench.exists(hold)));
    return (await bench.hash(name))[owner] === '2' && holds.every(Boolean);
  },
});

describeReclaim(bench, {
  title: 'read-write-lock/write-reclaim',
  reclaim: (terms) => reclaimWrite(terms),
  plantOther: (name) => bench.plant('HSET', name, 'mode', 'read', 'c:2', 1),
  isHeldBy: async (name, owner) => {
    const { mode, [owner]: count } = await bench.hash(name);
    return count === '2' && mode === 'write';
  },
});

describe('reclaiming a read/write lock', () => {
  function terms(name: string, owner: string): ReclaimTerms {
    const guard = `holdfast_guard:{${name}}`;
    bench.expectImmortal(guard);
    return { name, owner, ended: endedOf(name, owner), guard, leaseMs: 60_000, graceMs: RUNNING_GRACE_MS };
  }

  it('reclaims beside other readers, whatever their leases', async () => {
    const name = bench.name();
    await reclaimRead({ ...terms(name, 'c:1'), leaseMs: 90_000 });
    expect(await reclaimRead(terms(name, 'c:2'))).toEqual({ status: 'held' });
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '2', 'c:2': '2' });
    expectRunning(await bench.pttl(name), 90_000);
    expect(await reclaimWrite(terms(name, 'c:3:write'))).toEqual({ status: 'taken' });
  });

  it.each(['read first', 'write first'])('reclaims both sides of one owner: %s', async (order) => {
    const name = bench.name();
    const reading = () => reclaimRead(terms(name, 'c:1'), 'c:1:write');
    const writing = () => reclaimWrite(terms(name, 'c:1:write'), 'c:1');
    const steps = order === 'read first' ? [reading, writing] : [writing, reading];
    for (const step of steps) expect(await step()).toEqual({ status: 'held' });
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'c:1': '2', 'c:1:write': '2' });
  });

  it('does not change a lock of another kind', async () => {
    const name = bench.name();
    await bench.plant('HSET', name, 'c:9', 1);
    await expect(reclaimRead(terms(name, 'c:1'))).rejects.toThrow('a lock of another kind');
    expect(await bench.hash(name)).toEqual({ 'c:9': '1' });
  });
});

describe('read-write-lock/read-acquire', () => {
  it('makes a lock of mode read with a hold key, both with the lease', async () => {
    const name = bench.name();
    expect(await read(name, 'c:1')).toEqual(HELD);
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '1' });
    expect(await bench.command('GET', holdOf(name, 'c:1', 1))).toBe('1');
    expectRunning(await bench.pttl(name), 60_000);
    expectRunning(await bench.pttl(holdOf(name, 'c:1', 1)), 60_000);
  });

  it('grants several readers; the lock has the longest lease and each hold its own', async () => {
    const name = bench.name();
    await read(name, 'c:1', { leaseMs: 100_000 });
    expect(await read(name, 'c:2', { leaseMs: 60_000 })).toEqual(HELD);
    expectRunning(await bench.pttl(name), 100_000);
    expectRunning(await bench.pttl(holdOf(name, 'c:2', 1)), 60_000);
    await read(name, 'c:3', { leaseMs: 200_000 });
    expectRunning(await bench.pttl(name), 200_000);
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '1', 'c:2': '1', 'c:3': '1' });
  });

  it('delivered twice, makes one hold and does not lower a count', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    expect(await read(name, 'c:1', { leaseMs: 10_000 })).toEqual(HELD);
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '1' });
    expectRunning(await bench.pttl(name), 60_000);
    await bench.command('PEXPIRE', name, 20_000);
    await read(name, 'c:1', { leaseMs: 10_000 });
    expectRunning(await bench.pttl(name), 60_000);
    await enter(name, 'c:1', 2);
    expect(await read(name, 'c:1')).toEqual(HELD);
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '2' });
  });

  it('is refused by a writer, with its remaining lease', async () => {
    const name = bench.name();
    await write(name, 'c:1:write');
    const reply = await read(name, 'c:2');
    expect(reply).toEqual({ status: 'busy', remainingMs: expect.any(Number) });
    if (reply.status === 'busy') expectRunning(reply.remainingMs, 60_000);
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'c:1:write': '1' });
    expect(await bench.exists(holdOf(name, 'c:2', 1))).toBe(false);
  });

  it("is granted beneath its own writer, not beneath another owner's", async () => {
    const name = bench.name();
    await write(name, 'c:1:write');
    expect(await read(name, 'c:1', { writer: 'c:9:write' })).toMatchObject({ status: 'busy' });
    expect(await read(name, 'c:1', { writer: 'c:1:write' })).toEqual(HELD);
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'c:1:write': '1', 'c:1': '1' });
  });

  it('after its release, or after a tombstone, takes nothing, also beside other readers', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    await read(name, 'c:2');
    await releaseRead(name, 'c:1');
    expect(await read(name, 'c:1')).toEqual({ status: 'ended' });
    expect(await releaseRead(name, 'c:3')).toEqual({ status: 'lost' });
    expect(await read(name, 'c:3')).toEqual({ status: 'ended' });
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:2': '1' });
    expect(await bench.exists(holdOf(name, 'c:1', 1))).toBe(false);
  });

  it('does not change a lock of another kind or other data', async () => {
    const name = bench.name();
    await bench.plant('HSET', name, 'java:7', '1');
    await expect(read(name, 'c:1')).rejects.toThrow('a lock of another kind');
    expect(await bench.hash(name)).toEqual({ 'java:7': '1' });
    const settings = bench.name();
    await bench.plant('HSET', settings, 'mode', 'dark', 'size', '3');
    await expect(read(settings, 'c:1')).rejects.toThrow('a lock of another kind, or no lock');
    expect(await bench.hash(settings)).toEqual({ mode: 'dark', size: '3' });
    const document = bench.name();
    await bench.plant('HSET', document, 'mode', 'read', 'pages', '3');
    expect(await read(document, 'c:1')).toEqual({ status: 'busy', remainingMs: -1 });
    expect(await bench.hash(document)).toEqual({ mode: 'read', pages: '3' });
    expect(await bench.pttl(document)).toBe(-1);
    const text = bench.name();
    await bench.plant('SET', text, 'data');
    await expect(read(text, 'c:1')).rejects.toThrow('WRONGTYPE');
    expect(await bench.command('GET', text)).toBe('data');
  });
});

describe('read-write-lock/read-enter and read-leave', () => {
  it('set count and hold keys absolutely: repeats change nothing', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    for (let delivery = 1; delivery <= 2; delivery += 1) {
      expect(await enter(name, 'c:1', 3)).toEqual(HELD);
      expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '3' });
      expect(await bench.command('EXISTS', ...(holdsOf(name, 'c:1', 1, 3) as [string]))).toBe(3);
    }
    for (let delivery = 1; delivery <= 2; delivery += 1) {
      expect(await leave(name, 'c:1', 1, 3)).toEqual(HELD);
      expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '1' });
      expect(await bench.exists(holdOf(name, 'c:1', 1))).toBe(true);
      expect(await bench.exists(holdOf(name, 'c:1', 2))).toBe(false);
      expect(await bench.exists(holdOf(name, 'c:1', 3))).toBe(false);
    }
  });

  it('keep the longest lease on every hold key, whichever entry is released', async () => {
    const name = bench.name();
    await read(name, 'c:1', { leaseMs: 60_000 });
    await enter(name, 'c:1', 2, 200_000);
    await leave(name, 'c:1', 1, 2);
    expectRunning(await bench.pttl(holdOf(name, 'c:1', 1)), 200_000);
    await enter(name, 'c:1', 2, 10_000);
    expectRunning(await bench.pttl(holdOf(name, 'c:1', 2)), 200_000);
    expectRunning(await bench.pttl(name), 200_000);
  });

  it('take nothing again when the hold is gone, and do not change other data', async () => {
    const name = bench.name();
    expect(await enter(name, 'c:1', 2)).toEqual({ status: 'lost' });
    expect(await leave(name, 'c:1', 1, 2)).toEqual({ status: 'lost' });
    expect(await bench.command('KEYS', `*${name}*`)).toEqual([]);
    await bench.plant('SET', name, 'data');
    expect(await enter(name, 'c:1', 2)).toEqual({ status: 'lost' });
    expect(await leave(name, 'c:1', 1, 2)).toEqual({ status: 'lost' });
    expect(await bench.command('GET', name)).toBe('data');
  });
});

describe('read-write-lock/read-release', () => {
  it('names the readers that stay when its lease was the longest, though the lock got its time a moment later', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    await bench.command('HSET', name, 'dead:1', 1);
    const hold = holdOf(name, 'c:1', 1);
    await bench.command('PEXPIREAT', name, (await endsAt(hold)) + 3);
    expect(await releaseRead(name, 'c:1')).toEqual({
      status: 'released',
      announced: 1,
      readers: ['dead:1', '1'],
    });
  });

  it('frees the lock when the last reader leaves, and announces 0, once', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await read(name, 'c:1');
    await enter(name, 'c:1', 3);
    expect(await releaseRead(name, 'c:1', 3)).toEqual(RELEASED);
    expect(await releaseRead(name, 'c:1', 3)).toEqual(RELEASED);
    expect(await heard()).toEqual(['0']);
    expect(await bench.command('KEYS', `*${name}*`)).toEqual([endedOf(name, 'c:1')]);
    expectRunning(await bench.pttl(endedOf(name, 'c:1')), 30_000);
  });

  it('keeps the other readers and their lease, and announces nothing', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await read(name, 'c:1', { leaseMs: 200_000 });
    await read(name, 'c:2', { leaseMs: 60_000 });
    expect(await releaseRead(name, 'c:2')).toEqual(RELEASED);
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '1' });
    expectRunning(await bench.pttl(name), 200_000);
    expect(await heard()).toEqual([]);
  });

  it('names the other readers if the longest lease was its own', async () => {
    const name = bench.name();
    await read(name, 'c:1', { leaseMs: 60_000 });
    await enter(name, 'c:1', 2, 60_000);
    await read(name, 'c:2', { leaseMs: 200_000 });
    expect(await releaseRead(name, 'c:2')).toEqual({ ...RELEASED, readers: ['c:1', '2'] });
  });

  it('of a reader beneath its writer never touches the lease of the lock', async () => {
    const name = bench.name();
    await write(name, 'c:1:write', { leaseMs: 60_000 });
    await read(name, 'c:1', { writer: 'c:1:write', leaseMs: 5_000 });
    await enter(name, 'c:1', 2, 5_000);
    await leave(name, 'c:1', 1, 2);
    expectRunning(await bench.pttl(name), 60_000);
    expect(await releaseRead(name, 'c:1', 2)).toEqual(RELEASED);
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'c:1:write': '1' });
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('of a hold that is gone does not change the key', async () => {
    const name = bench.name();
    await read(name, 'c:2');
    expect(await releaseRead(name, 'c:1')).toEqual({ status: 'lost' });
    expect(await releaseRead(name, 'c:1')).toEqual({ status: 'lost' });
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:2': '1' });
    const text = bench.name();
    await bench.plant('SET', text, 'data');
    expect(await releaseRead(text, 'c:1')).toEqual({ status: 'lost' });
    expect(await bench.command('GET', text)).toBe('data');
  });
});

describe('read-write-lock/read-renew', () => {
  it('extends each hold, its keys and its lock to at least the lease, and answers for each', async () => {
    const [one, two, three] = [bench.name(), bench.name(), bench.name()];
    await read(one, 'c:1', { leaseMs: 10_000 });
    await enter(one, 'c:1', 2, 10_000);
    await read(two, 'c:2', { leaseMs: 200_000 });
    expect(await renew(60_000, [one, 'c:1', 2], [three, 'c:3', 2], [two, 'c:2', 1])).toEqual({
      status: 'renewed',
      held: [1, 0, 1],
    });
    for (const key of [one, ...holdsOf(one, 'c:1', 1, 2)]) expectRunning(await bench.pttl(key), 60_000);
    for (const key of [two, holdOf(two, 'c:2', 1)]) expectRunning(await bench.pttl(key), 200_000);
    expect(await bench.command('KEYS', `*${three}*`)).toEqual([]);
  });

  it('gives each hold its own lease', async () => {
    const [one, two] = [bench.name(), bench.name()];
    await read(one, 'c:1', { leaseMs: 10_000 });
    await read(two, 'c:2', { leaseMs: 10_000 });
    const places = [one, holdOf(one, 'c:1', 1), two, holdOf(two, 'c:2', 1)];
    const holders = ['c:1', '1', '60000', 'c:2', '1', '200000'];
    await bench.run(readWriteLockReadRenew, { places }, { holders });
    for (const key of places.slice(0, 2)) expectRunning(await bench.pttl(key), 60_000);
    for (const key of places.slice(2)) expectRunning(await bench.pttl(key), 200_000);
  });

  it('restores a shortened lock to the lease of the hold keys, and one without expiry to the lease', async () => {
    const name = bench.name();
    await read(name, 'c:1', { leaseMs: 200_000 });
    await bench.command('PEXPIRE', name, 30_000);
    await renew(60_000, [name, 'c:1', 1]);
    expectRunning(await bench.pttl(name), 200_000);
    await bench.plant('PERSIST', holdOf(name, 'c:1', 1));
    await bench.command('PEXPIRE', name, 30_000);
    await renew(60_000, [name, 'c:1', 1]);
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('does not change the hold keys of other readers, also of dead readers', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    await read(name, 'c:2', { leaseMs: 10_000 });
    await read(name, 'dead:1');
    await bench.command('DEL', holdOf(name, 'dead:1', 1));
    await renew(90_000, [name, 'c:1', 1]);
    expectRunning(await bench.pttl(holdOf(name, 'c:2', 1)), 10_000);
    expect(await bench.exists(holdOf(name, 'dead:1', 1))).toBe(false);
  });

  it('recreates a lost hold key while the reader is still listed', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    await bench.command('DEL', holdOf(name, 'c:1', 1));
    expect(await renew(60_000, [name, 'c:1', 1])).toEqual({ status: 'renewed', held: [1] });
    expectRunning(await bench.pttl(holdOf(name, 'c:1', 1)), 60_000);
  });

  it('counts a key of another type as lost', async () => {
    const name = bench.name();
    await bench.plant('SET', name, 'data');
    expect(await renew(60_000, [name, 'c:1', 1])).toEqual({ status: 'renewed', held: [0] });
    expect(await bench.pttl(name)).toBe(-1);
  });
});

describe('read-write-lock/write-acquire', () => {
  it('makes a lock of mode write with one field and the lease', async () => {
    const name = bench.name();
    expect(await write(name, 'c:1:write')).toEqual(HELD);
    expect(await write(name, 'c:1:write', { leaseMs: 10_000 })).toEqual(HELD);
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'c:1:write': '1' });
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('is refused by a writer', async () => {
    const name = bench.name();
    await write(name, 'c:1:write');
    const reply = await write(name, 'c:2:write');
    expect(reply).toEqual({ status: 'busy', remainingMs: expect.any(Number), mode: 'write' });
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'c:1:write': '1' });
  });

  it('is refused by readers, with or without hold keys', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    await bench.command('DEL', holdOf(name, 'c:1', 1));
    const reply = await write(name, 'c:2:write');
    expect(reply).toEqual({ status: 'busy', remainingMs: expect.any(Number), mode: 'read' });
    if (reply.status === 'busy') expectRunning(reply.remainingMs, 60_000);
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '1' });
    expect(await bench.exists(waitingOf(name))).toBe(false);
  });

  it('after its release, or after a tombstone, takes nothing and leaves no note', async () => {
    const name = bench.name();
    await write(name, 'c:1:write');
    await releaseWrite(name, 'c:1:write');
    expect(await write(name, 'c:1:write')).toEqual({ status: 'ended' });
    await releaseWrite(name, 'c:2:write');
    await read(name, 'c:3');
    expect(await write(name, 'c:2:write', { noteMs: 3_000 })).toEqual({ status: 'ended' });
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:3': '1' });
    expect(await bench.exists(waitingOf(name))).toBe(false);
  });

  it('does not change a lock of another kind or other data', async () => {
    const name = bench.name();
    await bench.plant('HSET', name, 'java:7', '1');
    await expect(write(name, 'c:1:write')).rejects.toThrow('a lock of another kind');
    expect(await bench.hash(name)).toEqual({ 'java:7': '1' });
    const text = bench.name();
    await bench.plant('SET', text, 'data');
    await expect(write(text, 'c:1:write')).rejects.toThrow('WRONGTYPE');
  });

  it('with preference, keeps new readers out while it waits, but neither writers nor present readers', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    await write(name, 'c:2:write', { noteMs: 60_000 });
    expectRunning(await bench.pttl(waitingOf(name)), 60_000);
    const reply = await read(name, 'c:3');
    expect(reply).toEqual({ status: 'busy', remainingMs: expect.any(Number) });
    if (reply.status === 'busy') expectRunning(reply.remainingMs, 60_000);
    expect(await read(name, 'c:1')).toEqual(HELD);
    expect(await enter(name, 'c:1', 2)).toEqual(HELD);
    await releaseRead(name, 'c:1', 2);
    // Free, and still the writer's turn.
    expect(await read(name, 'c:3')).toMatchObject({ status: 'busy' });
    expect(await write(name, 'c:2:write', { noteMs: 60_000 })).toEqual(HELD);
    expect(await bench.exists(waitingOf(name))).toBe(false);
    expect(await read(name, 'c:2', { writer: 'c:2:write' })).toEqual(HELD);
  });

  it('beneath its own writer a reader does not wait for the preferred writer', async () => {
    const name = bench.name();
    await write(name, 'c:1:write');
    await write(name, 'c:2:write', { noteMs: 60_000 });
    expect(await read(name, 'c:1', { writer: 'c:1:write' })).toEqual(HELD);
  });

  it('is forgotten when it no longer renews its note', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    await bench.plant('ZADD', waitingOf(name), 1, 'c:2:write');
    expect(await read(name, 'c:3')).toEqual(HELD);
    await write(name, 'c:4:write', { noteMs: 60_000 });
    expect(await bench.command('ZRANGE', waitingOf(name), 0, -1)).toEqual(['c:4:write']);
  });
});

describe('read-write-lock/write-release', () => {
  it('frees the lock and announces 1, once', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await write(name, 'c:1:write');
    expect(await releaseWrite(name, 'c:1:write')).toEqual(RELEASED);
    expect(await releaseWrite(name, 'c:1:write')).toEqual(RELEASED);
    expect(await bench.exists(name)).toBe(false);
    expect(await heard()).toEqual(['1']);
  });

  it('downgrades when its owner reads: mode read, 1 to all, the lease untouched, the reader named', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await write(name, 'c:1:write', { leaseMs: 200_000 });
    await read(name, 'c:1', { writer: 'c:1:write', leaseMs: 60_000 });
    expect(await read(name, 'c:2')).toMatchObject({ status: 'busy' });
    expect(await releaseWrite(name, 'c:1:write')).toEqual({ ...RELEASED, readers: ['c:1', '1'] });
    expect(await heard()).toEqual(['1']);
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '1' });
    expectRunning(await bench.pttl(name), 200_000);
    expect(await read(name, 'c:2')).toEqual(HELD);
  });

  it('of a writer that only waited removes its note and wakes the readers', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await read(name, 'c:1');
    await write(name, 'c:2:write', { noteMs: 60_000 });
    expect(await releaseWrite(name, 'c:2:write')).toEqual({ status: 'lost' });
    expect(await releaseWrite(name, 'c:2:write')).toEqual({ status: 'lost' });
    expect(await heard()).toEqual(['1']);
    expect(await read(name, 'c:3')).toEqual(HELD);
  });

  it('of a hold that is gone does not change the key', async () => {
    const name = bench.name();
    await write(name, 'c:2:write');
    expect(await releaseWrite(name, 'c:1:write')).toEqual({ status: 'lost' });
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'c:2:write': '1' });
    const text = bench.name();
    await bench.plant('SET', text, 'data');
    expect(await releaseWrite(text, 'c:1:write')).toEqual({ status: 'lost' });
    expect(await bench.command('GET', text)).toBe('data');
  });
});

describe('read-write-lock/sweep', () => {
  it('sets the lock to the longest hold, announces 0, and keeps the field of a reader without hold keys', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await read(name, 'dead:1', { leaseMs: 200_000 });
    await read(name, 'c:1', { leaseMs: 60_000 });
    await read(name, 'c:2', { leaseMs: 10_000 });
    await bench.command('DEL', holdOf(name, 'dead:1', 1));
    const endsTogetherAt = Date.now() + 60_000;
    for (let delivery = 1; delivery <= 2; delivery += 1) {
      expect(await sweep(name, ['dead:1', 1], ['c:1', 1], ['c:2', 1])).toEqual({ status: 'kept' });
      expect(await bench.hash(name)).toEqual({ mode: 'read', 'dead:1': '1', 'c:1': '1', 'c:2': '1' });
      await expectTogether(name, holdOf(name, 'c:1', 1));
      // Redis 6.0 looks at the clock for every command of a script, so the two may end 1 ms apart: a shorter time.
      for (const key of [name, holdOf(name, 'c:1', 1)]) await bench.command('PEXPIREAT', key, endsTogetherAt);
    }
    expect(await heard()).toEqual(['0']);
  });

  it('extends a shortened lock to the longest hold, and wakes no waiter', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await read(name, 'c:1', { leaseMs: 60_000 });
    await bench.command('PEXPIRE', name, 30_000);
    expect(await sweep(name, ['c:1', 1])).toEqual({ status: 'kept' });
    await expectTogether(name, holdOf(name, 'c:1', 1));
    expect(await heard()).toEqual([]);
  });

  it('frees the lock if no reader has a hold key, and announces 0', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await read(name, 'dead:1');
    await read(name, 'dead:2');
    await bench.command('DEL', holdOf(name, 'dead:1', 1), holdOf(name, 'dead:2', 1));
    const both = [
      ['dead:1', 1],
      ['dead:2', 1],
    ] as [string, number][];
    expect(await sweep(name, ...both)).toEqual({ status: 'free', announced: 1 });
    expect(await sweep(name, ...both)).toEqual({ status: 'free', announced: 1 });
    expect(await heard()).toEqual(['0']);
    expect(await bench.exists(name)).toBe(false);
  });

  it('keeps a reader while one of its hold keys exists', async () => {
    const name = bench.name();
    await read(name, 'java:1');
    await enter(name, 'java:1', 3);
    await bench.command('DEL', holdOf(name, 'java:1', 1), holdOf(name, 'java:1', 3));
    expect(await sweep(name, ['java:1', 3])).toEqual({ status: 'kept' });
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'java:1': '3' });
  });

  it.each([
    ['come', 'c:2', 1],
    ['entered again', 'c:1', 2],
    ['left and another has come', 'c:3', 1],
  ])('does nothing if a reader has %s since, and names the readers to judge', async (_, field, count) => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await read(name, 'c:1', { leaseMs: 60_000 });
    await bench.command('DEL', holdOf(name, 'c:1', 1));
    if (field === 'c:3') await bench.command('HDEL', name, 'c:1');
    await bench.command('HSET', name, field, count);
    const before = await bench.hash(name);
    const reply = await sweep(name, ['c:1', 1]);
    if (reply.status !== 'changed') return expect.unreachable(`answered ${reply.status}`);
    const named = Object.fromEntries(
      reply.readers.flatMap((text, i) => (i % 2 === 0 ? [[text, reply.readers[i + 1]]] : [])),
    );
    expect({ mode: 'read', ...named }).toEqual(before);
    expect(await bench.hash(name)).toEqual(before);
    expectRunning(await bench.pttl(name), 60_000);
    expect(await heard()).toEqual([]);
  });

  it('treats a hold key without expiry as lasting', async () => {
    const name = bench.name();
    await read(name, 'c:1', { leaseMs: 60_000 });
    await bench.plant('PERSIST', holdOf(name, 'c:1', 1));
    expect(await sweep(name, ['c:1', 1])).toEqual({ status: 'kept' });
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('does nothing while an owner writes', async () => {
    const name = bench.name();
    await write(name, 'c:1:write', { leaseMs: 60_000 });
    await read(name, 'c:1', { writer: 'c:1:write', leaseMs: 5_000 });
    expect(await sweep(name, ['c:1', 1])).toEqual({ status: 'kept' });
    expectRunning(await bench.pttl(name), 60_000);
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'c:1:write': '1', 'c:1': '1' });
  });

  it('refuses hold keys that do not match the readers, before it changes anything', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    await bench.command('DEL', holdOf(name, 'c:1', 1));
    const args = { publish: 'PUBLISH', channel: channelOf(name), readers: ['c:1', '1'] };
    await expect(bench.run(readWriteLockSweep, { lock: name, holds: [] }, args)).rejects.toThrow(
      'do not fit',
    );
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '1' });
  });
});

describe('read-write-lock/force-release', () => {
  it('ends the named holds, and announces with the message of their side that the lock is free', async () => {
    const [one, two] = [bench.name(), bench.name()];
    const heardOne = await bench.listenTo(channelOf(one));
    const heardTwo = await bench.listenTo(channelOf(two));
    await read(one, 'c:1');
    await read(one, 'c:2');
    await write(two, 'c:3:write');
    await read(two, 'c:3', { writer: 'c:3:write' });
    expect(await force(one, 'read', ['c:1', 'c:2'], 'r:1')).toEqual(ENDED);
    expect(await force(two, 'write', ['c:3:write', 'c:3'], 'r:2')).toEqual(ENDED);
    expect(await heardOne()).toEqual(['0']);
    expect(await heardTwo()).toEqual(['1']);
    expect(await bench.exists(one)).toBe(false);
    expect(await bench.exists(two)).toBe(false);
  });

  it('does not change other holds, and announces nothing', async () => {
    const [one, two] = [bench.name(), bench.name()];
    const heardOne = await bench.listenTo(channelOf(one));
    const heardTwo = await bench.listenTo(channelOf(two));
    await read(one, 'c:2');
    await write(two, 'c:2:write');
    expect(await force(one, 'read', ['c:1'], 'r:1')).toEqual(ENDED);
    expect(await force(one, 'write', ['c:1:write'], 'r:2')).toEqual(ENDED);
    expect(await force(two, 'read', ['c:1'], 'r:3')).toEqual(ENDED);
    expect(await force(two, 'write', ['c:1:write', 'c:1'], 'r:4')).toEqual(ENDED);
    expect(await bench.hash(one)).toEqual({ mode: 'read', 'c:2': '1' });
    expect(await bench.hash(two)).toEqual({ mode: 'write', 'c:2:write': '1' });
    expect(await heardOne()).toEqual([]);
    expect(await heardTwo()).toEqual([]);
  });

  it('names the readers that stay, and announces nothing while they read', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await read(name, 'c:1');
    await read(name, 'c:2');
    expect(await force(name, 'read', ['c:1'], 'r:1')).toEqual({ ...ENDED, readers: ['c:2', '1'] });
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:2': '1' });
    expect(await heard()).toEqual([]);
  });

  it('lets a writer that began to read since then continue as a reader', async () => {
    const name = bench.name();
    const heard = await bench.listenTo(channelOf(name));
    await write(name, 'c:1:write');
    await read(name, 'c:1', { writer: 'c:1:write' });
    expect(await force(name, 'write', ['c:1:write'], 'r:1')).toEqual({ ...ENDED, readers: ['c:1', '1'] });
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '1' });
    expect(await heard()).toEqual(['1']);
  });

  it('that names a reader does not free a lock that the same Redisson thread writes by now', async () => {
    const name = bench.name();
    await bench.plant('HSET', name, 'mode', 'write', 'java:7:write', '1', 'java:7', '1');
    await force(name, 'read', ['java:7'], 'r:1');
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'java:7:write': '1' });
  });

  it.each(['ended', 'found gone'])(
    'repeated, does not end the next hold of an owner that it %s',
    async (how) => {
      const name = bench.name();
      if (how === 'ended') await read(name, 'java:7');
      await force(name, 'read', ['java:7'], 'r:1');
      await read(name, 'java:7');
      expect(await force(name, 'read', ['java:7'], 'r:1')).toEqual(ENDED);
      expect(await bench.hash(name)).toEqual({ mode: 'read', 'java:7': '1' });
      expectRunning(await bench.pttl(endedOf(name, 'r:1')), 30_000);
    },
  );
});

describe('read-write-lock/steal', () => {
  it('takes the lock from readers and writers, once', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    await read(name, 'c:2');
    expect(await steal(name, 'c:3:write', ['c:1', 'c:2'])).toEqual(HELD);
    expect(await steal(name, 'c:3:write', ['c:1', 'c:2'], 10_000)).toEqual(HELD);
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'c:3:write': '1' });
    expectRunning(await bench.pttl(name), 60_000);
    expect(await steal(name, 'c:4:write', ['c:3:write', 'gone:1'])).toEqual(HELD);
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'c:4:write': '1' });
  });

  it('takes a lock that is free', async () => {
    const name = bench.name();
    expect(await steal(name, 'c:3:write', ['gone:1'])).toEqual(HELD);
    expect(await bench.hash(name)).toEqual({ mode: 'write', 'c:3:write': '1' });
  });

  it('takes nothing if other owners hold the lock by now', async () => {
    const [one, two] = [bench.name(), bench.name()];
    await read(one, 'c:1');
    await read(one, 'c:2');
    await write(two, 'c:2:write');
    expect(await steal(one, 'c:3:write', ['c:1'])).toEqual({ status: 'changed' });
    expect(await steal(two, 'c:3:write', ['c:1:write'])).toEqual({ status: 'changed' });
    expect(await bench.hash(one)).toEqual({ mode: 'read', 'c:1': '1', 'c:2': '1' });
    expect(await bench.hash(two)).toEqual({ mode: 'write', 'c:2:write': '1' });
  });

  it('delivered after its caller gave up, takes nothing', async () => {
    const name = bench.name();
    await read(name, 'c:1');
    await releaseWrite(name, 'c:3:write');
    expect(await steal(name, 'c:3:write', ['c:1'])).toEqual({ status: 'ended' });
    expect(await bench.hash(name)).toEqual({ mode: 'read', 'c:1': '1' });
  });

  it.each([[['java:7', '1']], [['mode', 'dark', 'size', '3']]])(
    'does not change a hash that is not a read/write lock: %j',
    async (fields) => {
      const name = bench.name();
      await bench.plant('HSET', name, ...fields);
      await expect(steal(name, 'c:1:write', ['java:7', 'size'])).rejects.toThrow('a lock of another kind');
      expect(Object.entries(await bench.hash(name)).flat()).toEqual(fields);
    },
  );
});

describe('read-write-lock/describe and holders', () => {
  it('report the holders and the mode', async () => {
    const name = bench.name();
    expect(await look(name)).toEqual({ status: 'free' });
    expect(await holders(name)).toEqual({ status: 'free' });
    await write(name, 'c:1:write');
    await read(name, 'c:1', { writer: 'c:1:write' });
    const state = { status: 'locked', remainingMs: expect.any(Number), mode: 'write', holders: 2 };
    expect(await look(name)).toEqual({ ...state, holder: 'c:1:write' });
    expect(await look(name, 'c:1')).toEqual({ ...state, holder: 'c:1' });
    expect(await look(name, 'c:9')).toEqual({ ...state, holder: 'c:1:write' });
    expect(await holders(name)).toEqual({ status: 'held', mode: 'write', holders: ['c:1:write', 'c:1'] });
    await releaseWrite(name, 'c:1:write');
    expect(await look(name)).toEqual({ ...state, mode: 'read', holders: 1, holder: 'c:1' });
  });

  it("recognise Redisson's lock though it lost its expiry", async () => {
    const name = bench.name();
    const owner = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455:37';
    await bench.plant('HSET', name, 'mode', 'read', owner, '2');
    expect(await holders(name)).toEqual({ status: 'held', mode: 'read', holders: [owner] });
  });

  it.each([
    [['mode', 'dark', 'size', '3'], true],
    [['mode', 'read', 'title', 'a page'], true],
    [['mode', 'read', 'pages', '3'], false],
    [['mode', 'write'], true],
    [['java:7', '1'], true],
  ])('do not treat a hash as a lock: %j, with an expiry: %j', async (fields, lasts) => {
    const name = bench.name();
    await bench.plant('HSET', name, ...fields);
    if (lasts) await bench.command('PEXPIRE', name, 60_000);
    await expect(holders(name)).rejects.toThrow(/WRONGTYPE /);
    expect(Object.entries(await bench.hash(name)).flat()).toEqual(fields);
  });

  it('report a hash with another mode as free', async () => {
    const name = bench.name();
    await bench.plant('HSET', name, 'mode', 'dark', 'size', '3', 'weight', '4');
    expect(await look(name)).toEqual({ status: 'free' });
  });
});

describeWithProcess('read-write-lock on a server out of memory', () => {
  it('acquires nothing, but releases, downgrades and renews', async () => {
    const server = await ownServer();
    const via = await openRaw(server.host, server.port);
    const name = bench.name();
    await read(name, 'c:1', { via });
    await write(`${name}2`, 'c:2:write', { via });
    await read(`${name}2`, 'c:2', { via, writer: 'c:2:write' });
    await write(`${name}4`, 'c:4:write', { via });
    await via.command('CONFIG', 'SET', 'maxmemory', '1');
    await expect(read(name, 'c:3', { via })).rejects.toThrow('OOM');
    await expect(write(`${name}3`, 'c:3:write', { via })).rejects.toThrow('OOM');
    expect(await via.command('EXISTS', `${name}3`)).toBe(0);
    const places = [name, holdOf(name, 'c:1', 1)];
    const renewal = { holders: ['c:1', '1', '500000'] };
    expect(await bench.run(readWriteLockReadRenew, { places }, renewal, via)).toMatchObject({ held: [1] });
    expectRunning(Number(await via.command('PTTL', holdOf(name, 'c:1', 1))), 500_000);
    expect(await releaseRead(name, 'c:1', 1, via)).toEqual(RELEASED);
    expect(await via.command('EXISTS', name)).toBe(0);
    expect(await releaseWrite(`${name}2`, 'c:2:write', via)).toMatchObject({ status: 'released' });
    expect(await via.command('HGET', `${name}2`, 'mode')).toBe('read');
    expect(await force(`${name}4`, 'write', ['c:4:write'], 'r:1', via)).toEqual(ENDED);
    expect(await via.command('EXISTS', `${name}4`)).toBe(0);
  });

  it('releases without permission to publish, and reports that', async () => {
    const { server, connection: via } = await openMute();
    const listener = await openRaw(server.host, server.port);
    const name = bench.name();
    await listener.subscribe(channelOf(name));
    const heard = heardOn(listener, channelOf(name), await openRaw(server.host, server.port));
    await write(name, 'c:1:write', { via });
    expect(await releaseWrite(name, 'c:1:write', via)).toMatchObject({ status: 'released', announced: 0 });
    await read(name, 'c:1', { via });
    expect(await releaseRead(name, 'c:1', 1, via)).toMatchObject({ status: 'released', announced: 0 });
    expect(await via.command('EXISTS', name)).toBe(0);
    expect(await heard()).toEqual([]);
  });
});

bench.itCoversEveryWordOf('read-write-lock');
