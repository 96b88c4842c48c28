/** The read/write lock: who may be inside with whom, re-entry, downgrade, upgrade, preference, and its leases. */
import { describe, expect, it } from 'vitest';
import {
  AcquireTimeoutError,
  type Hold,
  type Holdfast,
  LeaseLostError,
  NotHeldError,
  OptionError,
  ReentryError,
} from '../../src/index.ts';
import type { RawView } from '../harness/cluster-connection.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough } from './support/context.ts';
import { gate, rejection, timed, whenAborted } from './support/moments.ts';
import { fieldsOf, holdKeyOf, rwSubscribersOf } from './support/read-write-lock-by-hand.ts';

/** Well before a poll, which comes after 4 seconds at the earliest. */
const WELL_BEFORE_POLL_MS = 3_000;

const waitingOf = (name: string) => `holdfast_rwlock_waiting:{${name}}`;

const pttl = async (raw: RawView, key: string) => Number(await raw.command('PTTL', key));

/** Resolves when this many clients listen for releases: their waiters are told to wait. */
const untilWaiting = (raw: RawView, name: string, clients = 1) =>
  eventually(async () => (await rwSubscribersOf(raw, name)) === clients);

async function two(context: Context, name = randomName()) {
  const [ours, theirs] = [await context.client(), await context.client()];
  return {
    name,
    raw: await context.raw(),
    ours,
    theirs,
    a: ours.getReadWriteLock(name),
    b: theirs.getReadWriteLock(name),
  };
}

