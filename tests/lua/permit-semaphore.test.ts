/** The scripts of the permit-expirable semaphore: what they answer, leave in Redis, and whom they wake. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  permitSemaphoreAcquire,
  permitSemaphoreCountPermits,
  permitSemaphoreGetLease,
  permitSemaphoreRelease,
  permitSemaphoreReleaseAll,
  permitSemaphoreRenew,
  permitSemaphoreSetPermits,
  permitSemaphoreUndo,
  permitSemaphoreUpdateLease,
} from '../../src/scripts/generated.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { openMute } from './support/mute-user.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const PERMANENT = 922_337_203_685_477;

const bench = new ScriptBench();

/** Semaphores have no expiry, so their names are not the bench's, which wants one on every key. */
const newName = () => randomName('lua');
const newId = () => randomBytes(16);
const channelOf = (name: string) => `redisson_sc:{${name}}`;
const setOf = (name: string) => `{${name}}:timeout`;
const endedOf = (name: string, id: Buffer) => `redisson_unlock_latch:{${name}}:${id.toString('hex')}`;
const answerOf = (name: string, request: string) => `redisson_unlock_latch:{${name}}:${request}`;

const keysOf = (name: string) => ({ permits: name, timeouts: setOf(name) });
const wake = (name: string) => ({ publish: 'PUBLISH', channel: channelOf(name) });

function acquire(name: string, ids: Buffer[], leaseMs = 60_000, connection = bench.connection) {
  const keys = { ...keysOf(name), ended: ids.map((id) => endedOf(name, id)) };
  return bench.run(permitSemaphoreAcquire, keys, { leaseMs, ...wake(name), ids }, connection);
}

function release(name: string, id: Buffer, request: string, connection = bench.connection) {
  const keys = { ...keysOf(name), ended: endedOf(name, id) };
  const args = { request, ...wake(name), rememberMs: 40_000, id };
  return bench.run(permitSemaphoreRelease, keys, args, connection);
}

function releaseAll(name: string, request: string, ids: Buffer[]) {
  const ended = ids.map((id) => endedOf(name, id));
  const keys = { ...keysOf(name), answer: answerOf(name, request), ended };
  const args = { ...wake(name), rememberMs: 400_000, tombstoneMs: 40_000, ids };
  return bench.run(permitSemaphoreReleaseAll, keys, args);
}

function undo(name: string, ids: Buffer[], connection = bench.connection) {
  const keys = { ...keysOf(name), ended: ids.map((id) => endedOf(name, id)) };
  return bench.run(permitSemaphoreUndo, keys, { ...wake(name), rememberMs: 40_000, ids }, connection);
}

function renew(names: string[], ids: Buffer[], leaseMs = 60_000, connection = bench.connection) {
  return bench.run(permitSemaphoreRenew, { timeouts: names.map(setOf) }, { leaseMs, ids }, connection);
}

function updateLease(name: string, request: string, id: Buffer, leaseMs: number) {
  const keys = { ...keysOf(name), answer: answerOf(name, request) };
  const args = { leaseMs, ...wake(name), rememberMs: 40_000, id };
  return bench.run(permitSemaphoreUpdateLease, keys, args);
}

function getLease(name: string, id: Buffer) {
  return bench.run(permitSemaphoreGetLease, keysOf(name), { ...wake(name), id });
}

function count(name: string) {
  return bench.run(permitSemaphoreCountPermits, keysOf(name), wake(name));
}

function setPermits(name: string, request: string, permits: number) {
  const keys = { ...keysOf(name), answer: answerOf(name, request) };
  return bench.run(permitSemaphoreSetPermits, keys, { count: permits, ...wake(name), rememberMs: 40_000 });
}

/** Redisson takes a permit: by hand, with an end in the past or in the future. */
async function plantPermit(name: string, endsInMs: number, id = newId()): Promise<Buffer> {
  const score = Number.isFinite(endsInMs) ? (await serverNow()) + endsInMs : PERMANENT;
  await bench.command('ZADD', setOf(name), score, id);
  return id;
}

