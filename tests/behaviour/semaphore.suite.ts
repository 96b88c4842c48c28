/** The semaphore: counting, waiting, giving back, and sharing it with Redisson. */
import { describe, expect, it } from 'vitest';
import { AcquireTimeoutError, ClosedError, DriverError, OptionError } from '../../src/index.ts';
import type { RawView } from '../harness/cluster-connection.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough } from './support/context.ts';
import { WELL_BEFORE_POLL_MS } from './support/listeners.ts';
import { gate, rejection, timed } from './support/moments.ts';
import { channelOf, preparedSemaphore, untilWaiting } from './support/semaphores.ts';

async function stored(raw: RawView, name: string): Promise<number | null> {
  const value = await raw.command('GET', name);
  return value === null ? null : Number(value);
}

const prepared = (context: Context, permits: number) =>
  preparedSemaphore(context, permits, (client, name) => client.getSemaphore(name));

function describeSemaphore(context: Context): void {
  describe('counting', () => {
    it('gets its permits once', async () => {
      const { raw, name, semaphore } = await prepared(context, 3);
      expect(await semaphore.trySetPermits(5)).toBe(false);
      expect(await semaphore.availablePermits()).toBe(3);
      expect(await raw.command('GET', name)).toBe('3');
      expect(await raw.command('PTTL', name)).toBe(-1);
    });

    it('has no permits before they are set', async () => {
      const semaphore = (await context.client()).getSemaphore(randomName());
      expect(await semaphore.availablePermits()).toBe(0);
      expect(await semaphore.tryAcquire()).toBe(false);
      expect(await semaphore.trySetPermits(0)).toBe(true);
      expect(await semaphore.tryAcquire()).toBe(false);
      expect(await semaphore.trySetPermits(1)).toBe(false);
    });

    it('grants all requested permits or none', async () => {
      const { semaphore } = await prepared(context, 3);
      expect(await semaphore.tryAcquire(2)).toBe(true);
      expect(await semaphore.tryAcquire(2)).toBe(false);
      expect(await semaphore.availablePermits()).toBe(1);
      await semaphore.release(2);
      await semaphore.acquire(3);
      expect(await semaphore.availablePermits()).toBe(0);
    });

    it('is created by a release, with the released permits', async () => {
      const semaphore = (await context.client()).getSemaphore(randomName());
      await semaphore.release(2);
      expect(await semaphore.availablePermits()).toBe(2);
    });

    it('releaseIfExists releases only to an existing semaphore', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      expect(await semaphore.releaseIfExists(2)).toBe(true);
      expect(await semaphore.availablePermits()).toBe(3);
      await raw.command('DEL', name);
      expect(await semaphore.releaseIfExists(2)).toBe(false);
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('sends nothing for 0 permits', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const semaphore = client.getSemaphore(randomName());
      // Whoever asked the server would be told that this is no semaphore.
      await raw.command('RPUSH', semaphore.name, 'data');
      await semaphore.acquire(0);
      expect(await semaphore.tryAcquire(0)).toBe(true);
      await semaphore.release(0);
      expect(await semaphore.releaseIfExists(0)).toBe(false);
      expect(await rejection(semaphore.tryAcquire(1))).toBeInstanceOf(DriverError);
      expect(await raw.command('LRANGE', semaphore.name, 0, -1)).toEqual(['data']);
    });

    it('grows, shrinks below zero and is drained, and keeps its TTL', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const semaphore = client.getSemaphore(randomName());
      expect(await semaphore.trySetPermits(2, { ttlMs: 60_000 })).toBe(true);
      await semaphore.addPermits(3);
      expect(await semaphore.drainPermits()).toBe(5);
      expect(await semaphore.drainPermits()).toBe(0);
      await semaphore.addPermits(-4);
      expect(await semaphore.availablePermits()).toBe(-4);
      await semaphore.release(4);
      expect(await semaphore.tryAcquire()).toBe(false);
      const remainingMs = Number(await raw.command('PTTL', semaphore.name));
      expect(remainingMs).toBeLessThanOrEqual(60_000);
      expect(remainingMs).toBeGreaterThan(30_000);
    });

    it('grants exactly the free permits to concurrent callers', async () => {
      const { semaphore } = await prepared(context, 30);
      const asked = Array.from({ length: 40 }, (_, i) =>
        i % 2 === 0 ? semaphore.tryAcquire() : semaphore.tryAcquire(1, { waitMs: 1 }),
      );
      const granted = (await Promise.all(asked)).filter((taken) => taken);
      expect(granted).toHaveLength(30);
      expect(await semaphore.availablePermits()).toBe(0);
    });

    it('keeps a remembered answer only briefly once it has arrived', async () => {
      const { raw, name, semaphore } = await prepared(context, 2);
      await semaphore.acquire();
      await semaphore.release();
      await eventually(async () => {
        const keys = (await raw.command('KEYS', `redisson_unlock_latch:{${name}}:*`)) as string[];
        // Of setting, taking and giving back; the first is remembered for a minute from the start.
        expect(keys.length).toBeGreaterThanOrEqual(3);
        for (const key of keys) expect(await raw.command('PTTL', key)).toBeLessThanOrEqual(60_000);
      });
    });
  });

  describe('options', () => {
    it.each([-1, 1.5, Number.NaN, 2 ** 31, '1', null])('refuses %s permits', async (wrong) => {
      const client = await context.client();
      const raw = await context.raw();
      const semaphore = client.getSemaphore(randomName());
      const permits = wrong as number;
      const calls = [
        () => semaphore.trySetPermits(permits),
        () => semaphore.acquire(permits),
        () => semaphore.tryAcquire(permits),
        () => semaphore.release(permits),
        () => semaphore.releaseIfExists(permits),
        () => semaphore.withPermit(() => expect.unreachable(), { permits }),
      ];
      for (const call of calls) expect(await rejection(call())).toBeInstanceOf(OptionError);
      if (wrong !== -1) expect(await rejection(semaphore.addPermits(permits))).toBeInstanceOf(OptionError);
      expect(await raw.command('EXISTS', semaphore.name)).toBe(0);
    });

    it('refuses unknown options and values out of range', async () => {
      const client = await context.client();
      const semaphore = client.getSemaphore(randomName());
      const wrong = { waitMs: -1 };
      const calls = [
        () => semaphore.trySetPermits(1, { ttlMs: 0 }),
        () => semaphore.tryAcquire(1, wrong),
        () => semaphore.acquire(1, { waitMs: 10 } as object),
        () => semaphore.withPermit(() => expect.unreachable(), { permits: 0 }),
        () => semaphore.withPermit(undefined as never),
      ];
      for (const call of calls) expect(await rejection(call())).toBeInstanceOf(OptionError);
      expect(() => client.getSemaphore('')).toThrow(OptionError);
    });
  });

  describe('waiting', () => {
    it('is woken when another client releases permits', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const theirs = (await context.client()).getSemaphore(name);
      const waiter = semaphore.acquire(2);
      await untilWaiting(raw, name);
      await theirs.release(2);
      const { tookMs } = await timed(() => waiter);
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(await stored(raw, name)).toBe(0);
    });

    it('gets permits within waitMs, and false when waitMs has passed, not before', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const { result, tookMs } = await timed(() => semaphore.tryAcquire(1, { waitMs: 150 }));
      expect(result).toBe(false);
      expect(tookMs).toBeGreaterThanOrEqual(148);
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      await untilWaiting(raw, name, 0);

      const waiter = semaphore.tryAcquire(1, { waitMs: 20_000 });
      await untilWaiting(raw, name);
      await semaphore.release();
      const later = await timed(() => waiter);
      expect(later.result).toBe(true);
      expect(later.tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      await untilWaiting(raw, name, 0);
    });

    it('is woken by permits that are added or first set', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const waiter = semaphore.acquire();
      await untilWaiting(raw, name);
      await semaphore.addPermits(1);
      expect((await timed(() => waiter)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);

      const unset = semaphore.name.concat(':unset');
      const early = (await context.client()).getSemaphore(unset);
      const first = early.acquire();
      await untilWaiting(raw, unset);
      await early.trySetPermits(1);
      expect((await timed(() => first)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
    });

    it('one release serves all waiters for which it suffices, in every process', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const theirs = (await context.client()).getSemaphore(name);
      const waiters = [semaphore, theirs].flatMap((each) => [
        each.acquire(),
        each.acquire(),
        each.acquire(2),
      ]);
      await untilWaiting(raw, name, 2);
      await (await context.client()).getSemaphore(name).release(8);
      const { tookMs } = await timed(() => Promise.all(waiters));
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(await stored(raw, name)).toBe(0);
    });

    it('serves the requests of one process for the same number in the order of their calls', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const served: number[] = [];
      const waiters = Array.from({ length: 6 }, async (_, place) => {
        await semaphore.acquire(2);
        served.push(place);
      });
      await untilWaiting(raw, name);
      const theirs = (await context.client()).getSemaphore(name);
      for (let i = 0; i < waiters.length; i += 1) await theirs.release(2);
      await Promise.all(waiters);
      expect(served).toEqual([0, 1, 2, 3, 4, 5]);
    });

    it('serves small requests though larger ones arrived before', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const served: string[] = [];
      const many = semaphore.acquire(5).then(() => served.push('many'));
      await untilWaiting(raw, name);
      const few = semaphore.acquire(1).then(() => served.push('few'));
      await semaphore.release(1);
      expect((await timed(() => few)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(served).toEqual(['few']);
      await semaphore.release(5);
      expect((await timed(() => many)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(await stored(raw, name)).toBe(0);
    });

    it('stops at once when aborted, and takes nothing afterwards', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const giveUp = new AbortController();
      const waiters = [
        semaphore.acquire(1, { signal: giveUp.signal }),
        semaphore.tryAcquire(2, { waitMs: 20_000, signal: giveUp.signal }),
        semaphore.withPermit(() => expect.unreachable(), { signal: giveUp.signal }),
      ];
      await untilWaiting(raw, name);
      const why = new Error('changed my mind');
      giveUp.abort(why);
      for (const waiter of waiters) expect(await rejection(waiter)).toBe(why);
      await untilWaiting(raw, name, 0);
      await semaphore.release(4);
      expect(await stored(raw, name)).toBe(4);
      expect(await rejection(semaphore.acquire(1, { signal: giveUp.signal }))).toBe(why);
      expect(await stored(raw, name)).toBe(4);
    });

    it('rejects when the client closes', async () => {
      const { client, raw, name, semaphore } = await prepared(context, 0);
      const waiter = semaphore.acquire();
      await untilWaiting(raw, name);
      const closing = client.close();
      expect(await rejection(waiter)).toBeInstanceOf(ClosedError);
      await closing;
      expect(await rejection(semaphore.release())).toBeInstanceOf(ClosedError);
      expect(await stored(raw, name)).toBe(0);
    });
  });

  describe('withPermit', () => {
    it('never runs more work at once than there are permits, and as much as that', async () => {
      const { name, semaphore, raw } = await prepared(context, 3);
      const theirs = (await context.client()).getSemaphore(name);
      let [inside, most] = [0, 0];
      const full = gate();
      const work = async () => {
        inside += 1;
        most = Math.max(most, inside);
        if (inside === 3) full.open();
        await full.opened;
        inside -= 1;
      };
      const all = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? semaphore : theirs).withPermit(work));
      await Promise.all(all);
      expect(most).toBe(3);
      expect(await stored(raw, name)).toBe(3);
    });

    it('returns the result or error of the work, and releases once either way', async () => {
      const { raw, name, semaphore } = await prepared(context, 3);
      expect(await semaphore.withPermit(() => semaphore.availablePermits(), { permits: 2 })).toBe(1);
      const why = new Error('of the work');
      const failing = () => {
        throw why;
      };
      expect(await rejection(semaphore.withPermit(failing))).toBe(why);
      expect(await rejection(semaphore.withPermit(async () => failing()))).toBe(why);
      expect(await stored(raw, name)).toBe(3);
    });

    it('rejects with AcquireTimeoutError after waitMs', async () => {
      const { semaphore } = await prepared(context, 1);
      const waiting = () =>
        rejection(semaphore.withPermit(() => expect.unreachable(), { waitMs: 100, permits: 2 }));
      const { result, tookMs } = await timed(waiting);
      expect(result).toBeInstanceOf(AcquireTimeoutError);
      expect(tookMs).toBeGreaterThanOrEqual(98);
      expect(await semaphore.availablePermits()).toBe(1);
    });

    it('does not recreate a deleted semaphore', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      await semaphore.withPermit(() => raw.command('DEL', name));
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('releases when the client closes, and rejects with ClosedError or the error of the work', async () => {
      const { client, raw, name, semaphore } = await prepared(context, 2);
      const [entered, enteredToo, finish] = [gate(), gate(), gate()];
      const why = new Error('of the work');
      const steady = semaphore.withPermit(async () => {
        entered.open();
        await finish.opened;
        return 'done';
      });
      const failing = semaphore.withPermit(async () => {
        enteredToo.open();
        await finish.opened;
        throw why;
      });
      await Promise.all([entered.opened, enteredToo.opened]);
      expect(await stored(raw, name)).toBe(0);
      await client.close();
      expect(await stored(raw, name)).toBe(2);
      finish.open();
      expect(await rejection(steady)).toBeInstanceOf(ClosedError);
      expect(await rejection(failing)).toBe(why);
      expect(await stored(raw, name)).toBe(2);
    });
  });

  describe('shared with Redisson', () => {
    it('is woken by a release of Java, which adds and publishes the new total', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const waiter = semaphore.acquire();
      await untilWaiting(raw, name);
      const total = Number(await raw.command('INCRBY', name, 1));
      await raw.command('PUBLISH', channelOf(name), String(total));
      expect((await timed(() => waiter)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
    });

    it('publishes the new total, which wakes Java, and never a value that would throw there', async () => {
      const { raw, name, semaphore } = await prepared(context, 3);
      const listener = await context.raw();
      await listener.subscribe(channelOf(name));
      const heard: string[] = [];
      listener.onMessage(({ message }) => heard.push(message));
      await semaphore.acquire(2);
      await semaphore.release();
      await semaphore.addPermits(-9);
      await semaphore.release(7);
      await semaphore.drainPermits();
      await semaphore.addPermits(4);
      await raw.command('PUBLISH', channelOf(name), 'end');
      await eventually(() => heard.includes('end'));
      expect(heard).toEqual(['2', '4', 'end']);
    });

    it('keeps braces in a name, and applies a prefix', async () => {
      const raw = await context.raw();
      const name = `{${randomName()}}:pool`;
      const semaphore = (await context.client()).getSemaphore(name);
      const waiter = semaphore.acquire();
      await eventually(async () => {
        const found = (await raw.command('PUBSUB', 'NUMSUB', `redisson_sc:${name}`)) as [string, number];
        return Number(found[1]) === 1;
      });
      await semaphore.release();
      await waiter;
      const mapped = (await context.client({ mapName: (given) => `app:${given}` })).getSemaphore(name);
      await mapped.trySetPermits(4);
      expect(await raw.command('GET', `app:${name}`)).toBe('4');
    });
  });
}

describeThrough('semaphore', describeSemaphore);
