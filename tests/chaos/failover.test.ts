/**
 * A primary dies before its replica has the lock that it granted, and the replica takes its place.
 *
 * Each fault is shown from both sides: without the guard the lock is granted twice, with it the holder keeps it and
 * the stranger waits.
 */
import { describe, expect, it } from 'vitest';
import type { FencedHold, Hold, Holdfast, Lock } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { whenAcknowledging } from './acknowledging.ts';
import { join, listenTo } from './arena.ts';
import {
  APPENDING,
  GRACE_MS,
  GUARDED,
  loneStage,
  rememberLog,
  restartWithCutLog,
  stage,
  take,
  UNGUARDED,
} from './failover-stage.ts';

const ACKNOWLEDGED = { ...UNGUARDED, replicas: 1, replicaTimeoutMs: 500, commandTimeoutMs: 3_000 };

interface Kind {
  readonly title: string;
  get(client: Holdfast, name: string): Lock;
}

const KINDS: readonly Kind[] = [
  { title: 'getLock', get: (client, name) => client.getLock(name) },
  { title: 'getFairLock', get: (client, name) => client.getFairLock(name) },
  { title: 'getFencedLock', get: (client, name) => client.getFencedLock(name) },
  { title: 'getSimpleLock', get: (client, name) => client.getSimpleLock(name) },
  { title: 'the write side', get: (client, name) => client.getReadWriteLock(name).writeLock() },
];

/** When a hold began, and that it lasts until it is said to end. */
interface Window {
  readonly hold: Hold;
  readonly from: number;
}

async function enter(lock: Lock): Promise<Window> {
  const hold = await lock.lock();
  return { hold, from: performance.now() };
}

describeWithProcess('the primary dies before the lock is replicated', () => {
  describe.each(KINDS)('$title', ({ get }) => {
    it('without the guard, is granted twice', async () => {
      const staged = await stage();
      const [a, b] = [await staged.client(UNGUARDED), await staged.client(UNGUARDED)];
      const name = randomName('failover');
      await staged.whenInSync();
      staged.cutReplication();
      const hold = await take(get(a, name));
      await staged.failOver();
      const second = await get(b, name).lock();
      // Both believe to be alone: this is what the guard is there for.
      expect([hold.signal.aborted, second.signal.aborted]).toEqual([false, false]);
      hold.assertHeld();
      second.assertHeld();
    });

    it('with the guard, stays with its holder, who does not notice, and the stranger waits', async () => {
      const staged = await stage();
      const [a, b] = [await staged.client(GUARDED), await staged.client(GUARDED)];
      const events = listenTo(a);
      const name = randomName('failover');
      await staged.whenInSync();
      staged.cutReplication();
      const hold = await take(get(a, name));
      await staged.failOver();
      const entering = enter(get(b, name));

      // Longer than any lease: only renewals, and before them a hold that came back, can have kept it.
      const leaseOver = new Promise((resolve) => setTimeout(resolve, 2 * GRACE_MS));
      expect(await Promise.race([entering, leaseOver])).toBeUndefined();
      hold.assertHeld();
      expect(events.lost).toEqual([]);
      const left = performance.now();
      expect(await hold.unlock()).toBe(true);
      const { hold: second, from } = await entering;
      expect(from).toBeGreaterThanOrEqual(left);
      expect(await second.unlock()).toBe(true);
    });
  });

  it('acknowledged by the replica, is still there when that one takes over', async () => {
    const staged = await stage();
    const [a, b] = [await staged.client(ACKNOWLEDGED), await staged.client(ACKNOWLEDGED)];
    const name = randomName('failover');
    await whenAcknowledging(staged.primary, 1);
    const hold = await take(a.getLock(name));
    await staged.failOver();
    expect(await b.getLock(name).tryLock()).toBeNull();
    hold.assertHeld();
    expect(await hold.unlock()).toBe(true);
  });

  it('with the guard, a hold that ends before it could come back ends as one that was held', async () => {
    const staged = await stage();
    const client = await staged.client(GUARDED);
    const lock = client.getLock(randomName('failover'));
    staged.cutReplication();
    const hold = await take(lock);
    await staged.failOver();
    expect(await hold.unlock()).toBe(true);
    expect(await lock.isLocked()).toBe(false);
  });

  it('with the guard, a hold with a lease of its own comes back with what is left of it', async () => {
    const staged = await stage();
    const client = await staged.client(GUARDED);
    const lock = client.getLock(randomName('failover'));
    staged.cutReplication();
    const leaseMs = 3 * GRACE_MS;
    const hold = await lock.lock({ leaseMs });
    await staged.failOver();
    await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
    hold.assertHeld();
    const leftMs = await lock.remainingMs();
    expect(leftMs).toBeGreaterThan(leaseMs - 2 * GRACE_MS);
    expect(leftMs).toBeLessThanOrEqual(leaseMs - GRACE_MS);
    expect(await hold.unlock()).toBe(true);
  });

  it('with the guard, an entry comes back with its count, and a token with its number', async () => {
    const staged = await stage();
    const client = await staged.client(GUARDED);
    const lock = client.getFencedLock(randomName('failover'));
    const owner = client.owner();
    staged.cutReplication();
    const outer = await lock.lock({ owner });
    await lock.lock({ owner });
    await staged.failOver();
    const third = await lock.lock({ owner });
    expect(third.token).toBe(outer.token);
    expect(await lock.getHoldCount({ owner })).toBe(3);
    expect(await staged.promoted.command('HGET', lock.name, outer.owner)).toBe('3');
    expect(await lock.getToken()).toBe(outer.token);
    for (let entries = 3; entries > 0; entries -= 1) await lock.unlock({ owner });
    expect(await staged.promoted.command('EXISTS', lock.name)).toBe(0);
  });

  it('with the guard, who finds an older hold in its place is told', async () => {
    const staged = await stage();
    const client = await staged.client(GUARDED);
    const lock = client.getLock(randomName('failover'));
    const before = await take(lock);
    await staged.whenInSync();
    staged.cutReplication();
    await before.unlock();
    const hold = await take(lock);
    await staged.failOver();
    const reason = await new Promise((resolve) => {
      hold.signal.addEventListener('abort', () => resolve(hold.signal.reason));
    });
    expect(reason).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'failover' });
  });
});

