/** The fair lock: everything a lock does, in the order people came, together with Redisson's waiters. */
import { describe, expect, it } from 'vitest';
import { AcquireTimeoutError, ClosedError, type Hold, NotHeldError, ReentryError } from '../../src/index.ts';
import type { RawView } from '../harness/cluster-connection.ts';
import { randomName } from '../harness/names.ts';
import { itWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { describeAbort } from './parts/abort.ts';
import { describeHold } from './parts/hold.ts';
import { describeLease } from './parts/lease.ts';
import { describeMutualExclusion } from './parts/mutual-exclusion.ts';
import { describeReentry } from './parts/reentry.ts';
import { describeSections } from './parts/sections.ts';
import { describeWaiting } from './parts/waiting.ts';
import { describeWithLock } from './parts/with-lock.ts';
import { type Context, describeThrough, onOneServer } from './support/context.ts';
import {
  FairByHand,
  ownChannelOf,
  queueIn,
  queueOf,
  seenOf,
  timeoutsOf,
  traceIn,
} from './support/fair-lock-by-hand.ts';
import type { Kind } from './support/kinds.ts';
import { rejection, timed } from './support/moments.ts';
import { commandCounts, resetCounts } from './support/server-stats.ts';

/** Below the shortest time after which a waiter that heard nothing would look again by itself. */
const BEFORE_POLL_MS = 1_800;

/** Its waiters listen on channels of their own, so the suites must not look for them on the common one. */
const FAIR: Kind = {
  title: 'getFairLock',
  kind: 'fair',
  isReentrant: true,
  listens: false,
  layout: 'hash',
  of: (client, name) => client.getFairLock(name),
};

const NON_REENTRANT_FAIR: Kind = {
  ...FAIR,
  title: 'getNonReentrantFairLock',
  kind: 'fair',
  isReentrant: false,
  of: (client, name) => client.getNonReentrantFairLock(name),
};

/** Waiters that are only planted: they listen nowhere. */
const OUTSIDERS = ['java:1'];

/** Resolves with the queue once this many wait, each of ours with its subscription acknowledged. */
async function untilQueued(raw: RawView, name: string, waiters: number): Promise<string[]> {
  let queue: string[] = [];
  await eventually(async () => {
    queue = (await queueIn(raw, name)).filter((owner) => !OUTSIDERS.includes(owner));
    if (queue.length !== waiters) return false;
    const channels = queue.map((owner) => ownChannelOf(name, owner));
    const replies = (await raw.command('PUBSUB', 'NUMSUB', ...channels)) as (string | number)[];
    return replies.filter((_, i) => i % 2 === 1).every((count) => Number(count) === 1);
  });
  return queue;
}

async function diesAt(raw: RawView, name: string, owner: string): Promise<number> {
  return Number(await raw.command('ZSCORE', timeoutsOf(name), owner));
}

function describeFairLock(context: Context): void {
  for (const kind of [FAIR, NON_REENTRANT_FAIR]) {
    describe(kind.title, () => {
      describeMutualExclusion(context, kind);
      describeWaiting(context, kind);
      describeLease(context, kind);
      describeHold(context, kind);
      describeWithLock(context, kind);
      describeAbort(context, kind);
    });
  }
  describeReentry(context, FAIR);
  describeSections(context, FAIR);
  describeOrder(context);
  describeLeaving(context);
  describeRelease(context);
  describePatience(context);
}

function describeOrder(context: Context): void {
  describe('the order', () => {
    it('is the order in which waiters join, across processes', async () => {
      const clients = await Promise.all([1, 2, 3].map(() => context.client()));
      const raw = await context.raw();
      const name = randomName();
      const [first] = clients;
      const hold = (await first?.getFairLock(name).lock()) as Hold;
      const served: string[] = [];
      const waiters: Promise<void>[] = [];
      for (let i = 0; i < 12; i += 1) {
        const lock = clients[i % 3]?.getFairLock(name);
        const waiter = lock?.withLock((held) => served.push(held.owner)) as Promise<unknown> as Promise<void>;
        waiters.push(waiter);
        await eventually(async () => (await queueIn(raw, name)).length === i + 1);
      }
      const joined = await queueIn(raw, name);
      await hold.unlock();
      await Promise.all(waiters);
      expect(served).toEqual(joined);
      expect(await traceIn(raw, name)).toEqual([]);
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it("includes Redisson's waiters: each side wakes the other", async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const hold = await ours.getFairLock(name).lock();
      const served: string[] = [];
      const joined: string[] = [];
      const waiters: Promise<unknown>[] = [];
      for (let i = 0; i < 8; i += 1) {
        if (i % 2 === 0) {
          const java = await FairByHand.meet(context, name);
          const turn = java.untilHeld().then(async () => {
            served.push(java.owner);
            await java.unlock();
          });
          waiters.push(turn);
        } else {
          const lock = (i % 4 === 1 ? ours : theirs).getFairLock(name);
          waiters.push(lock.withLock((held) => served.push(held.owner)));
        }
        const queue = await untilQueued(raw, name, i + 1);
        joined.push(queue.at(-1) as string);
      }
      expect(await queueIn(raw, name)).toEqual(joined);
      const { tookMs } = await timed(async () => {
        await hold.unlock();
        await Promise.all(waiters);
      });
      expect(served).toEqual(joined);
      expect(tookMs).toBeLessThan(BEFORE_POLL_MS);
      expect(await traceIn(raw, name)).toEqual([]);
    });

    it("keeps Redisson's time-outs correct after many turns of both kinds of waiters", async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const [holder, first, last] = [
        await FairByHand.meet(context, name),
        await FairByHand.meet(context, name),
        await FairByHand.meet(context, name),
      ];
      await holder.acquire({ leaseMs: 30_000 });
      await first.acquire({ waitMs: 5_000 });
      const ours = client.getFairLock(name).tryLock({ waitMs: 20_000 });
      await untilQueued(raw, name, 2);
      await last.acquire({ waitMs: 7_000 });
      const joinedAt = Date.now();
      await holder.unlock();
      expect(await first.acquire({ waitMs: 5_000, leaseMs: 30_000 })).toBeNull();
      await first.unlock();
      const hold = (await ours) as Hold;
      // Of all waits before it nothing is left: the lease at its join, and its own wait.
      const left = (await diesAt(raw, name, last.owner)) - joinedAt;
      expect(left).toBeGreaterThan(37_000 - 2_000);
      expect(left).toBeLessThan(37_000 + 2_000);
      expect(await queueIn(raw, name)).toEqual([last.owner]);
      await hold.unlock();
      await eventually(() => last.calls === 1);
      expect(await last.acquire({ waitMs: 7_000 })).toBeNull();
      await last.unlock();
    });

    it('is not broken by tryLock() without waiting', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const java = await FairByHand.meet(context, name);
      const hold = await ours.getFairLock(name).lock();
      await java.acquire();
      await hold.unlock();
      expect(await theirs.getFairLock(name).tryLock()).toBeNull();
      expect(await queueIn(raw, name)).toEqual([java.owner]);
      expect(await java.acquire()).toBeNull();
      await java.unlock();
      expect(await theirs.getFairLock(name).tryLock()).not.toBeNull();
    });
  });
}