async function serverNow(): Promise<number> {
  const [seconds, micros] = (await bench.command('TIME')) as [string, string];
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

const stored = (name: string) => bench.command('GET', name);
const taken = (name: string) => bench.command('ZCARD', setOf(name));

async function scoreOf(name: string, id: Buffer): Promise<number | null> {
  const score = await bench.command('ZSCORE', setOf(name), id);
  return score === null ? null : Number(score);
}

/** How long the server lets it be, which is at most what was asked for. */
async function leftMs(name: string, id: Buffer): Promise<number> {
  return Number(await scoreOf(name, id)) - (await serverNow());
}

describe('permit-semaphore/acquire', () => {
  it('takes all requested permits as raw bytes with their expiry, or none', async () => {
    const name = newName();
    const ids = [newId(), newId()];
    await bench.command('SET', name, '3');
    expect(await acquire(name, ids)).toEqual({ status: 'taken' });
    expect(await stored(name)).toBe('1');
    expect(await taken(name)).toBe(2);
    for (const id of ids) expectRunning(await leftMs(name, id), 60_000);
    expect(await bench.pttl(setOf(name))).toBe(-1);

    const reply = await acquire(name, [newId(), newId()]);
    expect(reply).toEqual({ status: 'short', remainingMs: expect.any(Number) });
    expectRunning((reply as { remainingMs: number }).remainingMs, 60_000);
    expect(await stored(name)).toBe('1');
    expect(await taken(name)).toBe(2);
  });

  it("takes a permanent permit with Redisson's score", async () => {
    const name = newName();
    const id = newId();
    await bench.command('SET', name, '1');
    await acquire(name, [id], -1);
    expect(await scoreOf(name, id)).toBe(PERMANENT);
  });

  it('treats a longer lease as permanent', async () => {
    const name = newName();
    const id = newId();
    await bench.command('SET', name, '1');
    await acquire(name, [id], Number.MAX_SAFE_INTEGER);
    expect(await scoreOf(name, id)).toBe(PERMANENT);
  });

  it('answers missing without a key, and creates none', async () => {
    const name = newName();
    expect(await acquire(name, [newId()])).toEqual({ status: 'missing' });
    expect(await bench.exists(name)).toBe(false);
    // Permits that a deleted semaphore left behind make no semaphore.
    await plantPermit(name, 30_000);
    expect(await acquire(name, [newId()])).toEqual({ status: 'missing' });
    expect(await bench.exists(name)).toBe(false);
  });

  it('reports no next expiry if no permit expires', async () => {
    const name = newName();
    await bench.command('SET', name, '0');
    await plantPermit(name, Number.POSITIVE_INFINITY);
    expect(await acquire(name, [newId()])).toEqual({ status: 'short', remainingMs: -1 });
    await plantPermit(name, 30_000);
    await plantPermit(name, 90_000);
    const reply = await acquire(name, [newId()]);
    expectRunning((reply as { remainingMs: number }).remainingMs, 30_000);
  });

  it('first returns expired permits, and announces the new total', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '0');
    const over = [await plantPermit(name, 0), await plantPermit(name, -5_000)];
    const kept = await plantPermit(name, 60_000);
    expect(await acquire(name, [newId()])).toEqual({ status: 'taken' });
    expect(await stored(name)).toBe('1');
    for (const id of over) expect(await scoreOf(name, id)).toBeNull();
    expectRunning(await leftMs(name, kept), 60_000);
    expect(await heard()).toEqual(['2']);
  });

  it('delivered twice, takes once and renews the lease', async () => {
    const name = newName();
    const ids = [newId(), newId()];
    await bench.command('SET', name, '5');
    await acquire(name, ids, 30_000);
    expect(await acquire(name, ids, 200_000)).toEqual({ status: 'taken' });
    expect(await stored(name)).toBe('3');
    expect(await taken(name)).toBe(2);
    for (const id of ids) expectRunning(await leftMs(name, id), 200_000);
    expect(await acquire(name, ids, 1_000)).toEqual({ status: 'taken' });
    for (const id of ids) expectRunning(await leftMs(name, id), 200_000);
  });

  it('delivered twice, does not make a permit permanent again that has got a lease', async () => {
    const name = newName();
    const id = newId();
    await bench.command('SET', name, '5');
    await acquire(name, [id], -1);
    await updateLease(name, 'c:1', id, 30_000);
    expect(await acquire(name, [id], -1)).toEqual({ status: 'taken' });
    expectRunning(await leftMs(name, id), 30_000);
  });

  it('delivered late, takes nothing once one of its permits was released', async () => {
    const name = newName();
    const ids = [newId(), newId()];
    await bench.command('SET', name, '5');
    await acquire(name, ids);
    for (const id of ids) await release(name, id, 'c:1');
    expect(await acquire(name, ids)).toEqual({ status: 'ended' });
    expect(await stored(name)).toBe('5');
    expect(await taken(name)).toBe(0);
  });

  it('delivered late, adds nothing to the remaining permits', async () => {
    const name = newName();
    const [first, second] = [newId(), newId()];
    await bench.command('SET', name, '5');
    await acquire(name, [first, second]);
    await release(name, first, 'c:1');
    expect(await acquire(name, [first, second])).toEqual({ status: 'taken' });
    expect(await stored(name)).toBe('4');
    expect(await scoreOf(name, first)).toBeNull();
    expectRunning(await leftMs(name, second), 60_000);
  });

  it('gives the taken permits the TTL of the free ones, and removes it again', async () => {
    const name = newName();
    await bench.command('SET', name, '3', 'PX', 60_000);
    await acquire(name, [newId()]);
    expect(await bench.endsAt(setOf(name))).toBe(await bench.endsAt(name));
    await bench.command('PERSIST', name);
    await acquire(name, [newId()]);
    expect(await bench.pttl(setOf(name))).toBe(-1);
  });

  it('finds too few if the number of permits is negative', async () => {
    const name = newName();
    await bench.command('SET', name, '-2');
    expect(await acquire(name, [newId()])).toMatchObject({ status: 'short' });
    expect(await stored(name)).toBe('-2');
  });

  it.each(['data', '1.5', '0x10', ' 1'])(
    'does not change %j, which is not a number of permits',
    async (value) => {
      const name = newName();
      const id = await plantPermit(name, -1_000);
      await bench.command('SET', name, value);
      const calls = [
        () => acquire(name, [newId()]),
        () => release(name, id, 'c:1'),
        () => releaseAll(name, 'c:1', [id]),
        () => undo(name, [id]),
        () => updateLease(name, 'c:1', id, 1),
        () => getLease(name, id),
        () => count(name),
        () => setPermits(name, 'c:1', 1),
      ];
      for (const call of calls) await expect(call()).rejects.toThrow('not a number of permits');
      expect(await stored(name)).toBe(value);
      expect(await scoreOf(name, id)).not.toBeNull();
    },
  );

  it('does not change a key of another type', async () => {
    const [list, string] = [newName(), newName()];
    await bench.command('RPUSH', list, 'data');
    await expect(acquire(list, [newId()])).rejects.toThrow('WRONGTYPE');
    await bench.command('SET', string, '1');
    await bench.command('SET', setOf(string), 'data');
    await expect(acquire(string, [newId()])).rejects.toThrow('WRONGTYPE');
    await expect(release(string, newId(), 'c:1')).rejects.toThrow('WRONGTYPE');
    expect(await renew([string], [newId()])).toEqual({ status: 'renewed', held: [0] });
    expect(await stored(string)).toBe('1');
  });
});

