/** The scripts of the fair lock: what they answer, what they do to the queue, and whom they call. */
import { describe, expect, it } from 'vitest';
import {
  fairLockAcquire,
  fairLockForceRelease,
  fairLockGuardedAcquire,
  fairLockReclaim,
  fairLockRelease,
} from '../../src/scripts/generated.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { describeReclaim, PAST_GRACE_MS, RUNNING_GRACE_MS, whenSettled } from './support/reclaim.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

const LEASE_MS = 60_000;
const WAIT_MS = 300_000;
const SILENT_MS = 9_000;

/** Keys and channels, spelled by hand. */
const queueOf = (name: string) => `redisson_lock_queue:{${name}}`;
const timeoutsOf = (name: string) => `redisson_lock_timeout:{${name}}`;
const seenOf = (name: string) => `holdfast_lock_seen:{${name}}`;
const endedOf = (name: string, owner: string) => `redisson_unlock_latch:{${name}}:${owner}`;
const channelOf = (name: string) => `redisson_lock__channel:{${name}}`;
const ownChannelOf = (name: string, owner: string) => `${channelOf(name)}:${owner}`;

const queueKeys = (name: string) => ({
  queue: queueOf(name),
  timeouts: timeoutsOf(name),
  seen: seenOf(name),
});
const calling = (name: string) => ({ publish: 'PUBLISH', channel: channelOf(name), silentMs: SILENT_MS });

/** A name whose queue may be without expiry, as Redisson's rules demand. */
async function freshName(): Promise<string> {
  const name = bench.name();
  await bench.plant('DEL', queueOf(name));
  await bench.plant('DEL', timeoutsOf(name));
  return name;
}

interface Wish {
  leaseMs?: number;
  waitMs?: number;
}

function acquire(name: string, owner: string, { leaseMs = LEASE_MS, waitMs = WAIT_MS }: Wish = {}) {
  const keys = { lock: name, ...queueKeys(name), ended: endedOf(name, owner) };
  return bench.run(fairLockAcquire, keys, { owner, leaseMs, waitMs, ...calling(name) });
}

/** The same with the guard, in a grace that has just begun or is long over. */
function guarded(
  name: string,
  owner: string,
  graceMs: number,
  { leaseMs = LEASE_MS, waitMs = WAIT_MS }: Wish = {},
) {
  const guard = `holdfast_guard:${graceMs}:{${name}}`;
  bench.expectImmortal(guard);
  const keys = { lock: name, ...queueKeys(name), ended: endedOf(name, owner), guard };
  const args = { owner, leaseMs, waitMs, ...calling(name), graceMs, trusted: '' };
  return bench.run(fairLockGuardedAcquire, keys, args);
}

function release(name: string, owner: string) {
  const keys = { lock: name, ...queueKeys(name), ended: endedOf(name, owner) };
  return bench.run(fairLockRelease, keys, { owner, rememberMs: 30_000, ...calling(name) });
}

function forceRelease(name: string, holder: string, request: string) {
  const keys = { lock: name, ...queueKeys(name), answer: endedOf(name, request) };
  return bench.run(fairLockForceRelease, keys, { holder, rememberMs: 30_000, ...calling(name) });
}

function reclaim(name: string, owner: string, guard: string, leaseMs: number, graceMs: number) {
  const keys = { lock: name, ...queueKeys(name), ended: endedOf(name, owner), guard };
  return bench.run(fairLockReclaim, keys, { owner, count: 3, leaseMs, graceMs, trusted: '' });
}