function describeLeaving(context: Context): void {
  describe('leaving the queue', () => {
    it('gives exactly its own wait back to the waiters behind it', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const [holder, behind] = [await FairByHand.meet(context, name), await FairByHand.meet(context, name)];
      await holder.acquire();
      const giveUp = new AbortController();
      const refused = rejection(client.getFairLock(name).tryLock({ waitMs: 40_000, signal: giveUp.signal }));
      const [owner = ''] = await untilQueued(raw, name, 1);
      // What was left of the wait when it was asked for, as the server noted it.
      const waitMs = Number(String(await raw.command('HGET', seenOf(name), owner)).split(' ')[2]);
      expect(waitMs).toBeGreaterThan(30_000);
      expect(waitMs).toBeLessThanOrEqual(40_000);
      await behind.acquire({ waitMs: 5_000 });
      const before = await diesAt(raw, name, behind.owner);
      giveUp.abort();
      expect(await refused).toBe(giveUp.signal.reason);
      await eventually(async () => (await queueIn(raw, name)).length === 1);
      expect(await queueIn(raw, name)).toEqual([behind.owner]);
      expect(await diesAt(raw, name, behind.owner)).toBe(before - waitMs);
      expect(await raw.command('EXISTS', seenOf(name))).toBe(0);
    });

    it.each(['aborted', 'out of time', 'closed'])(
      '%s at the head of a free lock, wakes the next waiter at once',
      async (way) => {
        const [ours, leaving, theirs] = [
          await context.client(),
          await context.client(),
          await context.client(),
        ];
        const raw = await context.raw();
        const name = randomName();
        const holder = await ours.getFairLock(name).lock();
        const giveUp = new AbortController();
        const head = leaving.getFairLock(name).tryLock({ waitMs: 1_500, signal: giveUp.signal });
        const settled = head.catch((error: unknown) => error);
        const [headOwner = ''] = await untilQueued(raw, name, 1);
        const java = await FairByHand.meet(context, name);
        await java.acquire();
        const next = theirs.getFairLock(name).lock();
        await untilQueued(raw, name, 3);
        // The head's call is lost: somebody frees the lock without a word.
        await raw.command('DEL', name);
        if (way === 'aborted') giveUp.abort();
        if (way === 'closed') await leaving.close();
        const ends = { aborted: giveUp.signal.reason, 'out of time': null, closed: expect.any(ClosedError) };
        expect(await settled).toEqual(ends[way as keyof typeof ends]);
        await eventually(() => java.calls === 1, { withinMs: 1_000 });
        expect(await queueIn(raw, name)).not.toContain(headOwner);
        expect(await java.acquire()).toBeNull();
        await java.unlock();
        await (await next).unlock();
        expect(await holder.unlock()).toBe(false);
        expect(await traceIn(raw, name)).toEqual([]);
      },
    );

    it('leaves no trace of a withLock that timed out', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      await using _hold = await ours.getFairLock(name).lock();
      const refused = rejection(theirs.getFairLock(name).withLock(() => 'never', { waitMs: 100 }));
      expect(await refused).toBeInstanceOf(AcquireTimeoutError);
      await eventually(async () => (await traceIn(raw, name)).length === 0);
    });

    it('leaves no trace when an attempt is aborted in flight', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      await using _hold = await ours.getFairLock(name).lock();
      const lock = theirs.getFairLock(name);
      await lock.tryLock();
      for (let round = 0; round < 10; round += 1) {
        const controller = new AbortController();
        const refused = rejection(lock.lock({ signal: controller.signal }));
        controller.abort();
        expect(await refused).toBe(controller.signal.reason);
      }
      await theirs.close();
      expect(await traceIn(raw, name)).toEqual([]);
    });

    it('leaves no trace when the wait fails', async () => {
      const client = await context.client({ fairWaitMs: 400 });
      const raw = await context.raw();
      const name = randomName();
      const holder = await FairByHand.meet(context, name);
      await holder.acquire();
      const failed = rejection(client.getFairLock(name).lock());
      await untilQueued(raw, name, 1);
      await raw.command('SET', name, 'data', 'PX', 60_000);
      expect(await failed).toMatchObject({ code: 'ERR_DRIVER' });
      await eventually(async () => (await traceIn(raw, name)).length === 0);
      expect(await raw.command('GET', name)).toBe('data');
    });

    it('is not needed where a key of another type is refused and left unchanged', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      await raw.command('SET', name, 'data', 'PX', 60_000);
      expect(await rejection(client.getFairLock(name).lock())).toMatchObject({ code: 'ERR_DRIVER' });
      expect(await raw.command('GET', name)).toBe('data');
      expect(await traceIn(raw, name)).toEqual([]);
    });
  });
}

