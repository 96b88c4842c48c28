/** The permit-expirable semaphore: counting, ids, waiting, and sharing it with Redisson. */
import { describe, expect, it } from 'vitest';
import { ClosedError, DriverError, NotHeldError, OptionError, type Permit } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough } from './support/context.ts';
import { WELL_BEFORE_POLL_MS } from './support/listeners.ts';
import { rejection, timed } from './support/moments.ts';
import {
  endOf,
  javaReleases,
  javaTakes,
  leftMs,
  PERMANENT,
  prepared,
  setOf,
  stored,
} from './support/permit-semaphore-by-hand.ts';
import { channelOf, untilWaiting } from './support/semaphores.ts';

const STRANGE_ID = '0123456789abcdef0123456789abcdef';

function describePermitSemaphore(context: Context): void {
  describe('counting', () => {
    it('gets its permits once', async () => {
      const { raw, name, semaphore } = await prepared(context, 3);
      expect(await semaphore.trySetPermits(5)).toBe(false);
      expect(await semaphore.availablePermits()).toBe(3);
      expect(await raw.command('GET', name)).toBe('3');
      expect(await raw.command('PTTL', name)).toBe(-1);
    });

    it('has no permits before they are set', async () => {
      const semaphore = (await context.client()).getPermitExpirableSemaphore(randomName());
      expect(await semaphore.tryAcquire()).toBeNull();
      const counts = [semaphore.availablePermits(), semaphore.acquiredPermits(), semaphore.getPermits()];
      expect(await Promise.all(counts)).toEqual([0, 0, 0]);
    });

    it('takes a permit under an id of 16 random bytes, and gives it back once', async () => {
      const { raw, name, semaphore } = await prepared(context, 2);
      const [one, other] = [await semaphore.acquire(), await semaphore.tryAcquire()];
      expect(one.id).toMatch(/^[0-9a-f]{32}$/);
      expect(other?.id).toMatch(/^[0-9a-f]{32}$/);
      expect(other?.id).not.toBe(one.id);
      expect(await endOf(raw, name, one.id)).not.toBeNull();
      expect(await semaphore.tryAcquire()).toBeNull();
      expect(await stored(raw, name)).toEqual([0, 2]);
      expect(await one.release()).toBe(true);
      expect(await one.release()).toBe(true);
      expect(await stored(raw, name)).toEqual([1, 1]);
      expect(() => one.assertHeld()).toThrow(NotHeldError);
      expect(one.remainingMs).toBe(0);
      expect(one.signal.aborted).toBe(false);
      other?.assertHeld();
    });

    it('releases at the end of the block', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      {
        await using permit = await semaphore.acquire();
        permit.assertHeld();
        expect(await stored(raw, name)).toEqual([0, 1]);
      }
      expect(await stored(raw, name)).toEqual([1, 0]);
    });

    it('grants all requested permits or none', async () => {
      const { raw, name, semaphore } = await prepared(context, 3);
      const two = (await semaphore.tryAcquireMany(2)) as Permit[];
      expect(new Set(two.map(({ id }) => id)).size).toBe(2);
      expect(await semaphore.tryAcquireMany(2)).toBeNull();
      expect(await stored(raw, name)).toEqual([1, 2]);
      expect(await two[0]?.release()).toBe(true);
      expect(await semaphore.acquireMany(2)).toHaveLength(2);
      expect(await stored(raw, name)).toEqual([0, 3]);
      two[1]?.assertHeld();
    });

    it('counts free, taken and all permits', async () => {
      const { semaphore } = await prepared(context, 5);
      await semaphore.acquireMany(2);
      const counts = [semaphore.availablePermits(), semaphore.acquiredPermits(), semaphore.getPermits()];
      expect(await Promise.all(counts)).toEqual([3, 2, 5]);
    });

    it('grows and shrinks, below zero if necessary, and keeps its TTL', async () => {
      const { raw, name, semaphore } = await prepared(context, 2);
      await raw.command('PEXPIRE', name, 60_000);
      const permits = await semaphore.acquireMany(2);
      await semaphore.addPermits(3);
      expect(await semaphore.getPermits()).toBe(5);
      await semaphore.setPermits(1);
      expect(await semaphore.availablePermits()).toBe(-1);
      await permits[0]?.release();
      expect(await semaphore.tryAcquire()).toBeNull();
      await semaphore.addPermits(-1);
      expect(await semaphore.getPermits()).toBe(0);
      await semaphore.setPermits(3);
      expect(await stored(raw, name)).toEqual([2, 1]);
      for (const key of [name, setOf(name)]) {
        const remainingMs = Number(await raw.command('PTTL', key));
        expect(remainingMs).toBeLessThanOrEqual(60_000);
        expect(remainingMs).toBeGreaterThan(30_000);
      }
    });

    it('grants exactly the free permits to concurrent callers', async () => {
      const { raw, name, semaphore } = await prepared(context, 30);
      const asked = Array.from({ length: 40 }, (_, i) =>
        i % 2 === 0 ? semaphore.tryAcquire() : semaphore.tryAcquire({ waitMs: 1 }),
      );
      const granted = (await Promise.all(asked)).filter((permit) => permit !== null);
      expect(granted).toHaveLength(30);
      expect(await stored(raw, name)).toEqual([0, 30]);
    });
  });

  describe('options', () => {
    it.each([-1, 0, 1.5, Number.NaN, 10_001, '1', null])('refuses to acquire %s permits', async (wrong) => {
      const { raw, name, semaphore } = await prepared(context, 1);
      const permits = wrong as number;
      for (const call of [semaphore.acquireMany(permits), semaphore.tryAcquireMany(permits)]) {
        expect(await rejection(call)).toBeInstanceOf(OptionError);
      }
      expect(await stored(raw, name)).toEqual([1, 0]);
    });

    it.each([0, -1, 1.5, Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 53, '5', null])(
      'refuses a lease of %s',
      async (wrong) => {
        const { raw, name, semaphore } = await prepared(context, 1);
        const leaseMs = wrong as number;
        const calls = [
          semaphore.acquire({ leaseMs }),
          semaphore.tryAcquire({ leaseMs }),
          semaphore.acquireMany(1, { leaseMs }),
          semaphore.updateLease(STRANGE_ID, leaseMs),
        ];
        for (const call of calls) expect(await rejection(call)).toBeInstanceOf(OptionError);
        expect(await stored(raw, name)).toEqual([1, 0]);
      },
    );

    it.each(['', 'x', STRANGE_ID.toUpperCase(), `${STRANGE_ID}0`, 5, null, undefined, {}])(
      'refuses %j as an id',
      async (wrong) => {
        const { semaphore } = await prepared(context, 1);
        const id = wrong as string;
        const calls = [
          semaphore.release(id),
          semaphore.tryRelease(id),
          semaphore.tryRelease([STRANGE_ID, id]),
          semaphore.updateLease(id, 1_000),
          semaphore.getLeaseMs(id),
        ];
        for (const call of calls) expect(await rejection(call)).toBeInstanceOf(OptionError);
      },
    );

    it('refuses unknown options and values out of range', async () => {
      const { client, semaphore } = await prepared(context, 1);
      const calls = [
        semaphore.tryAcquire({ waitMs: -1 }),
        semaphore.acquire({ waitMs: 10 } as object),
        semaphore.acquire({ signal: {} as AbortSignal }),
        semaphore.trySetPermits(-1),
        semaphore.setPermits(-1),
        semaphore.setPermits(2 ** 31),
        semaphore.addPermits(0.5),
      ];
      for (const call of calls) expect(await rejection(call)).toBeInstanceOf(OptionError);
      expect(() => client.getPermitExpirableSemaphore('')).toThrow(OptionError);
    });

    it('does not change a key that is not a semaphore', async () => {
      const { raw, client } = await prepared(context, 1);
      const name = randomName();
      await raw.command('RPUSH', name, 'data');
      const semaphore = client.getPermitExpirableSemaphore(name);
      const calls = [
        semaphore.acquire(),
        semaphore.release(STRANGE_ID),
        semaphore.setPermits(1),
        semaphore.getPermits(),
      ];
      const errors = await Promise.all(calls.map(rejection));
      for (const error of errors) expect(error).toBeInstanceOf(DriverError);
      expect(await raw.command('LRANGE', name, 0, -1)).toEqual(['data']);
    });
  });

  describe('ids', () => {
    it('are released by any client, once', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      const theirs = (await context.client()).getPermitExpirableSemaphore(name);
      const permit = await semaphore.acquire();
      await theirs.release(permit.id);
      expect(await stored(raw, name)).toEqual([1, 0]);
      expect(await rejection(theirs.release(permit.id))).toBeInstanceOf(NotHeldError);
      expect(await theirs.tryRelease(permit.id)).toBe(false);
      expect(await permit.release()).toBe(false);
      expect(await stored(raw, name)).toEqual([1, 0]);
    });

    it('of permits of the same client end the handle as its own release does', async () => {
      const { client, raw, name, semaphore } = await prepared(context, 1);
      const lost: unknown[] = [];
      client.on('lost', (event) => lost.push(event));
      const permit = await semaphore.acquire();
      const again = client.getPermitExpirableSemaphore(name);
      const answers = await Promise.all([again.tryRelease(permit.id), semaphore.tryRelease(permit.id)]);
      expect(answers).toEqual([true, false]);
      expect(() => permit.assertHeld()).toThrow(NotHeldError);
      expect(permit.signal.aborted).toBe(false);
      expect(await permit.release()).toBe(true);
      expect(await stored(raw, name)).toEqual([1, 0]);
      expect(lost).toEqual([]);
    });

    it('of another semaphore are unknown', async () => {
      const { client, semaphore } = await prepared(context, 1);
      const permit = await semaphore.acquire();
      const other = client.getPermitExpirableSemaphore(randomName());
      expect(await other.tryRelease(permit.id)).toBe(false);
      expect(await other.updateLease(permit.id, 1_000)).toBe(false);
      expect(await rejection(other.getLeaseMs(permit.id))).toBeInstanceOf(NotHeldError);
      permit.assertHeld();
      expect(await permit.release()).toBe(true);
    });

    it('are released as a list, all or none', async () => {
      const { raw, name, semaphore } = await prepared(context, 3);
      const theirs = (await context.client()).getPermitExpirableSemaphore(name);
      const permits = await semaphore.acquireMany(3);
      const ids = permits.map(({ id }) => id);
      expect(await semaphore.tryRelease([...ids, STRANGE_ID])).toBe(0);
      expect(await stored(raw, name)).toEqual([0, 3]);
      for (const permit of permits) permit.assertHeld();
      expect(await semaphore.tryRelease([])).toBe(0);
      const [first = '', ...others] = ids;
      expect(await theirs.tryRelease([first])).toBe(1);
      expect(await semaphore.tryRelease(ids)).toBe(0);
      expect(await semaphore.tryRelease(others)).toBe(2);
      expect(await stored(raw, name)).toEqual([3, 0]);
      for (const permit of permits.slice(1)) {
        expect(() => permit.assertHeld()).toThrow(NotHeldError);
        expect(permit.signal.aborted).toBe(false);
        expect(await permit.release()).toBe(true);
      }
      expect(await stored(raw, name)).toEqual([3, 0]);
    });
  });

  describe('waiting', () => {
    it('is woken when another client releases a permit', async () => {
      const { raw, name, semaphore } = await prepared(context, 2);
      const theirs = (await context.client()).getPermitExpirableSemaphore(name);
      const [first, second] = (await theirs.acquireMany(2)) as [Permit, Permit];
      const waiter = semaphore.acquireMany(2);
      await untilWaiting(raw, name);
      await first.release();
      await second.release();
      expect((await timed(() => waiter)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(await stored(raw, name)).toEqual([0, 2]);
      await untilWaiting(raw, name, 0);
    });

    it('is woken by a released list, and by permits that are added or set', async () => {
      const { client, raw, name, semaphore } = await prepared(context, 1);
      const theirs = (await context.client()).getPermitExpirableSemaphore(name);
      const held = await theirs.acquire();
      const ways = [
        () => theirs.tryRelease([held.id]),
        () => theirs.addPermits(1),
        () => theirs.setPermits(3),
      ];
      for (const give of ways) {
        const waiter = semaphore.acquire();
        await untilWaiting(raw, name);
        await give();
        expect((await timed(() => waiter)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
        await untilWaiting(raw, name, 0);
      }
      const unset = client.getPermitExpirableSemaphore(randomName());
      const first = unset.acquire();
      await untilWaiting(raw, unset.name);
      await unset.trySetPermits(1);
      expect((await timed(() => first)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
    });

    it('gets a permit within waitMs, and null when waitMs has passed, not before', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      const held = await semaphore.acquire();
      const { result, tookMs } = await timed(() => semaphore.tryAcquire({ waitMs: 150 }));
      expect(result).toBeNull();
      expect(tookMs).toBeGreaterThanOrEqual(148);
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      await untilWaiting(raw, name, 0);

      const waiter = semaphore.tryAcquire({ waitMs: 20_000 });
      await untilWaiting(raw, name);
      await held.release();
      const later = await timed(() => waiter);
      expect(later.result?.remainingMs).toBeGreaterThan(0);
      expect(later.tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
    });

    it('gets a permit when the next lease ends, without a message', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      await javaTakes(raw, name, 60_000);
      await javaTakes(raw, name, 500);
      await raw.command('SET', name, '0');
      const { tookMs } = await timed(() => semaphore.acquire());
      expect(tookMs).toBeGreaterThan(350);
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(await stored(raw, name)).toEqual([0, 2]);
    });

    it('serves all waiters of all processes when as many leases end', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const theirs = (await context.client()).getPermitExpirableSemaphore(name);
      for (let i = 0; i < 6; i += 1) await javaTakes(raw, name, 500);
      await raw.command('SET', name, '0');
      const waiters = [semaphore, theirs].flatMap((each) => [
        each.acquire(),
        each.acquire(),
        each.tryAcquire({ waitMs: 10_000 }),
      ]);
      const { result, tookMs } = await timed(() => Promise.all(waiters));
      expect(result.every((permit) => permit !== null)).toBe(true);
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(await stored(raw, name)).toEqual([0, 6]);
    });

    it('serves the requests of one process for the same number in the order of their calls', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const served: number[] = [];
      const waiters = Array.from({ length: 6 }, async (_, place) => {
        await semaphore.acquireMany(2);
        served.push(place);
      });
      await untilWaiting(raw, name);
      const theirs = (await context.client()).getPermitExpirableSemaphore(name);
      for (let i = 0; i < waiters.length; i += 1) await theirs.addPermits(2);
      await Promise.all(waiters);
      expect(served).toEqual([0, 1, 2, 3, 4, 5]);
    });

    it('serves small requests though larger ones arrived before', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const served: string[] = [];
      const many = semaphore.acquireMany(5).then(() => served.push('many'));
      await untilWaiting(raw, name);
      const few = semaphore.acquire().then(() => served.push('few'));
      await semaphore.addPermits(1);
      expect((await timed(() => few)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(served).toEqual(['few']);
      await semaphore.addPermits(5);
      expect((await timed(() => many)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(await stored(raw, name)).toEqual([0, 6]);
    });

    it('stops at once when aborted, and takes nothing afterwards', async () => {
      const { raw, name, semaphore } = await prepared(context, 0);
      const giveUp = new AbortController();
      const { signal } = giveUp;
      const waiters = [
        semaphore.acquire({ signal }),
        semaphore.acquireMany(2, { signal }),
        semaphore.tryAcquire({ waitMs: 20_000, signal }),
      ];
      await untilWaiting(raw, name);
      const why = new Error('changed my mind');
      giveUp.abort(why);
      for (const waiter of waiters) expect(await rejection(waiter)).toBe(why);
      await untilWaiting(raw, name, 0);
      await semaphore.addPermits(4);
      expect(await stored(raw, name)).toEqual([4, 0]);
      expect(await rejection(semaphore.acquire({ signal }))).toBe(why);
      expect(await stored(raw, name)).toEqual([4, 0]);
    });

    it('aborted at any moment, either has a permit or has taken none', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      for (let turns = 0; turns < 30; turns += 1) {
        const giveUp = new AbortController();
        const asked = semaphore.acquire({ signal: giveUp.signal });
        const settled = asked.then(
          (permit) => permit,
          () => undefined,
        );
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        if (turns % 3 === 0) await new Promise(setImmediate);
        giveUp.abort();
        await (await settled)?.release();
        await eventually(async () => expect(await stored(raw, name)).toEqual([1, 0]));
      }
    });

    it('rejects when the client closes', async () => {
      const { client, raw, name, semaphore } = await prepared(context, 0);
      const waiter = semaphore.acquire();
      await untilWaiting(raw, name);
      const closing = client.close();
      expect(await rejection(waiter)).toBeInstanceOf(ClosedError);
      await closing;
      for (const call of [
        semaphore.tryRelease(STRANGE_ID),
        semaphore.getPermits(),
        semaphore.setPermits(1),
      ]) {
        expect(await rejection(call)).toBeInstanceOf(ClosedError);
      }
      expect(await stored(raw, name)).toEqual([0, 0]);
    });
  });

  describe('shared with Redisson', () => {
    it("counts Java's permits as taken until their leases end", async () => {
      const { raw, name, semaphore } = await prepared(context, 2);
      const [timed, permanent] = [await javaTakes(raw, name, 60_000), await javaTakes(raw, name, Infinity)];
      expect(await semaphore.tryAcquire()).toBeNull();
      expect(await semaphore.acquiredPermits()).toBe(2);
      const remainingMs = await semaphore.getLeaseMs(timed);
      expect(remainingMs).toBeLessThanOrEqual(60_000);
      expect(remainingMs).toBeGreaterThan(40_000);
      expect(await semaphore.getLeaseMs(permanent)).toBe(-1);
      await semaphore.release(permanent);
      expect(await semaphore.updateLease(timed, 300_000)).toBe(true);
      expect(await leftMs(raw, name, timed)).toBeGreaterThan(250_000);
      expect(await semaphore.tryRelease([timed])).toBe(1);
      expect(await stored(raw, name)).toEqual([2, 0]);
    });

    it('is woken by a release of Java, which adds and publishes the new total', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      const id = await javaTakes(raw, name, Number.POSITIVE_INFINITY);
      const waiter = semaphore.acquire();
      await untilWaiting(raw, name);
      expect(await javaReleases(raw, name, id)).toBe(true);
      expect((await timed(() => waiter)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
    });

    it('takes permits that Java can release: raw bytes, one for each permit', async () => {
      const { raw, name, semaphore } = await prepared(context, 2);
      const [permit] = (await semaphore.acquireMany(2, { leaseMs: 60_000 })) as [Permit, Permit];
      expect(await javaReleases(raw, name, permit.id)).toBe(true);
      expect(await stored(raw, name)).toEqual([1, 1]);
      expect(await permit.release()).toBe(false);
      expect(await stored(raw, name)).toEqual([1, 1]);
      const forEver = await semaphore.acquire({ leaseMs: Number.POSITIVE_INFINITY });
      expect(await endOf(raw, name, forEver.id)).toBe(PERMANENT);
    });

    it('publishes messages that wake Java, and none that would throw there', async () => {
      const { raw, name, semaphore } = await prepared(context, 3);
      const listener = await context.raw();
      await listener.subscribe(channelOf(name));
      const heard: string[] = [];
      listener.onMessage(({ message }) => heard.push(message));
      const [one, two, three] = (await semaphore.acquireMany(3)) as [Permit, Permit, Permit];
      await one.release();
      await semaphore.tryRelease([two.id, three.id]);
      await semaphore.addPermits(-9);
      await semaphore.addPermits(2);
      await semaphore.setPermits(0);
      await semaphore.setPermits(4);
      await raw.command('PUBLISH', channelOf(name), 'end');
      await eventually(() => heard.includes('end'));
      expect(heard).toEqual(['1', '2', '4', 'end']);
    });

    it('keeps braces in a name, and applies mapName', async () => {
      const raw = await context.raw();
      const name = `{${randomName()}}:pool`;
      const semaphore = (await context.client()).getPermitExpirableSemaphore(name);
      await semaphore.trySetPermits(2);
      await semaphore.acquire();
      expect(await raw.command('ZCARD', `${name}:timeout`)).toBe(1);
      const mapped = (
        await context.client({ mapName: (given) => `app:${given}` })
      ).getPermitExpirableSemaphore('pool');
      const key = `app:pool`;
      await raw.command('DEL', key, `{${key}}:timeout`);
      await mapped.trySetPermits(4);
      await mapped.acquire();
      expect(await raw.command('GET', key)).toBe('3');
      expect(await raw.command('ZCARD', `{${key}}:timeout`)).toBe(1);
      await raw.command('DEL', key, `{${key}}:timeout`);
    });
  });
}

describeThrough('permit-expirable semaphore', describePermitSemaphore);