describe('permit-semaphore/release', () => {
  it('returns a permit once, and announces the new total', async () => {
    const name = newName();
    const id = newId();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '5', 'PX', 60_000);
    await acquire(name, [id]);
    expect(await release(name, id, 'c:1')).toEqual({ status: 'released', announced: 1 });
    expect(await stored(name)).toBe('5');
    expect(await taken(name)).toBe(0);
    expect(await heard()).toEqual(['5']);
    expectRunning(await bench.pttl(name), 60_000);
    expectRunning(await bench.pttl(endedOf(name, id)), 40_000);
  });

  it('gives a repeat the same answer, and other requests that the permit does not exist', async () => {
    const name = newName();
    const id = newId();
    await bench.command('SET', name, '1');
    await acquire(name, [id]);
    await release(name, id, 'c:1');
    expect(await release(name, id, 'c:2')).toEqual({ status: 'missing' });
    expect(await release(name, id, 'c:1')).toEqual({ status: 'released', announced: 1 });
    expect(await stored(name)).toBe('1');
  });

  it('returns an expired permit, and reports that it had expired', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '0');
    const id = await plantPermit(name, 0);
    expect(await release(name, id, 'c:1')).toEqual({ status: 'expired', announced: 1 });
    expect(await stored(name)).toBe('1');
    expect(await heard()).toEqual(['1']);
    expect(await release(name, id, 'c:1')).toEqual({ status: 'missing' });
    expect(await stored(name)).toBe('1');
  });

  it('bars a permit that it does not find', async () => {
    const name = newName();
    const id = newId();
    await bench.command('SET', name, '1');
    expect(await release(name, id, 'c:1')).toEqual({ status: 'missing' });
    expect(await acquire(name, [id])).toEqual({ status: 'ended' });
    expect(await stored(name)).toBe('1');
  });

  it('announces nothing while the number of permits is negative', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '-1');
    const id = await plantPermit(name, 60_000);
    expect(await release(name, id, 'c:1')).toMatchObject({ status: 'released' });
    expect(await stored(name)).toBe('0');
    expect(await heard()).toEqual([]);
  });

  it('does not recreate a deleted semaphore', async () => {
    const name = newName();
    const [first, second] = [await plantPermit(name, 60_000), await plantPermit(name, 60_000)];
    expect(await release(name, first, 'c:1')).toMatchObject({ status: 'released' });
    expect(await releaseAll(name, 'c:2', [second])).toMatchObject({ status: 'released', count: 1 });
    await plantPermit(name, -1_000);
    expect(await count(name)).toEqual({ status: 'missing', taken: 0 });
    expect(await bench.exists(name)).toBe(false);
  });

  it('releases a permit of Redisson', async () => {
    const name = newName();
    await bench.command('SET', name, '0');
    const id = await plantPermit(name, Number.POSITIVE_INFINITY);
    expect(await release(name, id, 'c:1')).toMatchObject({ status: 'released' });
    expect(await stored(name)).toBe('1');
  });
});