async function serverNow(): Promise<number> {
  const [seconds, micros] = (await bench.command('TIME')) as [string, string];
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

async function queue(name: string): Promise<string[]> {
  return (await bench.command('LRANGE', queueOf(name), 0, -1)) as string[];
}

async function diesAt(name: string, waiter: string): Promise<number | null> {
  const score = await bench.command('ZSCORE', timeoutsOf(name), waiter);
  return score === null ? null : Number(score);
}

/** A waiter of Redisson's, by its formula: no note of ours. */
async function plantJava(name: string, waiter: string, time: number): Promise<void> {
  await bench.plant('RPUSH', queueOf(name), waiter);
  await bench.plant('ZADD', timeoutsOf(name), time, waiter);
}

/** As if nothing had been heard of the waiter for this long, and of others all the time. */
async function silence(name: string, waiter: string, silentForMs: number): Promise<void> {
  const now = await serverNow();
  const note = (await bench.hash(seenOf(name)))[waiter] ?? '';
  await bench.command('HSET', seenOf(name), waiter, note.replace(/^\d+/, String(now - silentForMs)));
  await bench.command('HSET', seenOf(name), 'everyone', `${now} 0`);
}

/** The queue, the times and the notes belong together. */
async function expectNoTrace(name: string): Promise<void> {
  expect(await bench.exists(queueOf(name))).toBe(false);
  expect(await bench.exists(timeoutsOf(name))).toBe(false);
  expect(await bench.exists(seenOf(name))).toBe(false);
}

/** What a script does within a few milliseconds, on a busy machine. */
function expectAbout(actual: number | null, expected: number): void {
  expect(actual).toBeGreaterThanOrEqual(expected - 3_000);
  expect(actual).toBeLessThanOrEqual(expected + 3_000);
}

describe('fair-lock/acquire', () => {
  it('takes a free lock without waiters: one field, count 1, the lease as TTL, no queue', async () => {
    const name = await freshName();
    expect(await acquire(name, 'c:1')).toEqual({ status: 'held' });
    expect(await bench.hash(name)).toEqual({ 'c:1': '1' });
    expectRunning(await bench.pttl(name), LEASE_MS);
    await expectNoTrace(name);
  });

  it('delivered twice, makes one hold and never shortens the lease', async () => {
    const name = await freshName();
    await acquire(name, 'c:1', { leaseMs: 60_000 });
    expect(await acquire(name, 'c:1', { leaseMs: 1_000 })).toEqual({ status: 'held' });
    expect(await bench.hash(name)).toEqual({ 'c:1': '1' });
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('queues waiters with the time-outs that Redisson computes', async () => {
    const name = await freshName();
    await acquire(name, 'c:1', { leaseMs: 30_000 });
    const now = await serverNow();
    const second = await acquire(name, 'c:2', { waitMs: 5_000 });
    expect(second).toEqual({ status: 'queued', lookAgainMs: expect.any(Number) });
    if (second.status === 'queued') expectRunning(second.lookAgainMs, 30_000);
    expect(await acquire(name, 'c:3')).toEqual({ status: 'queued', lookAgainMs: -1 });
    expect(await queue(name)).toEqual(['c:2', 'c:3']);
    expectAbout(await diesAt(name, 'c:2'), now + 35_000);
    expectAbout(await diesAt(name, 'c:3'), now + 335_000);
    expect(((await diesAt(name, 'c:3')) as number) - ((await diesAt(name, 'c:2')) as number)).toBe(300_000);
    expect(await bench.pttl(queueOf(name))).toBe(-1);
    expect(await bench.pttl(timeoutsOf(name))).toBe(-1);
    expect(await bench.pttl(seenOf(name))).toBeGreaterThan(335_000 - 3_000);
  });

  it('adds to the time-out of the last waiter, of either library', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    const javaDiesAt = (await serverNow()) + 77_000;
    await plantJava(name, 'java:7', javaDiesAt);
    await acquire(name, 'c:2', { waitMs: 5_000 });
    expect(await diesAt(name, 'c:2')).toBe(javaDiesAt + 5_000);
  });

  it('delivered twice, takes one place', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    for (let delivery = 1; delivery <= 3; delivery += 1) await acquire(name, 'c:2');
    await acquire(name, 'c:3');
    await acquire(name, 'c:2');
    expect(await queue(name)).toEqual(['c:2', 'c:3']);
    expect(await bench.command('ZCARD', timeoutsOf(name))).toBe(2);
  });

  it('does not queue a caller that does not wait', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    const busy = await acquire(name, 'c:2', { waitMs: 0 });
    expect(busy).toEqual({ status: 'busy', remainingMs: expect.any(Number) });
    if (busy.status === 'busy') expectRunning(busy.remainingMs, LEASE_MS);
    await expectNoTrace(name);
  });

  it('does not let a caller that does not wait overtake waiters', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await release(name, 'c:1');
    expect(await acquire(name, 'c:3', { waitMs: 0 })).toEqual({ status: 'busy', remainingMs: -2 });
    expect(await acquire(name, 'c:4')).toMatchObject({ status: 'queued' });
    expect(await queue(name)).toEqual(['c:2', 'c:4']);
    expect(await acquire(name, 'c:2')).toEqual({ status: 'held' });
  });

  it('subtracts exactly the added wait when the turn comes', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2', { waitMs: 5_000 });
    await acquire(name, 'c:3', { waitMs: 7_000 });
    await acquire(name, 'c:4', { waitMs: 9_000 });
    const [third, fourth] = [(await diesAt(name, 'c:3')) as number, (await diesAt(name, 'c:4')) as number];
    await release(name, 'c:1');
    // What it is asked with now does not count; what was added does.
    expect(await acquire(name, 'c:2', { waitMs: 1 })).toEqual({ status: 'held' });
    expect(await queue(name)).toEqual(['c:3', 'c:4']);
    expect(await diesAt(name, 'c:2')).toBeNull();
    expect(await diesAt(name, 'c:3')).toBe(third - 5_000);
    expect(await diesAt(name, 'c:4')).toBe(fourth - 5_000);
    expect(Object.keys(await bench.hash(seenOf(name))).sort()).toEqual(['c:3', 'c:4', 'everyone']);
  });

  it('moves the time-out of an active waiter with the clock', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await acquire(name, 'c:3');
    const before = (await diesAt(name, 'c:3')) as number;
    await silence(name, 'c:3', 5_000);
    await acquire(name, 'c:3');
    expectAbout(await diesAt(name, 'c:3'), before + 5_000);
    expect(await diesAt(name, 'c:3')).toBeGreaterThanOrEqual(before + 5_000);
  });

  it('repairs a time-out that another client’s arithmetic made too short', async () => {
    const name = await freshName();
    await acquire(name, 'c:1', { leaseMs: 30_000 });
    await acquire(name, 'c:2', { waitMs: 5_000 });
    await bench.command('ZINCRBY', timeoutsOf(name), -300_000, 'c:2');
    await acquire(name, 'c:2', { waitMs: 5_000 });
    expectAbout(await diesAt(name, 'c:2'), (await serverNow()) + 35_000);
    expect(await queue(name)).toEqual(['c:2']);
  });

  it('takes a new place when Redisson has dropped it', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await acquire(name, 'c:3');
    await bench.command('LPOP', queueOf(name));
    await bench.command('ZREM', timeoutsOf(name), 'c:2');
    expect(await acquire(name, 'c:2')).toEqual({ status: 'queued', lookAgainMs: -1 });
    expect(await queue(name)).toEqual(['c:3', 'c:2']);
  });

  it('after the owner has ended, takes neither the lock nor a place', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await release(name, 'c:1');
    expect(await acquire(name, 'c:1')).toEqual({ status: 'ended' });
    await acquire(name, 'c:9');
    await release(name, 'c:2');
    expect(await acquire(name, 'c:2')).toEqual({ status: 'ended' });
    expect(await bench.hash(name)).toEqual({ 'c:9': '1' });
    await expectNoTrace(name);
  });

  it.each([
    ['lock', (name: string) => name],
    ['queue', queueOf],
    ['timeouts', timeoutsOf],
    ['seen', seenOf],
  ])('is refused and takes nothing if the %s has another type', async (_what, keyOf) => {
    const name = await freshName();
    await plantJava(name, 'java:1', (await serverNow()) - 1);
    await bench.command('DEL', keyOf(name));
    await bench.plant('SET', keyOf(name), 'data');
    await expect(acquire(name, 'c:1')).rejects.toThrow(/WRONGTYPE /);
    expect(await bench.command('GET', keyOf(name))).toBe('data');
    expect(await bench.command('HEXISTS', name, 'c:1').catch(() => 0)).toBe(0);
    const places = await bench.command('LPOS', queueOf(name), 'c:1').catch(() => null);
    expect(places).toBeNull();
  });
});

