/** The read/write lock shared with Redisson clients, which are played by hand. */
import { describe, expect, it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { openShared } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { heardOn } from '../lua/script-bench.ts';
import type { Context } from './context.ts';
import { timed } from './moments.ts';
import {
  fieldsOf,
  holdKeyOf,
  RedissonReadWriteByHand,
  rwChannelOf,
  rwSubscribersOf,
} from './read-write-lock-by-hand.ts';

const WELL_BEFORE_POLL_MS = 3_000;

async function meeting(context: Context) {
  const [client, raw] = [await context.client(), await openShared()];
  const name = randomName();
  const java = new RedissonReadWriteByHand(raw, name);
  const lock = client.getReadWriteLock(name);
  const untilWaiting = () => eventually(async () => (await rwSubscribersOf(raw, name)) === 1);
  return { client, raw, name, java, lock, untilWaiting };
}

export function describeReadWriteLockWire(context: Context): void {
  describe('shared with Redisson', () => {
    it('readers of both read together and keep writers of both out', async () => {
      const { raw, name, java, lock } = await meeting(context);
      await using reading = await lock.readLock().lock();
      expect(await java.tryRead()).toBeNull();
      expect(await fieldsOf(raw, name)).toEqual({ mode: 'read', [reading.owner]: '1', [java.reader]: '1' });
      expect(await java.tryWrite()).toBeGreaterThan(20_000);
      expect(await lock.writeLock().tryLock()).toBeNull();
    });

    it('a writer of either keeps everybody else out', async () => {
      const { java, lock } = await meeting(context);
      const writing = await lock.writeLock().lock();
      expect(await java.tryRead()).toBeGreaterThan(20_000);
      expect(await java.tryWrite()).toBeGreaterThan(20_000);
      await writing.unlock();
      expect(await java.tryWrite()).toBeNull();
      expect(await lock.readLock().tryLock()).toBeNull();
      expect(await lock.writeLock().tryLock()).toBeNull();
      await java.unlockWrite();
      expect(await lock.writeLock().tryLock()).not.toBeNull();
    });

    it('its read unlock leaves our reader the lock, entered once or several times, with our lease', async () => {
      const { client, raw, name, java, lock } = await meeting(context);
      const owner = client.owner();
      const first = await lock.readLock().lock({ owner, leaseMs: 50_000 });
      await lock.readLock().lock({ owner, leaseMs: 50_000 });
      await java.tryRead(90_000);
      expect(await java.unlockRead()).toBe(false);
      expect(await fieldsOf(raw, name)).toEqual({ mode: 'read', [first.owner]: '2' });
      expect(await raw.command('PTTL', name)).toBeGreaterThan(first.remainingMs);
      expect(await lock.readLock().getHoldCount({ owner })).toBe(2);
    });

    it('our read unlock leaves its reader the lock, entered several times, with its lease', async () => {
      const { raw, name, java, lock } = await meeting(context);
      await java.tryRead(40_000);
      await java.tryRead(40_000);
      const reading = await lock.readLock().lock({ leaseMs: 90_000 });
      expect(await reading.unlock()).toBe(true);
      expect(await fieldsOf(raw, name)).toEqual({ mode: 'read', [java.reader]: '2' });
      const leftMs = Number(await raw.command('PTTL', name));
      expect(leftMs).toBeLessThanOrEqual(40_000);
      expect(leftMs).toBeGreaterThan(30_000);
      expect(await java.unlockRead()).toBe(false);
      expect(await java.unlockRead()).toBe(true);
    });

    it('its releases wake our waiters', async () => {
      const { java, lock, untilWaiting } = await meeting(context);
      await java.tryWrite();
      const reading = lock.readLock().lock();
      await untilWaiting();
      const read = await timed(async () => {
        await java.unlockWrite();
        return reading;
      });
      expect(read.tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      await read.result.unlock();
      await java.tryRead();
      const writing = lock.writeLock().lock();
      await untilWaiting();
      const written = await timed(async () => {
        await java.unlockRead();
        return writing;
      });
      expect(written.tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
    });

    it('our releases say what Redisson listens for: 0 of readers, 1 of writers and at a downgrade', async () => {
      const { client, name, lock } = await meeting(context);
      const listener = await openShared();
      await listener.subscribe(rwChannelOf(name));
      const heard = heardOn(listener, rwChannelOf(name), await openShared());
      await (await lock.readLock().lock()).unlock();
      expect(await heard()).toEqual(['0']);
      await (await lock.writeLock().lock()).unlock();
      expect(await heard()).toEqual(['0', '1']);
      const owner = client.owner();
      const writing = await lock.writeLock().lock({ owner, leaseMs: 30_000 });
      const reading = await lock.readLock().lock({ owner, leaseMs: 90_000 });
      await writing.unlock();
      expect(await heard()).toEqual(['0', '1', '1']);
      await reading.unlock();
      expect(await heard()).toEqual(['0', '1', '1', '0']);
    });

    it('its dead reader stops counting when its lease is over', async () => {
      const { raw, name, java, lock, untilWaiting } = await meeting(context);
      await java.tryRead(600);
      const reading = await lock.readLock().lock({ leaseMs: 60_000 });
      const writing = lock.writeLock().lock();
      await untilWaiting();
      await eventually(async () => (await raw.command('EXISTS', holdKeyOf(name, java.reader, 1))) === 0);
      const { tookMs, result } = await timed(async () => {
        await reading.unlock();
        return writing;
      });
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(await fieldsOf(raw, name)).toEqual({ mode: 'write', [result.owner]: '1' });
    });

    it('its downgraded writer lets our readers in at the next poll at the latest', async () => {
      const { java, lock } = await meeting(context);
      await java.tryWrite();
      await java.tryRead();
      expect(await lock.readLock().tryLock()).toBeNull();
      await java.unlockWrite();
      expect(await lock.readLock().tryLock({ waitMs: 10_000 })).not.toBeNull();
      expect(await lock.writeLock().tryLock()).toBeNull();
    });

    it('its reader does not know of our preferred writer and comes in', async () => {
      const { client, raw, name, java, lock } = await meeting(context);
      await using reading = await lock.readLock().lock();
      const giveUp = new AbortController();
      const preferred = client.getReadWriteLock(name, { prefer: 'writer' });
      const writing = preferred.writeLock().lock({ signal: giveUp.signal });
      await eventually(async () => (await raw.command('EXISTS', `holdfast_rwlock_waiting:{${name}}`)) === 1);
      expect(await lock.readLock().tryLock()).toBeNull();
      expect(await java.tryRead()).toBeNull();
      reading.assertHeld();
      giveUp.abort();
      await expect(writing).rejects.toBe(giveUp.signal.reason);
    });
  });
}
