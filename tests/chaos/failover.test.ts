/**
 * A primary dies, and a replica takes its place that lacks the lock it granted, or has it; or a server restarts and has
 * forgotten it.
 *
 * Each fault is shown from both sides: without the guard the lock is granted twice, whatever is asked of replicas where
 * that does not prevent the grant; with it the holder keeps it and the stranger waits.
 */
import { describe, expect, it } from 'vitest';
import type { ClientOptions, FencedHold, Hold, Holdfast, Lock } from '../../src/index.ts';
import { fairQueueKey, readHoldKey } from '../../src/keys.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { cutReplication } from '../harness/cut-replication.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { join, listenTo } from './support/arena.ts';
import {
  ACKNOWLEDGED_MODES,
  APPENDING,
  BY_DEFAULT,
  GRACE_MS,
  GUARDED,
  MODES,
  rememberLog,
  restartStage,
  restartWithCutLog,
  stage,
  take,
  UNGUARDED,
  UNGUARDED_MODES,
} from './support/failover-stage.ts';

/** Renewed, but long enough that the failover is over well before the holder knows that it is not any more. */
const RENEWED_MS = 6_000;

/** Each way; there and back is well within the time that replicas have. */
const LINK_MS = 300;

/** Fair waiters ask again after two and a half seconds at the earliest. */
const SOONER_THAN_A_FAIR_POLL_MS = 2_000;

interface Kind {
  readonly title: string;
  get(client: Holdfast, name: string): Lock;
  /** What a stranger asks for, where that is another side. */
  ask?(client: Holdfast, name: string): Lock;
}

const readSide = (client: Holdfast, name: string) => client.getReadWriteLock(name).readLock();
const writeSide = (client: Holdfast, name: string) => client.getReadWriteLock(name).writeLock();