describe('the sweep', () => {
  it('drops Redisson’s waiters after their time-out, and subtracts nothing', async () => {
    const name = await freshName();
    const now = await serverNow();
    await plantJava(name, 'java:1', now - 10);
    await plantJava(name, 'java:2', now - 5);
    await plantJava(name, 'java:3', now + 50_000);
    await plantJava(name, 'java:4', now - 1);
    expect(await acquire(name, 'c:1')).toMatchObject({ status: 'queued' });
    // Only from the head: behind a living one nobody is looked at.
    expect(await queue(name)).toEqual(['java:3', 'java:4', 'c:1']);
    expect(await diesAt(name, 'java:3')).toBe(now + 50_000);
    expect(await diesAt(name, 'java:1')).toBeNull();
  });

  it('keeps Redisson’s waiter at the head until its time-out, however quiet it is', async () => {
    const name = await freshName();
    await plantJava(name, 'java:1', (await serverNow()) + 1_000_000);
    expect(await acquire(name, 'c:1')).toMatchObject({ status: 'queued' });
    await silence(name, 'c:1', 0);
    expect(await acquire(name, 'c:2')).toMatchObject({ status: 'queued' });
    expect(await queue(name)).toEqual(['java:1', 'c:1', 'c:2']);
  });

  it('stops at a head without a time, as Redisson does', async () => {
    const name = await freshName();
    await bench.plant('RPUSH', queueOf(name), 'java:1');
    expect(await acquire(name, 'c:1')).toMatchObject({ status: 'queued' });
    expect(await queue(name)).toEqual(['java:1', 'c:1']);
  });

  it('drops silent holdfast waiters, subtracts their waits, and grants the next holdfast waiter at once', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2', { waitMs: 5_000 });
    await acquire(name, 'c:3', { waitMs: 7_000 });
    await acquire(name, 'c:4');
    await plantJava(name, 'java:5', 5_000_000_000_000);
    await release(name, 'c:1');
    await silence(name, 'c:2', SILENT_MS + 100);
    await silence(name, 'c:3', SILENT_MS + 100);
    expect(await acquire(name, 'c:4')).toEqual({ status: 'held' });
    expect(await queue(name)).toEqual(['java:5']);
    expect(await diesAt(name, 'java:5')).toBe(5_000_000_000_000 - 5_000 - 7_000 - WAIT_MS);
    expect(await bench.exists(seenOf(name))).toBe(false);
  });

  it('keeps a holdfast waiter that reported in time, even after Redisson’s time-out for it', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await release(name, 'c:1');
    await silence(name, 'c:2', SILENT_MS - 3_000);
    await bench.command('ZADD', timeoutsOf(name), 1, 'c:2');
    expect(await acquire(name, 'c:3')).toMatchObject({ status: 'queued' });
    expect(await queue(name)).toEqual(['c:2', 'c:3']);
  });

  it('does not drop the calling waiter, however long it was silent', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await acquire(name, 'c:3');
    await silence(name, 'c:2', 10 * SILENT_MS);
    expect(await acquire(name, 'c:2')).toMatchObject({ status: 'queued' });
    expect(await queue(name)).toEqual(['c:2', 'c:3']);
  });

  it('gives all waiters time again if all fell silent at once', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    for (const waiter of ['c:2', 'c:3', 'c:4']) await acquire(name, waiter);
    await release(name, 'c:1');
    for (const waiter of ['c:2', 'c:3', 'c:4']) await silence(name, waiter, 60_000);
    await bench.command('HSET', seenOf(name), 'everyone', `${(await serverNow()) - 60_000} 0`);
    expect(await acquire(name, 'c:4')).toMatchObject({ status: 'queued' });
    expect(await acquire(name, 'c:3')).toMatchObject({ status: 'queued' });
    expect(await queue(name)).toEqual(['c:2', 'c:3', 'c:4']);
    // That time, too, ends.
    await bench.command('HSET', seenOf(name), 'everyone', `${await serverNow()} ${(await serverNow()) - 1}`);
    expect(await acquire(name, 'c:3')).toEqual({ status: 'held' });
  });

  it('wakes a new head when it finds the lock free', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await plantJava(name, 'java:3', 5_000_000_000_000);
    await release(name, 'c:1');
    await silence(name, 'c:2', SILENT_MS + 100);
    const heard = await bench.listenTo(ownChannelOf(name, 'java:3'));
    expect(await acquire(name, 'c:4')).toMatchObject({ status: 'queued' });
    expect(await heard()).toEqual(['0']);
    expect(await queue(name)).toEqual(['java:3', 'c:4']);
  });
});