describe('permit-semaphore/release-all', () => {
  it('returns all permits, answers their number, and repeats the same answer', async () => {
    const name = newName();
    const ids = [newId(), newId()];
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '5');
    await acquire(name, ids);
    const released = { status: 'released', count: 2, announced: 1 };
    expect(await releaseAll(name, 'c:1', ids)).toEqual(released);
    expect(await releaseAll(name, 'c:1', ids)).toEqual(released);
    expect(await stored(name)).toBe('5');
    expect(await heard()).toEqual(['2']);
    expect(await releaseAll(name, 'c:2', ids)).toEqual({ status: 'refused' });
    expect(await acquire(name, ids)).toEqual({ status: 'ended' });
    expectRunning(await bench.pttl(answerOf(name, 'c:1')), 400_000);
    for (const id of ids) expectRunning(await bench.pttl(endedOf(name, id)), 40_000);
  });

  it.each([
    { title: 'missing', other: async () => newId() },
    { title: 'over', other: (name: string) => plantPermit(name, 0) },
  ])('changes nothing if one permit is $title, also when repeated', async ({ other }) => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '5');
    const id = newId();
    await acquire(name, [id]);
    const wrong = await other(name);
    const before = await taken(name);
    expect(await releaseAll(name, 'c:1', [id, wrong])).toEqual({ status: 'refused' });
    expect(await stored(name)).toBe('4');
    expect(await taken(name)).toBe(before);
    expect(await heard()).toEqual([]);
    await bench.command('ZADD', setOf(name), PERMANENT, wrong);
    expect(await releaseAll(name, 'c:1', [id, wrong])).toEqual({ status: 'refused' });
    expectRunning(await leftMs(name, id), 60_000);
  });

  it('returns other expired permits', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '0');
    const id = await plantPermit(name, 60_000);
    await plantPermit(name, -1_000);
    expect(await releaseAll(name, 'c:1', [id])).toMatchObject({ count: 1 });
    expect(await stored(name)).toBe('2');
    expect(await heard()).toEqual(['1', '1']);
  });

  it('counts an id that is listed twice once', async () => {
    const name = newName();
    await bench.command('SET', name, '0');
    const id = await plantPermit(name, 60_000);
    expect(await releaseAll(name, 'c:1', [id, id])).toMatchObject({ count: 1 });
    expect(await stored(name)).toBe('1');
  });
});

