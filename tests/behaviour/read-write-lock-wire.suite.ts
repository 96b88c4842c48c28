/** The read/write lock shared with Redisson clients, which are played by hand. */
import { describe, expect, it } from 'vitest';
import type { ClientOptions } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { listenTo } from './support/by-hand.ts';
import { type Context, describeThrough } from './support/context.ts';
import { timed, whenAborted } from './support/moments.ts';
import {
  fieldsOf,
  holdKeyOf,
  RedissonReadWriteByHand,
  rwChannelOf,
  rwSubscribersOf,
} from './support/read-write-lock-by-hand.ts';

const WELL_BEFORE_POLL_MS = 3_000;

async function meeting(context: Context, options?: ClientOptions) {
  const [client, raw] = [await context.client(options), await context.raw()];
  const name = randomName();
  const java = new RedissonReadWriteByHand(raw, name);
  const lock = client.getReadWriteLock(name);
  const untilWaiting = () => eventually(async () => (await rwSubscribersOf(raw, name)) === 1);
  return { client, raw, name, java, lock, untilWaiting };
}

function describeReadWriteLockWire(context: Context): void {
  describe('shared with Redisson', () => {
    it('readers of both read together and keep writers of both out', async () => {
      const { raw, name, java, lock } = await meeting(context);
      await using reading = await lock.readLock().lock();
      expect(await java.tryRead()).toBeNull();
      expect(await fieldsOf(raw, name)).toEqual({ mode: 'read', [reading.owner]: '1', [java.reader]: '1' });
      expect(await java.tryWrite()).toBeGreaterThan(20_000);
      expect(await lock.writeLock().tryLock()).toBeNull();
    });

    it('a writer of either side keeps all other owners out', async () => {
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

    it("Java's read unlock keeps our reader's hold and lease, entered once or several times", async () => {
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

    it("our read unlock keeps Java's hold and lease, entered several times", async () => {
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

    it("Java's releases wake our waiters", async () => {
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

    it("our releases publish Redisson's messages: 0 for readers, 1 for writers and a downgrade", async () => {
      const { client, name, lock } = await meeting(context);
      const heard = await listenTo(context, rwChannelOf(name));
      await (await lock.readLock().lock()).unlock();
      expect(await heard()).toEqual(['0']);
      await (await lock.writeLock().lock()).unlock();
      expect(await heard()).toEqual(['0', '1']);
      const owner = client.owner();
      const writing = await lock.writeLock().lock({ owner, leaseMs: 30_000 });
      const reading = await lock.readLock().lock({ owner, leaseMs: 90_000 });
      await writing.unlock();
      const untilDowngrade = await heard();
      expect(untilDowngrade.slice(0, 3)).toEqual(['0', '1', '1']);
      // The lock may have got its time a millisecond after the hold key: then cutting it wakes readers' waiters too.
      expect(untilDowngrade.slice(3).every((message) => message === '0')).toBe(true);
      await reading.unlock();
      expect(await heard()).toEqual([...untilDowngrade, '0']);
    });

    it("Java's dead reader stops counting when its lease ends", async () => {
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

    it("Java's reader keeps our writers out even if its hold keys are gone and only the lock is renewed", async () => {
      const { raw, name, java, lock } = await meeting(context);
      await java.tryRead();
      await java.tryRead();
      await java.losesHoldKeys();
      await java.renewRead(30_000, 'none');
      const writer = lock.writeLock();
      expect(await writer.tryLock()).toBeNull();
      expect(await writer.tryLock({ waitMs: 100 })).toBeNull();
      expect(await fieldsOf(raw, name)).toEqual({ mode: 'read', [java.reader]: '2' });
      await java.unlockRead();
      expect(await writer.tryLock()).not.toBeNull();
    });

    it("Java's reader without hold keys counts while another reader reads, as in Redisson", async () => {
      const { raw, name, java, lock } = await meeting(context);
      const short = await lock.readLock().lock({ leaseMs: 40_000 });
      await java.tryRead();
      await java.losesHoldKeys();
      const long = await lock.readLock().lock({ leaseMs: 90_000 });
      expect(await long.unlock()).toBe(true);
      expect(await fieldsOf(raw, name)).toEqual({ mode: 'read', [short.owner]: '1', [java.reader]: '1' });
      const endsAt = (key: string) => raw.command('PEXPIRETIME', key);
      // The server looks at one and writes the other, and a millisecond may pass between.
      expect(
        Math.abs(Number(await endsAt(name)) - Number(await endsAt(holdKeyOf(name, short.owner, 1)))),
      ).toBeLessThanOrEqual(1);
      expect(await short.unlock()).toBe(true);
      expect(await fieldsOf(raw, name)).toEqual({});
    });

    it("Java's reader with a longer lease stays when our readers leave", async () => {
      const { raw, name, java, lock } = await meeting(context);
      await java.tryRead();
      await java.losesHoldKeys();
      const reading = await lock.readLock().lock({ leaseMs: 10_000 });
      await java.renewRead(30_000, 'none');
      expect(await reading.unlock()).toBe(true);
      expect(await fieldsOf(raw, name)).toEqual({ mode: 'read', [java.reader]: '1' });
      expect(await lock.writeLock().tryLock()).toBeNull();
    });

    it("our readers get the lock at their next poll after Java's downgrade", async () => {
      const { java, lock } = await meeting(context);
      await java.tryWrite();
      await java.tryRead();
      expect(await lock.readLock().tryLock()).toBeNull();
      await java.unlockWrite();
      expect(await lock.readLock().tryLock({ waitMs: 10_000 })).not.toBeNull();
      expect(await lock.writeLock().tryLock()).toBeNull();
    });

    it("Java's reader ignores our preferred writer and gets the lock", async () => {
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

  describe('beside a watchdog of Redisson, which overwrites the expiry of the lock', () => {
    /** Ours looks every 200 ms. */
    const QUICK = { watchdogMs: 600 };

    it.each(['own', 'everybody'] as const)(
      'our lease is restored after Redisson shortens it; Redisson renews hold keys: %s',
      async (whose) => {
        const { client, raw, name, java, lock } = await meeting(context, QUICK);
        const owner = client.owner();
        const hold = await lock.readLock().lock({ owner, leaseMs: 60_000 });
        await lock.readLock().lock({ owner, leaseMs: 60_000 });
        await java.tryRead();
        await java.renewRead(5_000, whose);
        for (const key of [name, holdKeyOf(name, hold.owner, 1), holdKeyOf(name, hold.owner, 2)]) {
          await eventually(async () => expect(await raw.command('PTTL', key)).toBeGreaterThan(40_000));
        }
        hold.assertHeld();
      },
    );

    it('our lease is restored also after a downgrade and an extension', async () => {
      const { client, raw, name, java, lock } = await meeting(context, QUICK);
      const owner = client.owner();
      const writing = await lock.writeLock().lock({ owner });
      const hold = await lock.readLock().lock({ owner, leaseMs: 5_000 });
      await writing.unlock();
      await hold.extend(60_000);
      await java.tryRead();
      await java.renewRead(5_000);
      await eventually(async () => expect(await raw.command('PTTL', name)).toBeGreaterThan(40_000));
    });

    it('our lease is restored also if the lock had no reader for a while before', async () => {
      const { raw, name, java, lock } = await meeting(context, QUICK);
      await (await lock.readLock().lock({ leaseMs: 60_000 })).unlock();
      const from = performance.now();
      await eventually(() => performance.now() - from > 1_000, { everyMs: 20 });
      await lock.readLock().lock({ leaseMs: 60_000 });
      await java.tryRead();
      await java.renewRead(5_000);
      await eventually(async () => expect(await raw.command('PTTL', name)).toBeGreaterThan(40_000));
    });

    it('our lease does not grow by the restoration', async () => {
      const { raw, name, lock } = await meeting(context, QUICK);
      const takenAt = performance.now();
      await lock.readLock().lock({ leaseMs: 60_000 });
      const endsAt = async () => Number(await raw.command('PEXPIRETIME', name));
      const endedAt = await endsAt();
      await eventually(() => performance.now() - takenAt > 2_500, { everyMs: 50 });
      await raw.command('PEXPIRE', name, 5_000);
      await eventually(async () => expect(await raw.command('PTTL', name)).toBeGreaterThan(40_000));
      // What a round needs to arrive may come on top, what has passed since the grant may not.
      expect((await endsAt()) - endedAt).toBeLessThan(1_000);
    });

    it('a lease that is still lost is reported', async () => {
      const { raw, name, lock } = await meeting(context, QUICK);
      const holds = [
        await lock.readLock().lock({ leaseMs: 60_000 }),
        await lock.readLock().lock({ leaseMs: 60_000 }),
      ];
      const signals = holds.map(({ signal }) => whenAborted(signal));
      await raw.command('PEXPIRE', name, 1);
      for (const reason of await Promise.all(signals)) {
        expect(reason).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'notOwner' });
      }
    });

    it('our release leaves the lock the longest lease of the other readers', async () => {
      const { raw, name, java, lock } = await meeting(context);
      const staying = await lock.readLock().lock({ leaseMs: 60_000 });
      const leaving = await lock.readLock().lock({ leaseMs: 90_000 });
      await java.tryRead();
      await java.renewRead(5_000);
      await leaving.unlock();
      const endsAt = (key: string) => raw.command('PEXPIRETIME', key);
      // The server looks at one and writes the other, and a millisecond may pass between.
      expect(
        Math.abs(Number(await endsAt(name)) - Number(await endsAt(holdKeyOf(name, staying.owner, 1)))),
      ).toBeLessThanOrEqual(1);
    });
  });
}

describeThrough('read/write lock', describeReadWriteLockWire);