describe('the sweep of a release', () => {
  it('drops no waiter if only withdrawals arrived since all fell silent', async () => {
    const name = await freshName();
    const waiters = ['c:1', 'c:2', 'c:3', 'c:4', 'c:5'];
    await acquire(name, 'c:0');
    for (const waiter of waiters) await acquire(name, waiter);
    await release(name, 'c:0');
    // As if so much time had passed: what was noted then is older by that.
    const pass = async (ms: number) => {
      for (const [waiter, note] of Object.entries(await bench.hash(seenOf(name)))) {
        const times = waiter === 'everyone' ? /\d+/g : /^\d+/;
        const older = note.replace(times, (time) => String(Math.max(0, Number(time) - ms)));
        await bench.command('HSET', seenOf(name), waiter, older);
      }
    };
    await pass(60_000);
    for (const waiter of ['c:3', 'c:4', 'c:5']) {
      expect(await release(name, waiter)).toMatchObject({ status: 'left' });
      await pass(SILENT_MS * 0.6);
    }
    expect(await queue(name)).toEqual(['c:1', 'c:2']);
    expect(await acquire(name, 'c:2')).toMatchObject({ status: 'queued' });
    expect(await acquire(name, 'c:1')).toEqual({ status: 'held' });
  });
});

describe('fair-lock/guarded-acquire', () => {
  it('is fair-lock/acquire when the server is settled', async () => {
    await whenSettled(bench);
    const name = await freshName();
    expect(await guarded(name, 'c:1', PAST_GRACE_MS)).toEqual({ status: 'held' });
    expect(await guarded(name, 'c:2', PAST_GRACE_MS)).toMatchObject({ status: 'queued' });
    expect(await guarded(name, 'c:3', PAST_GRACE_MS, { waitMs: 0 })).toMatchObject({ status: 'busy' });
    await release(name, 'c:1');
    expect(await guarded(name, 'c:1', PAST_GRACE_MS)).toEqual({ status: 'ended' });
    expect(await guarded(name, 'c:2', PAST_GRACE_MS)).toEqual({ status: 'held' });
  });

  it('in a grace, queues a waiter and grants nothing; after the grace, grants the waiters in order', async () => {
    await whenSettled(bench);
    const name = await freshName();
    for (const waiter of ['c:1', 'c:2', 'c:1', 'c:3']) {
      const kept = await guarded(name, waiter, RUNNING_GRACE_MS);
      expect(kept).toEqual({
        status: 'grace',
        remainingMs: expect.any(Number),
        server: expect.stringMatching(/^[0-9a-f]{40}$/),
      });
    }
    expect(await bench.exists(name)).toBe(false);
    expect(await queue(name)).toEqual(['c:1', 'c:2', 'c:3']);
    expect(await guarded(name, 'c:2', PAST_GRACE_MS)).toMatchObject({ status: 'queued' });
    expect(await guarded(name, 'c:1', PAST_GRACE_MS)).toEqual({ status: 'held' });
  });

  it('in a grace, keeps an active waiter and drops a silent head', async () => {
    const name = await freshName();
    for (const waiter of ['c:1', 'c:2', 'c:3']) await guarded(name, waiter, RUNNING_GRACE_MS);
    const before = (await diesAt(name, 'c:2')) as number;
    for (const waiter of ['c:1', 'c:2']) await silence(name, waiter, SILENT_MS + 100);
    expect(await guarded(name, 'c:2', RUNNING_GRACE_MS)).toMatchObject({ status: 'grace' });
    expect(await queue(name)).toEqual(['c:2', 'c:3']);
    expectAbout(await diesAt(name, 'c:2'), before + SILENT_MS + 100 - WAIT_MS);
    const heardAt = Number((await bench.hash(seenOf(name)))['c:2']?.split(' ')[0]);
    expectAbout(heardAt, await serverNow());
  });

  it('in a grace, queues neither an owner that does not wait nor one that has ended', async () => {
    const name = await freshName();
    expect(await guarded(name, 'c:1', RUNNING_GRACE_MS, { waitMs: 0 })).toMatchObject({ status: 'grace' });
    await release(name, 'c:2');
    expect(await guarded(name, 'c:2', RUNNING_GRACE_MS)).toMatchObject({ status: 'grace' });
    await expectNoTrace(name);
  });

  it('in a grace, neither confirms nor queues an owner whose hold the server has', async () => {
    const name = await freshName();
    await acquire(name, 'c:1', { leaseMs: 30_000 });
    expect(await guarded(name, 'c:1', RUNNING_GRACE_MS)).toMatchObject({ status: 'grace' });
    expectRunning(await bench.pttl(name), 30_000);
    await expectNoTrace(name);
  });
});