describeWithProcess('a server restarts and has forgotten the lock', () => {
  interface Forgetful {
    readonly title: string;
    readonly args: readonly string[];
    /** Before the lock is granted. */
    keep?(server: TestServer): Promise<unknown>;
    /** Restarts it, and what was granted since is gone. */
    restart(server: TestServer): Promise<void>;
  }

  const restart = (server: TestServer) => server.restart();
  const FORGETFUL: readonly Forgetful[] = [
    { title: 'without persistence', args: ['--save', '', '--appendonly', 'no'], restart },
    {
      title: 'with an older snapshot',
      args: ['--save', ''],
      keep: (server) => server.command('SAVE'),
      restart,
    },
    { title: 'with a log whose tail is cut', args: APPENDING, keep: rememberLog, restart: restartWithCutLog },
  ];

  it.each(FORGETFUL)('$title: without the guard it is granted twice', async (how) => {
    const { server, way } = await loneStage(how.args);
    const [a, b] = [
      await join('Holdfast.connect', way.proxy, UNGUARDED),
      await join('Holdfast.connect', way.proxy, UNGUARDED),
    ];
    const name = randomName('restart');
    await how.keep?.(server);
    const hold = await take(a.getLock(name));
    await how.restart(server);
    const second = await b.getLock(name).lock();
    hold.assertHeld();
    second.assertHeld();
  });

  it.each(FORGETFUL)('$title: with the guard it stays with its holder', async (how) => {
    const { server, way } = await loneStage(how.args);
    const [a, b] = [
      await join('Holdfast.connect', way.proxy, GUARDED),
      await join('Holdfast.connect', way.proxy, GUARDED),
    ];
    const name = randomName('restart');
    await how.keep?.(server);
    const hold = (await take(a.getFencedLock(name))) as FencedHold;
    await how.restart(server);
    const entering = enter(b.getFencedLock(name));
    const longer = new Promise((resolve) => setTimeout(resolve, 2 * GRACE_MS));
    expect(await Promise.race([entering, longer])).toBeUndefined();
    hold.assertHeld();
    const left = performance.now();
    expect(await hold.unlock()).toBe(true);
    const { hold: second, from } = await entering;
    expect(from).toBeGreaterThanOrEqual(left);
    expect((second as FencedHold).token).toBeGreaterThan(hold.token);
  });
});
