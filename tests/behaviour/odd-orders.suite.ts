/**
 * Calls in orders that nobody plans: a second one before the first is answered, one that undoes what another is
 * just doing. Whatever the order, what a handle says and what the server has must agree in the end.
 */
import { describe, expect, it } from 'vitest';
import { LeaseLostError, NotHeldError, ReentryError } from '../../src/index.ts';
import { lockRelease, lockRenew } from '../../src/scripts/generated.ts';
import { randomName } from '../harness/names.ts';
import { itWithProcess, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough, onOneServer } from './support/context.ts';
import { holderOf, REENTRANT, REENTRANT_KINDS } from './support/kinds.ts';
import { rejection, whenAborted } from './support/moments.ts';
import { fieldsOf } from './support/read-write-lock-by-hand.ts';

/** More turns of the microtask queue than there are between a grant and its handle. */
const TURNS = 40;

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

function describeOddOrders(context: Context): void {
  describe('taken again before the release is answered', () => {
    it.each(REENTRANT_KINDS)('$title belongs to its owner', async (kind) => {
      const raw = await context.raw();
      const client = await context.client();
      const lock = kind.of(client, randomName());
      const owner = client.owner();
      const first = await lock.lock({ owner });
      const released = first.unlock();
      const second = await lock.lock({ owner });
      expect(await released).toBe(true);
      second.assertHeld();
      expect(await lock.isHeld({ owner })).toBe(true);

      const inner = await lock.tryLock({ owner });
      expect(inner?.owner).toBe(second.owner);
      expect(await lock.getHoldCount({ owner })).toBe(2);
      await lock.unlock({ owner });
      await lock.unlock({ owner });
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
      expect(() => second.assertHeld()).toThrow(NotHeldError);
    });

    it('a lock of a section belongs to its section', async () => {
      const raw = await context.raw();
      const client = await context.client();
      const lock = client.getLock(randomName());
      await client.scope(async () => {
        await lock.lock();
        const [, hold] = await Promise.all([lock.unlock(), lock.lock()]);
        hold.assertHeld();
        expect(await lock.getHoldCount()).toBe(1);
        expect(await lock.isHeld()).toBe(true);
        await lock.unlock();
        expect(await lock.isHeld()).toBe(false);
      });
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
    });

    it.each(['getNonReentrantLock', 'getNonReentrantFairLock'] as const)('%s is granted', async (kind) => {
      const raw = await context.raw();
      const client = await context.client();
      const lock = client[kind](randomName());
      const owner = client.owner();
      const first = await lock.lock({ owner });
      const released = first.unlock();
      const second = await lock.lock({ owner });
      expect(await released).toBe(true);
      second.assertHeld();
      expect(await rejection(lock.lock({ owner }))).toBeInstanceOf(ReentryError);
      expect(await second.unlock()).toBe(true);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
    });
  });

  describe('a release', () => {
    it('followed by close() at once is answered and done', async () => {
      const raw = await context.raw();
      const client = await context.client();
      const hold = await client.getLock(randomName()).lock();
      const released = hold.unlock();
      await client.close();
      expect(await raw.command('EXISTS', hold.name)).toBe(0);
      expect(await released).toBe(true);
    });

    it('followed by extend() is not undone', async () => {
      const raw = await context.raw();
      const hold = await (await context.client()).getLock(randomName()).lock();
      const [released, extended] = await Promise.allSettled([hold.unlock(), hold.extend(60_000)]);
      expect(released).toEqual({ status: 'fulfilled', value: true });
      expect(extended).toMatchObject({ status: 'rejected', reason: expect.any(NotHeldError) });
      expect(await raw.command('EXISTS', hold.name)).toBe(0);
    });

    onOneServer(context, itWithProcess)(
      'after an extension that reaches the server too late: the extension has no effect',
      async () => {
        const server = await ownServer();
        const lock = (await context.client({}, server)).getLock(randomName());
        await lock.withLock(() => {});
        const hold = await lock.lock();
        // The server knows how to release, and has yet to be told how to renew: that comes second.
        expect(await server.command('SCRIPT', 'EXISTS', lockRelease.sha1, lockRenew.sha1)).toEqual([1, 0]);
        const [extended, released] = await Promise.allSettled([hold.extend(60_000), hold.unlock()]);
        expect(released).toEqual({ status: 'fulfilled', value: true });
        expect(extended).toMatchObject({ status: 'rejected', reason: expect.any(NotHeldError) });
        expect(await server.command('EXISTS', lock.name)).toBe(0);
      },
    );
  });

  describe('forceUnlock', () => {
    onOneServer(context, itWithProcess)(
      'that has not reached the server yet: an owner that takes the lock first keeps it',
      async () => {
        const server = await ownServer();
        const [ours, theirs] = [await context.client({}, server), await context.client({}, server)];
        const lock = ours.getLock(randomName());
        await lock.withLock(() => {});
        const first = await lock.lock();
        // Comes in when the first has left, which is before the server has the script that ends the first.
        const again = whenAborted(first.signal).then(async () => {
          await first.unlock();
          return lock.lock();
        });
        expect(await lock.forceUnlock()).toBe(true);
        const hold = await again;
        expect(await theirs.getLock(lock.name).tryLock()).toBeNull();
        hold.assertHeld();
        expect(await hold.unlock()).toBe(true);
      },
    );

    it('at the moment of the grant: the ended hold is lost, and other owners can get the lock', async () => {
      const raw = await context.raw();
      const [ours, theirs] = [await context.client(), await context.client()];
      await ours.getLock(randomName()).withLock(() => ours.getLock(randomName()).forceUnlock());
      let ended = 0;
      for (let late = 0; late < TURNS; late += 1) {
        const lock = ours.getLock(randomName());
        const [hold, forced] = await Promise.all([lock.lock(), turns(late).then(() => lock.forceUnlock())]);
        if (forced) {
          ended += 1;
          expect(hold.signal.reason, `after ${late} turns`).toMatchObject({ reason: 'forced' });
          expect(() => hold.assertHeld()).toThrow(LeaseLostError);
          expect(await hold.unlock()).toBe(false);
          const other = await theirs.getLock(lock.name).tryLock();
          expect(await other?.unlock()).toBe(true);
        } else {
          hold.assertHeld();
          expect(await holderOf(raw, REENTRANT, lock.name)).toEqual({ owner: hold.owner, count: 1 });
          expect(await hold.unlock()).toBe(true);
        }
      }
      expect(ended).toBeGreaterThan(0);
    });
  });

  describe('a lost hold', () => {
    it.each(['getNonReentrantLock', 'getNonReentrantFairLock'] as const)(
      'that its owner takes again: %s reports the loss',
      async (kind) => {
        const client = await context.client();
        const lock = client[kind](randomName());
        const owner = client.owner();
        const hold = await lock.lock({ owner, leaseMs: 600 });
        const reason = await whenAborted(hold.signal);
        expect(reason).toBeInstanceOf(LeaseLostError);
        expect(await rejection(lock.lock({ owner }))).toBe(reason);
      },
    );

    it('lost while onAcquire runs: withLock does not begin the work', async () => {
      const client = await context.client();
      const lock = client.getLock(randomName());
      let began = false;
      const work = () => {
        began = true;
      };
      const outcome = lock.withLock(work, { leaseMs: 600, onAcquire: (hold) => whenAborted(hold.signal) });
      expect(await rejection(outcome)).toBeInstanceOf(LeaseLostError);
      expect(began).toBe(false);
    });
  });

  describe('reading and writing by one owner', () => {
    it("when a write lease ends, other readers get the lock beside the owner's read hold", async () => {
      const raw = await context.raw();
      const [ours, theirs] = [await context.client(), await context.client()];
      const lock = ours.getReadWriteLock(randomName());
      const owner = ours.owner();
      const write = await lock.writeLock().lock({ owner, leaseMs: 600 });
      const read = await lock.readLock().lock({ owner });
      expect(await fieldsOf(raw, lock.name)).toMatchObject({ mode: 'write' });
      expect(await whenAborted(write.signal)).toMatchObject({ reason: 'expired' });

      const beside = await theirs.getReadWriteLock(lock.name).readLock().tryLock({ waitMs: 5_000 });
      expect(beside).not.toBeNull();
      expect(await fieldsOf(raw, lock.name)).toMatchObject({ mode: 'read', [read.owner]: '1' });
      expect(await write.unlock()).toBe(false);
      read.assertHeld();
      expect(await read.unlock()).toBe(true);
      expect(await beside?.unlock()).toBe(true);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
    });

    it('a refused upgrade leaves no note that keeps readers out', async () => {
      const raw = await context.raw();
      const [ours, theirs] = [await context.client(), await context.client()];
      const name = randomName();
      const lock = ours.getReadWriteLock(name, { prefer: 'writer' });
      const owner = ours.owner();
      const other = theirs.getReadWriteLock(name).readLock();
      const theirRead = await other.lock();
      // Asked in one breath: when the writer asks the server, its owner's read is not known here yet.
      const [ourRead, refused] = await Promise.all([
        lock.readLock().lock({ owner }),
        rejection(lock.writeLock().lock({ owner })),
      ]);
      expect(refused).toBeInstanceOf(ReentryError);
      // Withdrawn, and long before it would have been forgotten by itself.
      const notes = () => raw.command('ZCARD', `holdfast_rwlock_waiting:{${name}}`);
      await eventually(async () => expect(await notes()).toBe(0), { withinMs: 1_000 });
      const third = await other.tryLock();
      expect(third).not.toBeNull();
      for (const hold of [ourRead, theirRead, third]) expect(await hold?.unlock()).toBe(true);
      expect(await raw.command('EXISTS', name)).toBe(0);
    });
  });
}

describeThrough('odd orders', describeOddOrders);