describe('a free lock behind a head that does not ask', () => {
  it('tells the next waiter when the head counts as dead, and never 0', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await release(name, 'c:1');
    const next = await acquire(name, 'c:3');
    expect(next.status).toBe('queued');
    if (next.status === 'queued') {
      expect(next.lookAgainMs).toBeGreaterThan(SILENT_MS - 3_000);
      expect(next.lookAgainMs).toBeLessThanOrEqual(SILENT_MS + 1);
    }
    expect(await acquire(name, 'c:4')).toEqual({ status: 'queued', lookAgainMs: -1 });
  });

  it('tells the next waiter the same about a head of Redisson', async () => {
    const name = await freshName();
    await plantJava(name, 'java:1', (await serverNow()) + 20_000);
    const next = await acquire(name, 'c:1');
    if (next.status === 'queued') expectAbout(next.lookAgainMs, 20_000);
    await bench.command('ZREM', timeoutsOf(name), 'java:1');
    expect(await acquire(name, 'c:1')).toEqual({ status: 'queued', lookAgainMs: -1 });
  });

  it('lets the next waiter poll while the silent head is spared', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await release(name, 'c:1');
    await silence(name, 'c:2', SILENT_MS + 100);
    await bench.command(
      'HSET',
      seenOf(name),
      'everyone',
      `${await serverNow()} ${(await serverNow()) + 20_000}`,
    );
    expect(await acquire(name, 'c:3')).toEqual({ status: 'queued', lookAgainMs: -1 });
  });
});