const KINDS: readonly Kind[] = [
  { title: 'getLock', get: (client, name) => client.getLock(name) },
  { title: 'getFairLock', get: (client, name) => client.getFairLock(name) },
  { title: 'getFencedLock', get: (client, name) => client.getFencedLock(name) },
  { title: 'getSimpleLock', get: (client, name) => client.getSimpleLock(name) },
  { title: 'the write side', get: writeSide },
  { title: 'the write side, asked to read', get: writeSide, ask: readSide },
  { title: 'the read side, asked to write', get: readSide, ask: writeSide },
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
  describe.each(KINDS)('$title', ({ get, ask = get }) => {
    it('without the guard, the lock is granted twice', async () => {
      const staged = await stage();
      const [a, b] = [await staged.client(UNGUARDED), await staged.client(UNGUARDED)];
      const name = randomName('failover');
      await staged.whenInSync();
      staged.cutReplication();
      const hold = await take(get(a, name));
      await staged.failOver();
      const second = await ask(b, name).lock();
      // Both believe to be alone: this is what the guard is there for.
      expect([hold.signal.aborted, second.signal.aborted]).toEqual([false, false]);
      hold.assertHeld();
      second.assertHeld();
    });

    it('with the guard, the lock stays with its holder without an event, and another owner waits', async () => {
      const staged = await stage();
      const [a, b] = [await staged.client(GUARDED), await staged.client(GUARDED)];
      const events = listenTo(a);
      const name = randomName('failover');
      await staged.whenInSync();
      staged.cutReplication();
      const hold = await take(get(a, name));
      expect(await staged.promoted.command('EXISTS', name)).toBe(0);
      await staged.failOver();
      const entering = enter(ask(b, name));

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

  it('by default, a replica that had left is not required: without the guard, the lock is granted twice', async () => {
    const staged = await stage();
    const { options } = BY_DEFAULT;
    const [a, b] = [await staged.client(options), await staged.client(options)];
    const name = randomName('failover');
    await staged.whenInSync();
    await cutReplication(staged.primary);
    const hold = await take(a.getLock(name));
    await staged.failOver();
    const second = await b.getLock(name).lock();
    hold.assertHeld();
    second.assertHeld();
  });

  it('with the guard, a hold released before its reclaim counts as held until then', async () => {
    const staged = await stage();
    const client = await staged.client(GUARDED);
    const lock = client.getLock(randomName('failover'));
    staged.cutReplication();
    const hold = await take(lock);
    await staged.failOver();
    expect(await hold.unlock()).toBe(true);
    expect(await lock.isLocked()).toBe(false);
  });

  it('with the guard, the client reclaims a hold with leaseMs for the rest of its lease', async () => {
    const staged = await stage();
    const client = await staged.client(GUARDED);
    const lock = client.getLock(randomName('failover'));
    staged.cutReplication();
    const leaseMs = 6 * GRACE_MS;
    const from = performance.now();
    const hold = await lock.lock({ leaseMs });
    await staged.failOver();
    await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
    hold.assertHeld();
    const leftMs = await lock.getRemainingMs();
    expect(leftMs).toBeGreaterThanOrEqual(Math.floor(leaseMs - (performance.now() - from)));
    // The lease that is left goes on at the new primary from when the command arrives there.
    expect(leftMs).toBeLessThanOrEqual(leaseMs - GRACE_MS / 2);
    expect(await hold.unlock()).toBe(true);
  });

  it('with the guard, the client reclaims a re-entered hold with its count, and a fenced hold with its token', async () => {
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

  it('with the guard, several readers reclaim their holds, each with its entries', async () => {
    const staged = await stage();
    const [client, other] = [await staged.client(GUARDED), await staged.client(GUARDED)];
    const name = randomName('failover');
    const owner = client.owner();
    staged.cutReplication();
    const outer = await readSide(client, name).lock({ owner });
    const inner = await readSide(client, name).lock({ owner });
    const beside = await take(readSide(other, name));
    await staged.failOver();
    const readers = { mode: 'read', [outer.owner]: '2', [beside.owner]: '1' };
    await eventually(async () => expect(await staged.fieldsOf(name)).toEqual(readers));
    const entries = [
      readHoldKey(name, outer.owner, 1),
      readHoldKey(name, outer.owner, 2),
      readHoldKey(name, beside.owner, 1),
    ];
    expect(await staged.promoted.command('EXISTS', ...entries)).toBe(entries.length);
    for (const hold of [inner, outer, beside]) expect(await hold.unlock()).toBe(true);
    expect(await staged.promoted.command('EXISTS', name, ...entries)).toBe(0);
  });

  it('with the guard, a writer that also reads reclaims both holds, and keeps reading after its write unlock', async () => {
    const staged = await stage();
    const [client, stranger] = [await staged.client(GUARDED), await staged.client(GUARDED)];
    const name = randomName('failover');
    const owner = client.owner();
    staged.cutReplication();
    const writing = await writeSide(client, name).lock({ owner });
    const reading = await readSide(client, name).lock({ owner });
    await staged.failOver();
    const both = { mode: 'write', [writing.owner]: '1', [reading.owner]: '1' };
    await eventually(async () => expect(await staged.fieldsOf(name)).toEqual(both));
    // Once it can have this one, the grace keeps it from nothing.
    await stranger.getLock(randomName('failover')).lock();
    expect(await readSide(stranger, name).tryLock()).toBeNull();
    expect(await writing.unlock()).toBe(true);
    const beside = await take(readSide(stranger, name));
    expect(await beside.unlock()).toBe(true);
    expect(await writeSide(stranger, name).tryLock()).toBeNull();
    reading.assertHeld();
    expect(await reading.unlock()).toBe(true);
    expect(await staged.promoted.command('EXISTS', name)).toBe(0);
  });

  it('with the guard, a fair holder that is still queued on the replica leaves the queue, and the next waiter is woken', async () => {
    const staged = await stage();
    const clients = [
      await staged.client(GUARDED),
      await staged.client(GUARDED),
      await staged.client(GUARDED),
    ];
    const name = randomName('failover');
    const [before, first, next] = clients.map((client) => client.getFairLock(name)) as [Lock, Lock, Lock];
    const queueOn = (server: TestServer) => server.command('LRANGE', fairQueueKey(name), 0, -1);
    const whenWaiting = (waiters: number) =>
      eventually(async () => expect(await queueOn(staged.primary)).toHaveLength(waiters));
    // It is not released but ends, which the replica knows of without being told.
    await before.lock({ leaseMs: GRACE_MS });
    const entering = first.lock();
    await whenWaiting(1);
    const waiting = enter(next);
    await whenWaiting(2);
    await staged.whenInSync();
    staged.cutReplication();
    const hold = await entering;
    const queue = (await queueOn(staged.promoted)) as [string, string];
    expect(queue[0]).toBe(hold.owner);
    await staged.failOver();

    await eventually(async () => expect(await queueOn(staged.promoted)).toEqual([queue[1]]));
    expect(await staged.fieldsOf(name)).toEqual({ [hold.owner]: '1' });
    // Once it can have this one, the grace keeps it from nothing.
    await clients[2]?.getLock(randomName('failover')).lock();
    const left = performance.now();
    expect(await hold.unlock()).toBe(true);
    const { hold: second, from } = await waiting;
    expect(from).toBeGreaterThanOrEqual(left);
    expect(from - left).toBeLessThan(SOONER_THAN_A_FAIR_POLL_MS);
    expect(second.owner).toBe(queue[1]);
    expect(await second.unlock()).toBe(true);
  });

  it('with the guard, the signal of a holder aborts if the new primary has an older hold in its place', async () => {
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

describeWithProcess('the primary dies when a replica has the lock', () => {
  it.each(MODES)('$mode: the lock is still held when that replica takes over', async ({ options }) => {
    const staged = await stage();
    await whenAcknowledging(staged.primary, 1);
    const [a, b] = [await staged.client(options), await staged.client(options)];
    const events = listenTo(a);
    const name = randomName('failover');
    const hold = await take(a.getLock(name));
    await staged.whenInSync();
    await staged.failOver();
    expect(await staged.promoted.command('HGETALL', name)).toEqual([hold.owner, '1']);
    expect(await b.getLock(name).tryLock()).toBeNull();
    hold.assertHeld();
    expect(events.lost).toEqual([]);
    expect(await hold.unlock()).toBe(true);
  });

  describe('over a slow link', () => {
    /** One holds it, and is told so in the last moment of the primary: what is still under way then never arrives. */
    const takenAtLast = async (options: ClientOptions) => {
      const staged = await stage();
      await whenAcknowledging(staged.primary, 1);
      const [a, b] = [await staged.client(options), await staged.client(options)];
      const name = randomName('failover');
      staged.delayReplication(LINK_MS);
      const hold = await take(a.getLock(name));
      staged.cutReplication();
      await staged.failOver();
      return { hold, lock: b.getLock(name) };
    };

    it.each(ACKNOWLEDGED_MODES)(
      '$mode: the grant waited for the replica, which has the lock',
      async ({ options }) => {
        const { hold, lock } = await takenAtLast(options);
        expect(await lock.tryLock()).toBeNull();
        hold.assertHeld();
        expect(await hold.unlock()).toBe(true);
      },
    );

    it('without the guard, if the grant does not wait for the replica, the lock is granted twice', async () => {
      const { hold, lock } = await takenAtLast(UNGUARDED);
      const second = await take(lock);
      hold.assertHeld();
      second.assertHeld();
    });
  });

  it.each(UNGUARDED_MODES)(
    '$mode: when another replica takes over, without the guard the lock is granted twice',
    async ({ options }) => {
      const staged = await stage(2);
      await whenAcknowledging(staged.primary, 2);
      const [a, b] = [await staged.client(options), await staged.client(options)];
      const name = randomName('failover');
      staged.cutReplication();
      const hold = await take(a.getLock(name));
      await staged.failOver();
      const second = await b.getLock(name).lock();
      hold.assertHeld();
      second.assertHeld();
    },
  );

  it('and its renewals reach no replica for a lease: without the guard, the lock is granted twice, in every mode', async () => {
    const staged = await stage(2);
    await whenAcknowledging(staged.primary, 2);
    const holds = await Promise.all(
      UNGUARDED_MODES.map(async ({ mode, options }) => {
        const a = await staged.loyalClient({ ...options, watchdogMs: RENEWED_MS });
        const b = await staged.client(options);
        const name = randomName('failover');
        return { mode, hold: await take(a.getLock(name)), lock: b.getLock(name) };
      }),
    );
    await staged.whenInSync();
    staged.cutAllReplication();
    await eventually(
      async () => {
        for (const { hold } of holds) expect(await staged.promoted.command('EXISTS', hold.name)).toBe(0);
      },
      { withinMs: 2 * RENEWED_MS },
    );
    await staged.failOver();
    for (const { mode, hold, lock } of holds) {
      const second = await take(lock);
      expect([hold.signal.aborted, second.signal.aborted], mode).toEqual([false, false]);
      hold.assertHeld();
      second.assertHeld();
    }
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
      // Refused while the server still saves for its replicas.
      keep: (server) => eventually(() => server.command('SAVE')),
      restart,
    },
    { title: 'with a log whose tail is cut', args: APPENDING, keep: rememberLog, restart: restartWithCutLog },
  ];

  const UNPROTECTED = FORGETFUL.flatMap((how) => UNGUARDED_MODES.map((mode) => ({ ...how, ...mode })));

  it.each(UNPROTECTED)('$title, $mode: without the guard the lock is granted twice', async (how) => {
    const { server, way } = await restartStage(how.args, how.needs);
    const [a, b] = [
      await join('Holdfast.connect', way.proxy, how.options),
      await join('Holdfast.connect', way.proxy, how.options),
    ];
    const name = randomName('restart');
    await how.keep?.(server);
    const hold = await take(a.getLock(name));
    await how.restart(server);
    // Replicas forget with their primary.
    await whenAcknowledging(server, how.needs);
    const second = await b.getLock(name).lock();
    hold.assertHeld();
    second.assertHeld();
  });

  it.each(FORGETFUL)('$title: with the guard the lock stays with its holder', async (how) => {
    const { server, way } = await restartStage(how.args);
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