function describeRelease(context: Context): void {
  describe('releasing', () => {
    it('a lock that the caller does not hold never succeeds, even if the lock is free', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const lock = client.getFairLock(randomName());
      expect(await rejection(lock.unlock({ owner: client.owner() }))).toBeInstanceOf(NotHeldError);
      const hold = await lock.lock();
      await raw.command('DEL', lock.name);
      expect(await hold.unlock()).toBe(false);
    });

    it('by force wakes the head of the queue', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const lock = ours.getFairLock(randomName());
      const java = await FairByHand.meet(context, lock.name);
      await java.acquire();
      const waiter = theirs.getFairLock(lock.name).lock();
      await untilQueued(raw, lock.name, 1);
      expect(await lock.forceUnlock()).toBe(true);
      const { result, tookMs } = await timed(() => waiter);
      expect(tookMs).toBeLessThan(BEFORE_POLL_MS);
      expect(result.owner).toContain(theirs.id);
      expect(await ours.getFairLock(randomName()).forceUnlock()).toBe(false);
    });

    it('shares the key with getLock: the owner re-enters it, and other owners are kept out', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const name = randomName();
      await ours.getFairLock(name).withLock(async (hold) => {
        const again = await ours.getLock(name).lock();
        expect(again.owner).toBe(hold.owner);
        expect(await theirs.getLock(name).tryLock()).toBeNull();
        await again.unlock();
      });
      expect(await theirs.getLock(name).tryLock()).not.toBeNull();
    });

    it('refuses re-entry of a non-reentrant fair lock', async () => {
      const client = await context.client();
      const lock = client.getNonReentrantFairLock(randomName());
      const owner = client.owner();
      const hold = await lock.lock({ owner });
      expect(await rejection(lock.lock({ owner }))).toBeInstanceOf(ReentryError);
      expect(await hold.unlock()).toBe(true);
    });
  });
}