describe('fair-lock/release', () => {
  it('frees the lock, whatever its count, and wakes the head on its own channel, once', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await bench.command('HSET', name, 'c:1', 3);
    await acquire(name, 'c:2');
    await acquire(name, 'c:3');
    const [head, next, all] = [
      await bench.listenTo(ownChannelOf(name, 'c:2')),
      await bench.listenTo(ownChannelOf(name, 'c:3')),
      await bench.listenTo(channelOf(name)),
    ];
    expect(await release(name, 'c:1')).toEqual({ status: 'released', announced: 1 });
    expect(await bench.exists(name)).toBe(false);
    expect(await release(name, 'c:1')).toEqual({ status: 'released', announced: 1 });
    expect([await head(), await next(), await all()]).toEqual([['0'], [], []]);
    expectRunning(await bench.pttl(endedOf(name, 'c:1')), 30_000);
  });

  it('sweeps first: wakes the first living waiter, not a dead one', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await plantJava(name, 'java:3', (await serverNow()) - 1);
    await acquire(name, 'c:4');
    await silence(name, 'c:2', SILENT_MS + 100);
    const [dead, over, living] = [
      await bench.listenTo(ownChannelOf(name, 'c:2')),
      await bench.listenTo(ownChannelOf(name, 'java:3')),
      await bench.listenTo(ownChannelOf(name, 'c:4')),
    ];
    expect(await release(name, 'c:1')).toEqual({ status: 'released', announced: 1 });
    expect([await dead(), await over(), await living()]).toEqual([[], [], ['0']]);
    expect(await queue(name)).toEqual(['c:4']);
  });

  it('never succeeds for a caller that does not hold the lock, whether it is free, taken or queued for', async () => {
    const name = await freshName();
    expect(await release(name, 'c:8')).toEqual({ status: 'lost' });
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    const heard = await bench.listenTo(ownChannelOf(name, 'c:2'));
    expect(await release(name, 'c:9')).toEqual({ status: 'lost' });
    expect(await release(name, 'c:9')).toEqual({ status: 'lost' });
    expect(await bench.hash(name)).toEqual({ 'c:1': '1' });
    await bench.command('DEL', name);
    expect(await release(name, 'c:1')).toEqual({ status: 'lost' });
    expect(await heard()).toEqual([]);
    expect(await queue(name)).toEqual(['c:2']);
  });

  it('repeated after the next owner took the lock, does not change it', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await release(name, 'c:1');
    await acquire(name, 'c:2');
    expect(await release(name, 'c:1')).toEqual({ status: 'released', announced: 1 });
    expect(await bench.hash(name)).toEqual({ 'c:2': '1' });
  });

  it('removes a waiter from the queue and subtracts exactly its wait from the waiters behind it', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2', { waitMs: 5_000 });
    await acquire(name, 'c:3', { waitMs: 7_000 });
    await acquire(name, 'c:4', { waitMs: 9_000 });
    const times = async () => [await diesAt(name, 'c:2'), await diesAt(name, 'c:4')] as [number, number];
    const [second, fourth] = await times();
    const heard = await bench.listenTo(ownChannelOf(name, 'c:2'));
    for (const status of ['left', 'lost']) expect(await release(name, 'c:3')).toMatchObject({ status });
    expect(await queue(name)).toEqual(['c:2', 'c:4']);
    expect(await times()).toEqual([second, fourth - 7_000]);
    // Somebody holds it: there is nothing to be called for.
    expect(await heard()).toEqual([]);
    expect(await acquire(name, 'c:3')).toEqual({ status: 'ended' });
  });

  it('of a head that gives up while the lock is free wakes the new head', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await acquire(name, 'c:3');
    await release(name, 'c:1');
    const heard = await bench.listenTo(ownChannelOf(name, 'c:3'));
    expect(await release(name, 'c:2')).toEqual({ status: 'left', announced: 1 });
    expect(await heard()).toEqual(['0']);
    expect(await acquire(name, 'c:3')).toEqual({ status: 'held' });
    await expectNoTrace(name);
  });

  it('of the last waiter leaves nothing', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    expect(await release(name, 'c:2')).toEqual({ status: 'left', announced: 1 });
    await expectNoTrace(name);
  });
});