describe('permit-semaphore/undo', () => {
  it('after the acquisition: returns its permits once, and announces the new total', async () => {
    const name = newName();
    const ids = [newId(), newId()];
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '5');
    await acquire(name, ids);
    expect(await undo(name, ids)).toEqual({ status: 'returned', announced: 1 });
    expect(await undo(name, ids)).toEqual({ status: 'barred' });
    expect(await stored(name)).toBe('5');
    expect(await heard()).toEqual(['5']);
    expect(await acquire(name, ids)).toEqual({ status: 'ended' });
  });

  it('before the acquisition: bars the acquisition', async () => {
    const name = newName();
    const ids = [newId(), newId()];
    await bench.command('SET', name, '5');
    expect(await undo(name, ids)).toEqual({ status: 'barred' });
    expect(await acquire(name, ids)).toEqual({ status: 'ended' });
    expect(await stored(name)).toBe('5');
    expectRunning(await bench.pttl(endedOf(name, ids[0] as Buffer)), 40_000);
  });

  it('does not change permits of others', async () => {
    const name = newName();
    const id = newId();
    await bench.command('SET', name, '5');
    await acquire(name, [id]);
    await undo(name, [newId()]);
    expect(await stored(name)).toBe('4');
    expectRunning(await leftMs(name, id), 60_000);
  });
});

describe('permit-semaphore/renew', () => {
  it('lengthens many leases, in many semaphores, and shortens none', async () => {
    const names = [newName(), newName()] as const;
    const short = await plantPermit(names[0], 20_000);
    const long = await plantPermit(names[1], 300_000);
    const permanent = await plantPermit(names[1], Number.POSITIVE_INFINITY);
    const sets = [names[0], names[1], names[1], names[1]];
    const missing = newId();
    const reply = await renew(sets, [short, long, permanent, missing]);
    expect(reply).toEqual({ status: 'renewed', held: [1, 1, 1, 0] });
    expectRunning(await leftMs(names[0], short), 60_000);
    expect(await leftMs(names[0], short)).toBeGreaterThan(50_000);
    expectRunning(await leftMs(names[1], long), 300_000);
    expect(await scoreOf(names[1], permanent)).toBe(PERMANENT);
    expect(await scoreOf(names[1], missing)).toBeNull();
  });

  it('does not change expired permits', async () => {
    const name = newName();
    const id = await plantPermit(name, 0);
    const before = await scoreOf(name, id);
    expect(await renew([name], [id])).toEqual({ status: 'renewed', held: [0] });
    expect(await scoreOf(name, id)).toBe(before);
  });
});

describe('permit-semaphore/update-lease', () => {
  it('sets another lease: longer, shorter or permanent', async () => {
    const name = newName();
    const id = newId();
    await bench.command('SET', name, '5');
    await acquire(name, [id]);
    expect(await updateLease(name, 'c:1', id, 300_000)).toEqual({ status: 'updated' });
    expectRunning(await leftMs(name, id), 300_000);
    await updateLease(name, 'c:2', id, 30_000);
    expectRunning(await leftMs(name, id), 30_000);
    await updateLease(name, 'c:3', id, -1);
    expect(await scoreOf(name, id)).toBe(PERMANENT);
    expect(await stored(name)).toBe('4');
  });

  it('arriving late, does not undo a later update', async () => {
    const name = newName();
    const id = newId();
    await bench.command('SET', name, '5');
    await acquire(name, [id]);
    await updateLease(name, 'c:1', id, 30_000);
    await updateLease(name, 'c:2', id, 300_000);
    expect(await updateLease(name, 'c:1', id, 30_000)).toEqual({ status: 'updated' });
    expectRunning(await leftMs(name, id), 300_000);
  });

  it('finds no permit that does not exist, and returns expired permits', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '0');
    expect(await updateLease(name, 'c:1', newId(), 1_000)).toEqual({ status: 'missing' });
    const id = await plantPermit(name, 0);
    expect(await updateLease(name, 'c:2', id, 1_000)).toEqual({ status: 'missing' });
    expect(await stored(name)).toBe('1');
    expect(await heard()).toEqual(['1']);
  });
});

describe('permit-semaphore/get-lease', () => {
  it('reports the rest, that the permit is permanent, or that it does not exist', async () => {
    const name = newName();
    await bench.command('SET', name, '0');
    const reply = await getLease(name, await plantPermit(name, 60_000));
    expect(reply.status).toBe('leased');
    expectRunning((reply as { remainingMs: number }).remainingMs, 60_000);
    expect(await getLease(name, await plantPermit(name, Number.POSITIVE_INFINITY))).toEqual({
      status: 'permanent',
    });
    expect(await getLease(name, await plantPermit(name, 0))).toEqual({ status: 'missing' });
    expect(await stored(name)).toBe('1');
  });
});