function describePatience(context: Context): void {
  describe('a waiter', () => {
    it('keeps its place longer than fairWaitMs, though Redisson’s waiters are behind it', async () => {
      const client = await context.client({ fairWaitMs: 900 });
      const raw = await context.raw();
      const name = randomName();
      const [holder, behind] = [await FairByHand.meet(context, name), await FairByHand.meet(context, name)];
      await holder.acquire({ leaseMs: 900 });
      let renewed: Promise<unknown> = Promise.resolve();
      const renewing = setInterval(() => {
        renewed = raw.command('PEXPIRE', name, 900);
      }, 50);
      try {
        const waiter = client.getFairLock(name).lock();
        const [owner = ''] = await untilQueued(raw, name, 1);
        const diedAt = await diesAt(raw, name, owner);
        await eventually(() => Date.now() > diedAt + 500);
        // Redisson sweeps whenever it asks.
        await behind.acquire();
        expect(await queueIn(raw, name)).toEqual([owner, behind.owner]);
        await holder.unlock();
        expect((await waiter).owner).toBe(owner);
      } finally {
        clearInterval(renewing);
        // One that is under way when the test ends would be rejected with its connection.
        await renewed;
      }
    });

    onOneServer(context, itWithProcess)(
      'does not make waiters spin when the head of a free lock is dead',
      async () => {
        const server = await ownServer();
        const raw = await openRaw(server.host, server.port);
        const clients = [await context.client({}, server), await context.client({}, server)];
        const name = randomName();
        await raw.command('RPUSH', queueOf(name), 'java:1');
        await raw.command('ZADD', timeoutsOf(name), Date.now() + 60_000, 'java:1');
        const giveUp = new AbortController();
        const waiters = clients.map((client) =>
          rejection(client.getFairLock(name).lock({ signal: giveUp.signal })),
        );
        await untilQueued(raw, name, 2);
        await resetCounts(server);
        const from = performance.now();
        await eventually(() => performance.now() - from > 1_500);
        // At most the poll of each, and none of the thousands that a time of 0 would make.
        expect((await commandCounts(server)).get('evalsha') ?? 0).toBeLessThanOrEqual(4);
        giveUp.abort();
        await Promise.all(waiters);
        await eventually(async () => (await queueIn(raw, name)).length === 1);
      },
    );

    it('gets the lock as soon as Redisson’s dead head expires by the server’s clock', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      await raw.command('RPUSH', queueOf(name), 'java:1');
      await raw.command('ZADD', timeoutsOf(name), Date.now() + 700, 'java:1');
      const { result, tookMs } = await timed(() => client.getFairLock(name).lock());
      expect(tookMs).toBeGreaterThan(600);
      expect(tookMs).toBeLessThan(BEFORE_POLL_MS);
      expect(await traceIn(raw, name)).toEqual([]);
      await result.unlock();
    });

    it('gets the lock when the lease of a silent holder ends', async () => {
      const client = await context.client();
      const name = randomName();
      const java = await FairByHand.meet(context, name);
      await java.acquire({ leaseMs: 700 });
      const { result, tookMs } = await timed(() => client.getFairLock(name).lock());
      expect(tookMs).toBeGreaterThan(600);
      expect(tookMs).toBeLessThan(BEFORE_POLL_MS);
      result.assertHeld();
    });

    it('stores a time-out that fits its waitMs, and at most fairWaitMs', async () => {
      const client = await context.client({ fairWaitMs: 60_000 });
      const raw = await context.raw();
      const name = randomName();
      const holder = await FairByHand.meet(context, name);
      await holder.acquire({ leaseMs: 30_000 });
      const giveUp = new AbortController();
      const { signal } = giveUp;
      const lock = client.getFairLock(name);
      const waiters = [
        lock.tryLock({ waitMs: 5_000, signal }),
        lock.tryLock({ waitMs: 90_000, signal }),
        lock.lock({ signal }),
      ];
      const refused = Promise.all(waiters.map((waiter) => rejection(waiter)));
      const queue = await untilQueued(raw, name, 3);
      const times = await Promise.all(queue.map((owner) => diesAt(raw, name, owner)));
      const gaps = times.map((time, i) => Math.round((time - (times[i - 1] ?? 0)) / 1_000));
      expect(gaps.slice(1)).toEqual([60, 60]);
      expect((times[0] as number) - Date.now()).toBeLessThanOrEqual(35_000);
      giveUp.abort();
      await refused;
    });
  });
}

describeThrough('the fair lock', describeFairLock);