describe('fair-lock/force-release', () => {
  it('ends the hold of the named owner and wakes the first living waiter, once', async () => {
    const name = await freshName();
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    await acquire(name, 'c:3');
    await silence(name, 'c:2', SILENT_MS + 100);
    const heard = await bench.listenTo(ownChannelOf(name, 'c:3'));
    expect(await forceRelease(name, 'c:1', 'r:1')).toEqual({ status: 'ended', announced: 1 });
    expect(await acquire(name, 'c:3')).toEqual({ status: 'held' });
    expect(await forceRelease(name, 'c:1', 'r:1')).toEqual({ status: 'ended', announced: 1 });
    expect(await forceRelease(name, 'c:1', 'r:2')).toEqual({ status: 'ended', announced: 1 });
    expect(await bench.hash(name)).toEqual({ 'c:3': '1' });
    expect(await heard()).toEqual(['0']);
  });

  it.each(['ended', 'found gone'])(
    'repeated, does not end the next hold of an owner that it %s',
    async (how) => {
      const name = await freshName();
      const plantJava = async () => {
        await bench.plant('HSET', name, 'java:7', '1');
        await bench.command('PEXPIRE', name, LEASE_MS);
      };
      if (how === 'ended') await plantJava();
      await forceRelease(name, 'java:7', 'r:1');
      await plantJava();
      expect(await forceRelease(name, 'java:7', 'r:1')).toEqual({ status: 'ended', announced: 1 });
      expect(await bench.hash(name)).toEqual({ 'java:7': '1' });
    },
  );

  it('does not change a key of another kind', async () => {
    const name = await freshName();
    await bench.plant('SET', name, 'data');
    await expect(forceRelease(name, 'c:1', 'r:1')).rejects.toThrow(/WRONGTYPE /);
    expect(await bench.command('GET', name)).toBe('data');
  });
});