function describeReadWriteLock(context: Context): void {
  describe('holders', () => {
    it('many readers, of one client and of several', async () => {
      const { a, b, name, raw } = await two(context);
      const holds = await Promise.all([a.readLock().lock(), a.readLock().lock(), b.readLock().lock()]);
      const owners = holds.map(({ owner }) => owner);
      expect(await fieldsOf(raw, name)).toEqual({
        mode: 'read',
        ...Object.fromEntries(owners.map((owner) => [owner, '1'])),
      });
      for (const owner of owners) expect(await pttl(raw, holdKeyOf(name, owner, 1))).toBeGreaterThan(20_000);
      expect(await a.writeLock().tryLock()).toBeNull();
      for (const hold of holds) expect(await hold.unlock()).toBe(true);
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('any number of readers that try at the same moment', async () => {
      const { a, b } = await two(context);
      const tries = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? a : b).readLock().tryLock());
      const holds = await Promise.all(tries);
      expect(holds.filter((hold) => hold === null)).toEqual([]);
    });

    it('one writer and no other owner', async () => {
      const { a, b, name, raw } = await two(context);
      const hold = await a.writeLock().lock();
      expect(hold.owner).toMatch(/^[0-9a-f-]{36}:\d+:write$/);
      expect(await fieldsOf(raw, name)).toEqual({ mode: 'write', [hold.owner]: '1' });
      for (const side of [a.readLock(), b.readLock(), a.writeLock(), b.writeLock()]) {
        expect(await side.tryLock()).toBeNull();
      }
      await hold.unlock();
      await using next = await b.writeLock().lock();
      next.assertHeld();
    });

    it('a name with braces keeps its hold keys beside it', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = `{${randomName()}}:order`;
      await using hold = await client.getReadWriteLock(name).readLock().lock();
      expect(await raw.command('EXISTS', `${name}:${hold.owner}:rwlock_timeout:1`)).toBe(1);
    });

    it('a lock of another kind under the name is an error and stays as it is', async () => {
      const { ours, a, name } = await two(context);
      await using hold = await ours.getLock(name).lock();
      expect(await rejection(a.readLock().tryLock())).toMatchObject({ code: 'ERR_DRIVER' });
      expect(await rejection(a.writeLock().tryLock())).toMatchObject({ code: 'ERR_DRIVER' });
      hold.assertHeld();
    });

    it('refuses options that are none', async () => {
      const client = await context.client();
      for (const options of [{ prefer: 'reader' }, { prefers: 'writer' }, 'writer']) {
        expect(() => client.getReadWriteLock('n', options as never)).toThrow(OptionError);
      }
      expect(() => client.getReadWriteLock('')).toThrow(OptionError);
    });
  });

  describe('waiting', () => {
    it('a writer gets the lock when the last reader releases it', async () => {
      const { a, b, name, raw } = await two(context);
      const readers = [await a.readLock().lock(), await a.readLock().lock()];
      const writer = b.writeLock().lock();
      await untilWaiting(raw, name);
      const { tookMs, result } = await timed(async () => {
        for (const reader of readers) await reader.unlock();
        return writer;
      });
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      result.assertHeld();
    });

    it('one release of the writer lets all readers read, of this client and of others', async () => {
      const { a, b, name, raw, ours } = await two(context);
      const hold = await ours.getReadWriteLock(name).writeLock().lock();
      const readers = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? a : b).readLock().lock());
      await untilWaiting(raw, name, 2);
      const { tookMs, result } = await timed(async () => {
        await hold.unlock();
        return Promise.all(readers);
      });
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      for (const reader of result) reader.assertHeld();
      expect(Object.keys(await fieldsOf(raw, name))).toHaveLength(13);
    });

    it('writers of one process are served in the order of their calls', async () => {
      const { a, b } = await two(context);
      const reading = await a.readLock().lock();
      const served: number[] = [];
      const writers = Array.from({ length: 6 }, (_, place) =>
        b.writeLock().withLock(() => served.push(place)),
      );
      await reading.unlock();
      await Promise.all(writers);
      expect(served).toEqual([0, 1, 2, 3, 4, 5]);
    });

    it('an aborted or impatient waiter leaves nothing behind', async () => {
      const { a, b, name, raw } = await two(context);
      const hold = await a.writeLock().lock();
      for (const side of [b.readLock(), b.writeLock()]) {
        const giveUp = new AbortController();
        const waiting = rejection(side.lock({ signal: giveUp.signal }));
        await untilWaiting(raw, name);
        giveUp.abort(new Error('enough'));
        expect(await waiting).toBe(giveUp.signal.reason);
        expect(await side.tryLock({ waitMs: 50 })).toBeNull();
      }
      expect(await fieldsOf(raw, name)).toEqual({ mode: 'write', [hold.owner]: '1' });
      expect(await raw.command('EXISTS', waitingOf(name))).toBe(0);
    });

    it('withLock names the holder when it times out', async () => {
      const { a, b } = await two(context);
      const writer = await a.writeLock().lock({ leaseMs: 60_000 });
      const error = await rejection(b.readLock().withLock(() => 1, { waitMs: 30 }));
      expect(error).toBeInstanceOf(AcquireTimeoutError);
      expect(error).toMatchObject({ holder: writer.owner });
      await writer.unlock();
      const reader = await a.readLock().lock({ leaseMs: 60_000 });
      expect(await rejection(b.writeLock().withLock(() => 1, { waitMs: 0 }))).toMatchObject({
        holder: reader.owner,
      });
    });
  });

  describe('re-entry', () => {
    it('counts on the read side, with a hold key for each entry', async () => {
      const { a, name, raw, ours } = await two(context);
      const lock = a.readLock();
      await ours.scope(async () => {
        const first = await lock.lock();
        await lock.lock();
        await lock.lock();
        expect(await lock.getHoldCount()).toBe(3);
        expect(await fieldsOf(raw, name)).toEqual({ mode: 'read', [first.owner]: '3' });
        for (const hold of [1, 2, 3])
          expect(await raw.command('EXISTS', holdKeyOf(name, first.owner, hold))).toBe(1);
        await lock.unlock();
        expect(await raw.command('EXISTS', holdKeyOf(name, first.owner, 3))).toBe(0);
        expect(await fieldsOf(raw, name)).toEqual({ mode: 'read', [first.owner]: '2' });
        await lock.unlock();
        await lock.unlock();
        expect(await rejection(lock.unlock())).toBeInstanceOf(NotHeldError);
      });
      const left = (await raw.command('KEYS', `*${name}*`)) as string[];
      expect(left.filter((key) => !key.startsWith('redisson_unlock_latch'))).toEqual([]);
    });

    it('counts on the write side, and leases do not add up', async () => {
      const { a, name, raw } = await two(context);
      const lock = a.writeLock();
      await lock.withLock(
        async (outer) => {
          await lock.withLock(
            async () => {
              expect(await fieldsOf(raw, name)).toEqual({ mode: 'write', [outer.owner]: '2' });
              expect(await pttl(raw, name)).toBeLessThanOrEqual(60_000);
            },
            { leaseMs: 60_000 },
          );
          expect(await lock.getHoldCount()).toBe(1);
        },
        { leaseMs: 60_000 },
      );
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('never shortens a longer lease, whichever entry is released', async () => {
      const { a, name, raw, ours } = await two(context);
      const owner = ours.owner();
      const long = await a.readLock().lock({ owner, leaseMs: 60_000 });
      const short = await a.readLock().lock({ owner, leaseMs: 1_000 });
      expect(await pttl(raw, holdKeyOf(name, long.owner, 2))).toBeGreaterThan(40_000);
      await long.unlock();
      expect(short.remainingMs).toBeGreaterThan(40_000);
      expect(await pttl(raw, holdKeyOf(name, short.owner, 1))).toBeGreaterThan(40_000);
      expect(await short.unlock()).toBe(true);
    });

    it('readers of one section that run side by side do not take turns', async () => {
      const { a, ours } = await two(context);
      const both = gate();
      let inside = 0;
      const work = async () => {
        inside += 1;
        if (inside === 2) both.open();
        await both.opened;
      };
      await ours.scope(() => Promise.all([a.readLock().withLock(work), a.readLock().withLock(work)]));
      expect(inside).toBe(2);
    });
  });

  describe('downgrade', () => {
    it('a writer reads under the same owner, and keeps reading after its write unlock', async () => {
      const { a, b, name, raw } = await two(context);
      await a.writeLock().withLock(async (writing) => {
        await a.readLock().withLock(async (reading) => {
          expect(writing.owner).toBe(`${reading.owner}:write`);
          expect(await fieldsOf(raw, name)).toEqual({
            mode: 'write',
            [writing.owner]: '1',
            [reading.owner]: '1',
          });
          expect(await b.readLock().tryLock()).toBeNull();
          await writing.unlock();
          expect(await fieldsOf(raw, name)).toEqual({ mode: 'read', [reading.owner]: '1' });
          expect(await b.writeLock().tryLock()).toBeNull();
          const other = await b.readLock().tryLock();
          expect(other).not.toBeNull();
          await other?.unlock();
        });
      });
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('a writer can read again and again', async () => {
      const { a, name, raw } = await two(context);
      await a.writeLock().withLock(async (writing) => {
        const seen = new Set<string>();
        for (let round = 0; round < 3; round += 1) {
          await a.readLock().withLock(async (reading) => {
            seen.add(reading.owner);
            expect(await fieldsOf(raw, name)).toMatchObject({ [writing.owner]: '1', [reading.owner]: '1' });
          });
        }
        expect(seen.size).toBe(3);
        expect(await fieldsOf(raw, name)).toEqual({ mode: 'write', [writing.owner]: '1' });
      });
    });

    it('wakes all waiting readers at once', async () => {
      const { a, b, name, raw, ours } = await two(context);
      const owner = ours.owner();
      const writing = await a.writeLock().lock({ owner });
      const reading = await a.readLock().lock({ owner });
      const others = [b.readLock().lock(), b.readLock().lock(), a.readLock().lock()];
      await untilWaiting(raw, name, 2);
      const { tookMs, result } = await timed(async () => {
        await writing.unlock();
        return Promise.all(others);
      });
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      for (const hold of [reading, ...result]) hold.assertHeld();
    });

    it('releasing the read hold first leaves the write hold its lease and its renewal', async () => {
      const client = await context.client({ watchdogMs: 1_000 });
      const raw = await context.raw();
      const owner = client.owner();
      const lock = client.getReadWriteLock(randomName());
      const writing = await lock.writeLock().lock({ owner });
      const reading = await lock.readLock().lock({ owner });
      await reading.unlock();
      const releasedAt = performance.now();
      let lost: unknown;
      writing.signal.addEventListener('abort', () => {
        lost = writing.signal.reason;
      });
      // Two leases later it can only be there because it is renewed.
      await eventually(() => performance.now() - releasedAt > 2_100, { everyMs: 20 });
      expect(lost).toBeUndefined();
      expect(await fieldsOf(raw, lock.name)).toEqual({ mode: 'write', [writing.owner]: '1' });
      expect(await writing.unlock()).toBe(true);
    });

    it('releasing a short read hold does not shorten the lease of the write lock', async () => {
      const { a, name, raw, ours } = await two(context);
      const owner = ours.owner();
      const writing = await a.writeLock().lock({ owner, leaseMs: 60_000 });
      const reading = await a.readLock().lock({ owner, leaseMs: 5_000 });
      const again = await a.readLock().lock({ owner, leaseMs: 5_000 });
      await again.unlock();
      expect(await pttl(raw, name)).toBeGreaterThan(40_000);
      await reading.unlock();
      expect(await pttl(raw, name)).toBeGreaterThan(40_000);
      writing.assertHeld();
    });
  });

  describe('upgrade', () => {
    it('fails at once where the same owner reads, however the lock is taken', async () => {
      const { a, ours, name } = await two(context);
      const owner = ours.owner();
      await using reading = await a.readLock().lock({ owner });
      for (const attempt of [
        () => a.writeLock().lock({ owner }),
        () => a.writeLock().tryLock({ owner }),
        () => a.writeLock().tryLock({ owner, waitMs: 20_000 }),
      ]) {
        const { tookMs, result: error } = await timed(() => rejection(attempt()));
        expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
        expect(error).toBeInstanceOf(ReentryError);
        expect(error).toMatchObject({ code: 'ERR_REENTRY', lockName: name });
        expect((error as Error).message).toContain('cannot become a write lock');
      }
      reading.assertHeld();
    });

    it('fails inside enclosing sections, and leaves them as they are', async () => {
      const { a } = await two(context);
      const result = await a.readLock().withLock(async (reading) =>
        a.readLock().withLock(async () => {
          const error = await rejection(a.writeLock().withLock(() => 'in'));
          expect(error).toBeInstanceOf(ReentryError);
          reading.assertHeld();
          return 'read on';
        }),
      );
      expect(result).toBe('read on');
      expect(await a.writeLock().withLock(() => 'in')).toBe('in');
    });

    it('fails also when both holds are requested at the same moment', async () => {
      const { a, ours } = await two(context);
      const owner = ours.owner();
      const reading = a.readLock().lock({ owner });
      const writing = a.writeLock().lock({ owner });
      const { tookMs, result: error } = await timed(() => rejection(writing));
      expect(error).toBeInstanceOf(ReentryError);
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      (await reading).assertHeld();
    });

    it('another owner of the same client waits for its turn instead', async () => {
      const { a, name, raw } = await two(context);
      const reading = await a.readLock().lock();
      const writing = a.writeLock().lock();
      await untilWaiting(raw, name);
      await reading.unlock();
      (await writing).assertHeld();
    });

    it('entering the write lock again is not an upgrade, though its owner reads as well', async () => {
      const { a } = await two(context);
      const result = await a
        .writeLock()
        .withLock(() =>
          a.readLock().withLock(() => a.writeLock().withLock(() => a.writeLock().getHoldCount())),
        );
      expect(result).toBe(2);
    });
  });

  describe('asking', () => {
    it('isLocked and remainingMs look at one side each', async () => {
      const { a, b, ours } = await two(context);
      const sides = async () => [await b.readLock().isLocked(), await b.writeLock().isLocked()];
      expect(await sides()).toEqual([false, false]);
      expect(await b.readLock().getRemainingMs()).toBeNull();
      const owner = ours.owner();
      const writing = await a.writeLock().lock({ owner });
      expect(await sides()).toEqual([false, true]);
      expect(await b.readLock().getRemainingMs()).toBeNull();
      const reading = await a.readLock().lock({ owner });
      expect(await sides()).toEqual([true, true]);
      await writing.unlock();
      expect(await sides()).toEqual([true, false]);
      expect(await b.readLock().getRemainingMs()).toBeGreaterThan(20_000);
      await reading.unlock();
      expect(await sides()).toEqual([false, false]);
    });

    it('isHeld and getHoldCount answer for one owner among many', async () => {
      const { a, b, ours, theirs } = await two(context);
      const [me, other] = [ours.owner(), theirs.owner()];
      await a.readLock().lock({ owner: me });
      await b.readLock().lock({ owner: other });
      await a.readLock().lock({ owner: me });
      expect(await a.readLock().getHoldCount({ owner: me })).toBe(2);
      expect(await b.readLock().getHoldCount({ owner: other })).toBe(1);
      expect(await a.readLock().isHeld({ owner: ours.owner() })).toBe(false);
      expect(await a.writeLock().isHeld({ owner: me })).toBe(false);
    });
  });

  describe('forceUnlock', () => {
    it("of the read lock frees readers, aborts the signals of this client's readers, and does not touch a writer", async () => {
      const { a, b, raw, name } = await two(context);
      const writing = await a.writeLock().lock();
      expect(await a.readLock().forceUnlock()).toBe(false);
      writing.assertHeld();
      await writing.unlock();
      const [mine, theirs] = [await a.readLock().lock(), await b.readLock().lock()];
      expect(await a.writeLock().forceUnlock()).toBe(false);
      mine.assertHeld();
      expect(await a.readLock().forceUnlock()).toBe(true);
      expect(mine.signal.reason).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'forced' });
      expect(await raw.command('EXISTS', name)).toBe(0);
      expect(await theirs.unlock()).toBe(false);
      expect(await mine.unlock()).toBe(false);
    });

    it('of the write lock frees the writer with its read hold, and wakes waiters', async () => {
      const { a, b, raw, name, ours } = await two(context);
      const owner = ours.owner();
      const writing = await a.writeLock().lock({ owner });
      const reading = await a.readLock().lock({ owner });
      const waiting = b.readLock().lock();
      await untilWaiting(raw, name);
      expect(await a.writeLock().forceUnlock()).toBe(true);
      expect([writing.signal.aborted, reading.signal.aborted]).toEqual([true, true]);
      (await waiting).assertHeld();
    });
  });
}

/** How leases and preference play out in real time. */
function describeReadWriteLockOverTime(context: Context): void {
  describe('leases', () => {
    it('a read hold with a lease ends with it, and its signal aborts before', async () => {
      const { a, b, name, raw } = await two(context);
      const reading = await a.readLock().lock({ leaseMs: 1_500 });
      const waiting = b.writeLock().lock();
      const lost = await whenAborted(reading.signal);
      expect(lost).toBeInstanceOf(LeaseLostError);
      expect(await raw.command('HEXISTS', name, reading.owner)).toBe(1);
      (await waiting).assertHeld();
      expect(await reading.unlock()).toBe(false);
    });

    it('the watchdog keeps many read holds, entered several times, over many leases', async () => {
      const client = await context.client({ watchdogMs: 1_200 });
      const raw = await context.raw();
      const lock = client.getReadWriteLock(randomName());
      const owner = client.owner();
      const holds = [await lock.readLock().lock({ owner }), await lock.readLock().lock({ owner })];
      holds.push(await lock.readLock().lock());
      const from = performance.now();
      await eventually(() => performance.now() - from > 2_500, { everyMs: 20 });
      for (const hold of holds) hold.assertHeld();
      const [first] = holds as [Hold];
      for (const hold of [1, 2])
        expect(await pttl(raw, holdKeyOf(lock.name, first.owner, hold))).toBeGreaterThan(0);
      expect(await fieldsOf(raw, lock.name)).toMatchObject({ mode: 'read', [first.owner]: '2' });
    });

    it('extend lengthens the hold keys and the lock', async () => {
      const { a, name, raw } = await two(context);
      const hold = await a.readLock().lock({ leaseMs: 1_000 });
      await hold.extend(60_000);
      expect(await pttl(raw, name)).toBeGreaterThan(40_000);
      expect(await pttl(raw, holdKeyOf(name, hold.owner, 1))).toBeGreaterThan(40_000);
    });

    it('a dead reader stops counting when its own lease ends, however long other readers keep the lock', async () => {
      const { a, b, name, raw } = await two(context);
      // What a reader that was killed leaves behind.
      await raw.command('HSET', name, 'mode', 'read', 'dead:1', 1);
      await raw.command('SET', holdKeyOf(name, 'dead:1', 1), '1', 'PX', 700);
      await raw.command('PEXPIRE', name, 700);
      const long = await a.readLock().lock({ leaseMs: 60_000 });
      expect(await pttl(raw, name)).toBeGreaterThan(40_000);
      const waiting = b.writeLock().lock();
      await untilWaiting(raw, name);
      const { tookMs, result } = await timed(async () => {
        await long.unlock();
        return waiting;
      });
      result.assertHeld();
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(await fieldsOf(raw, name)).toEqual({ mode: 'write', [result.owner]: '1' });
    });

    it('a reader that leaves removes dead readers, so that other clients find the lock free', async () => {
      const { a, name, raw } = await two(context);
      const long = await a.readLock().lock({ leaseMs: 60_000 });
      await raw.command('HSET', name, 'dead:1', 1, 'dead:2', 3);
      await long.unlock();
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('a dead reader counts while others read and renew the lock, and no longer', async () => {
      const client = await context.client({ watchdogMs: 1_200 });
      const raw = await context.raw();
      const lock = client.getReadWriteLock(randomName());
      const living = [await lock.readLock().lock(), await lock.readLock().lock()];
      await raw.command('HSET', lock.name, 'dead:1', 1);
      const from = performance.now();
      await eventually(() => performance.now() - from > 2_500, { everyMs: 20 });
      expect(await raw.command('EXISTS', holdKeyOf(lock.name, 'dead:1', 1))).toBe(0);
      expect(await lock.writeLock().tryLock()).toBeNull();
      for (const hold of living) expect(await hold.unlock()).toBe(true);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
    });

    it('a read lease that ended leaves no field behind while others read on', async () => {
      const { a, b, name, raw } = await two(context);
      const staying = await a.readLock().lock({ leaseMs: 60_000 });
      const hold = await b.readLock().lock({ leaseMs: 600 });
      await whenAborted(hold.signal);
      await eventually(async () =>
        expect(await fieldsOf(raw, name)).toEqual({ mode: 'read', [staying.owner]: '1' }),
      );
    });

    it('a reader that leaves shortens the lock to the longest lease of the others, not below', async () => {
      const { a, b, name, raw } = await two(context);
      const short = await b.readLock().lock({ leaseMs: 20_000 });
      const long = await a.readLock().lock({ leaseMs: 60_000 });
      await long.unlock();
      expect(await pttl(raw, name)).toBeLessThanOrEqual(20_000);
      const endsAt = (key: string) => raw.command('PEXPIRETIME', key);
      // The server looks at one and writes the other, and a millisecond may pass between.
      expect(
        Math.abs(Number(await endsAt(name)) - Number(await endsAt(holdKeyOf(name, short.owner, 1)))),
      ).toBeLessThanOrEqual(1);
      short.assertHeld();
    });
  });

  describe('a preferred writer', () => {
    it('gets the lock under a stream of readers without a pause', async () => {
      const { ours, theirs, name, raw } = await two(context);
      const stop = new AbortController();
      const lock = theirs.getReadWriteLock(name);
      let reads = 0;
      /** Hands over from hold to hold, so that somebody reads at every moment. */
      const stream = async (client: Holdfast) => {
        let hold = await client.getReadWriteLock(name).readLock().lock();
        while (!stop.signal.aborted) {
          const next = await client.getReadWriteLock(name).readLock().tryLock({ waitMs: 20 });
          if (next === null) break;
          await hold.unlock();
          hold = next;
          reads += 1;
        }
        await hold.unlock();
      };
      const streams = [stream(ours), stream(theirs), stream(theirs)];
      await eventually(() => reads > 20);
      expect(await lock.writeLock().tryLock()).toBeNull();
      const preferred = theirs.getReadWriteLock(name, { prefer: 'writer' });
      const { tookMs, result } = await timed(() => preferred.writeLock().lock());
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      result.assertHeld();
      stop.abort();
      await Promise.all(streams);
      expect(await raw.command('EXISTS', waitingOf(name))).toBe(0);
    });

    it('lets present readers re-enter, and new readers read when it gives up', async () => {
      const { a, b, name, raw, ours, theirs } = await two(context);
      const owner = ours.owner();
      const reading = await a.readLock().lock({ owner });
      const giveUp = new AbortController();
      const preferred = theirs.getReadWriteLock(name, { prefer: 'writer' }).writeLock();
      const writing = rejection(preferred.lock({ signal: giveUp.signal }));
      await eventually(async () => (await raw.command('EXISTS', waitingOf(name))) === 1);
      const again = await a.readLock().lock({ owner });
      expect(await b.readLock().tryLock()).toBeNull();
      const waiting = b.readLock().lock();
      await untilWaiting(raw, name, 1);
      const { tookMs } = await timed(async () => {
        giveUp.abort();
        return waiting;
      });
      expect(await writing).toBe(giveUp.signal.reason);
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      for (const hold of [reading, again]) hold.assertHeld();
    });

    it('that attempts only once, or that died, does not keep readers out for long', async () => {
      const { a, b, name, raw, theirs } = await two(context);
      const reading = await a.readLock().lock();
      const preferred = theirs.getReadWriteLock(name, { prefer: 'writer' }).writeLock();
      expect(await preferred.tryLock()).toBeNull();
      expect(await raw.command('EXISTS', waitingOf(name))).toBe(0);
      const untilMs = Date.now() + 600;
      await raw.command('ZADD', waitingOf(name), untilMs, 'dead:1:write');
      await raw.command('PEXPIRE', waitingOf(name), 600);
      const { tookMs } = await timed(() => b.readLock().lock());
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      reading.assertHeld();
    });

    it('renews its note while it waits', async () => {
      const { a, name, raw, theirs } = await two(context);
      const reading = await a.readLock().lock();
      const writing = theirs.getReadWriteLock(name, { prefer: 'writer' }).writeLock().lock();
      const noted = async () =>
        Number(((await raw.command('ZRANGE', waitingOf(name), 0, 0, 'WITHSCORES')) as string[])[1]);
      const first = await eventually(async () => {
        expect(await noted()).toBeGreaterThan(0);
        return noted();
      });
      await eventually(async () => (await noted()) > first + 1_000, { everyMs: 50 });
      expect(await a.readLock().tryLock()).toBeNull();
      await reading.unlock();
      (await writing).assertHeld();
    });
  });
}

describeThrough('read/write lock', (context) => {
  describeReadWriteLock(context);
  describeReadWriteLockOverTime(context);
});