describe('permit-semaphore/count-permits', () => {
  it('counts free and taken permits, after it has returned expired ones', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    expect(await count(name)).toEqual({ status: 'missing', taken: 0 });
    await bench.command('SET', name, '3');
    await plantPermit(name, -1);
    await plantPermit(name, 60_000);
    await plantPermit(name, Number.POSITIVE_INFINITY);
    expect(await count(name)).toEqual({ status: 'permits', free: 4, taken: 2 });
    expect(await heard()).toEqual(['4']);
  });

  it('returns more permits at once than fit into one command', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    await bench.command('SET', name, '0');
    for (let i = 0; i < 25; i += 1) {
      const entries = Array.from({ length: 1_000 }, () => ['1', newId()] as const).flat();
      await bench.command('ZADD', setOf(name), ...entries);
    }
    await plantPermit(name, 60_000);
    expect(await count(name)).toEqual({ status: 'permits', free: 25_000, taken: 1 });
    expect(await heard()).toEqual(['25000']);
  });
});

describe('permit-semaphore/set-permits', () => {
  it('creates a semaphore, grows it, shrinks it below zero and keeps its TTL', async () => {
    const name = newName();
    const heard = await bench.listenTo(channelOf(name));
    expect(await setPermits(name, 'c:1', 3)).toEqual({ status: 'set', announced: 1 });
    expect(await stored(name)).toBe('3');
    await bench.command('PEXPIRE', name, 60_000);
    await acquire(name, [newId(), newId()]);
    expect(await setPermits(name, 'c:2', 3)).toEqual({ status: 'kept' });
    await setPermits(name, 'c:3', 5);
    expect(await stored(name)).toBe('3');
    await setPermits(name, 'c:4', 1);
    expect(await stored(name)).toBe('-1');
    await setPermits(name, 'c:5', 0);
    expect(await stored(name)).toBe('-2');
    expectRunning(await bench.pttl(name), 60_000);
    expect(await heard()).toEqual(['3', '5', '1']);
  });

  it('accepts 0 permits, and changes nothing when repeated', async () => {
    const name = newName();
    expect(await setPermits(name, 'c:1', 0)).toEqual({ status: 'set', announced: 1 });
    expect(await stored(name)).toBe('0');
    await setPermits(name, 'c:2', 7);
    expect(await setPermits(name, 'c:1', 0)).toEqual({ status: 'set', announced: 1 });
    expect(await stored(name)).toBe('7');
  });
});

describeWithProcess('permit-semaphore on a server', () => {
  it('out of memory: nothing is taken, taken permits are kept and returned once', async () => {
    const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] });
    const raw = await openRaw(server.host, server.port);
    const name = newName();
    const [first, second, third] = [newId(), newId(), newId()];
    await raw.command('SET', name, '5');
    await acquire(name, [first, second], 60_000, raw);
    await raw.command('CONFIG', 'SET', 'maxmemory', '1');
    await expect(acquire(name, [third], 60_000, raw)).rejects.toThrow('OOM');
    expect(await renew([name], [first], 600_000, raw)).toEqual({ status: 'renewed', held: [1] });
    expect(Number(await raw.command('ZSCORE', setOf(name), first))).toBeGreaterThan(Date.now() + 400_000);
    expect(await release(name, first, 'c:1', raw)).toEqual({ status: 'released', announced: 1 });
    expect(await release(name, first, 'c:1', raw)).toEqual({ status: 'released', announced: 1 });
    expect(await undo(name, [second, third], raw)).toEqual({ status: 'returned', announced: 1 });
    expect(await raw.command('EXISTS', endedOf(name, third))).toBe(1);
    expect(await raw.command('GET', name)).toBe('5');
  });

  it('without permission to publish: the release counts and reports that no waiter was woken', async () => {
    const { server, connection: raw } = await openMute();
    const name = newName();
    const id = newId();
    await server.command('SET', name, '1');
    await acquire(name, [id], 60_000, raw);
    expect(await release(name, id, 'c:1', raw)).toEqual({ status: 'released', announced: 0 });
    expect(await server.command('GET', name)).toBe('1');
  });
});

bench.itCoversEveryWordOf('permit-semaphore');