describeWithProcess('a server without memory to spare', () => {
  it('refuses new waiters, keeps present ones, and releases everything', async () => {
    const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] });
    const connection = await openRaw(server.host, server.port);
    const keysOf = (owner: string) => ({ lock: 'n', ...queueKeys('n'), ended: endedOf('n', owner) });
    const take = (owner: string) =>
      bench.run(
        fairLockAcquire,
        keysOf(owner),
        { owner, leaseMs: LEASE_MS, waitMs: WAIT_MS, ...calling('n') },
        connection,
      );
    const end = (owner: string) =>
      bench.run(fairLockRelease, keysOf(owner), { owner, rememberMs: 30_000, ...calling('n') }, connection);
    for (const owner of ['c:1', 'c:2', 'c:3', 'c:4']) await take(owner);
    await server.command('CONFIG', 'SET', 'maxmemory', '1');

    await expect(take('c:5')).rejects.toThrow(/OOM /);
    expect(await take('c:2')).toMatchObject({ status: 'queued' });
    expect(await end('c:3')).toEqual({ status: 'left', announced: 1 });
    expect(await end('c:1')).toEqual({ status: 'released', announced: 1 });
    expect(await connection.command('LRANGE', queueOf('n'), 0, -1)).toEqual(['c:2', 'c:4']);
    expect(await connection.command('EXISTS', 'n')).toBe(0);
  });
});

describeReclaim(bench, {
  title: 'fair-lock/reclaim',
  reclaim: ({ name, owner, guard, leaseMs, graceMs }) => reclaim(name, owner, guard, leaseMs, graceMs),
  plantOther: (name) => bench.plant('HSET', name, 'c:2', 1),
  isHeldBy: async (name, owner) => (await bench.hash(name))[owner] === '3',
});

describe('fair-lock/reclaim', () => {
  it('removes a holder from the queue it was in on the old data, so that the next waiter is woken', async () => {
    const name = await freshName();
    const guard = `holdfast_guard:{${name}}`;
    bench.expectImmortal(guard);
    expect(await acquire(name, 'c:9')).toEqual({ status: 'held' });
    await acquire(name, 'c:1');
    await acquire(name, 'c:2');
    const before = await diesAt(name, 'c:2');
    // What the others had never reached this server.
    await bench.command('DEL', name);
    expect(await reclaim(name, 'c:1', guard, LEASE_MS, RUNNING_GRACE_MS)).toEqual({ status: 'held' });
    expect(await queue(name)).toEqual(['c:2']);
    expect((await diesAt(name, 'c:2')) as number).toBe((before as number) - WAIT_MS);
    const heard = await bench.listenTo(ownChannelOf(name, 'c:2'));
    expect(await release(name, 'c:1')).toMatchObject({ status: 'released' });
    expect(await heard()).toEqual(['0']);
  });
});

bench.itCoversEveryWordOf('fair-lock');
