/** The leases of permits: kept by the watchdog, given, changed, without end; and how their holder is told. */
import { describe, expect, it } from 'vitest';
import { LeaseLostError, NotHeldError, OptionError, type Permit } from '../../src/index.ts';
import type { RawView } from '../harness/cluster-connection.ts';
import { LABEL, randomName } from '../harness/names.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough, onOneServer } from './support/context.ts';
import { WELL_BEFORE_POLL_MS } from './support/listeners.ts';
import { rejection, whenAborted } from './support/moments.ts';
import {
  endOf,
  javaReleases,
  leftMs,
  PERMANENT,
  prepared,
  serverNow,
  setOf,
  stored,
} from './support/permit-semaphore-by-hand.ts';
import { commandCounts, resetCounts } from './support/server-stats.ts';

/** Long enough that a busy machine renews in time. */
const WATCHDOG_MS = 1_500;

/** Long enough that a busy machine hears why a permit is lost before it has to give the permit up unheard. */
const PATIENT_WATCHDOG_MS = 3_000;

/** Its holder counts on less time than the server gives it. How late a busy machine is to say so does not matter. */
async function expectToEndInTime(raw: RawView, name: string, permit: Permit): Promise<void> {
  const onServerMs = await leftMs(raw, name, permit.id);
  expect(permit.remainingMs).toBeLessThan(onServerMs);
}

function describePermitLeases(context: Context): void {
  describe('a permit without leaseMs', () => {
    it('is renewed by the watchdog while it is held', async () => {
      const { raw, name, semaphore } = await prepared(context, 2, { watchdogMs: WATCHDOG_MS });
      const permits = await semaphore.acquireMany(2);
      const firstEnd = await serverNow(raw).then((now) => now + WATCHDOG_MS);
      await eventually(async () => (await serverNow(raw)) > firstEnd + WATCHDOG_MS);
      expect(await semaphore.acquiredPermits()).toBe(2);
      for (const permit of permits) {
        permit.assertHeld();
        expect(permit.remainingMs).toBeLessThanOrEqual(WATCHDOG_MS);
        expect(await permit.release()).toBe(true);
      }
      expect(await stored(raw, name)).toEqual([2, 0]);
    });

    it('ends for its holder before it can end on the server', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      const permit = await semaphore.acquire();
      expect(permit.remainingMs).toBeLessThanOrEqual(28_300);
      expect(permit.remainingMs).toBeLessThan(await leftMs(raw, name, permit.id));
    });

    it.each([
      { title: 'released elsewhere', act: javaReleases },
      { title: 'deleted', act: async (raw, name) => raw.command('DEL', name, setOf(name)) },
    ] as { title: string; act: typeof javaReleases }[])(
      'that is $title is lost at the next renewal',
      async ({ act }) => {
        const options = { watchdogMs: PATIENT_WATCHDOG_MS };
        const { client, raw, name, semaphore } = await prepared(context, 1, options);
        const heard: unknown[] = [];
        client.on('lost', (event) => heard.push(event));
        const permit = await semaphore.acquire();
        await act(raw, name, permit.id);
        const reason = await whenAborted(permit.signal);
        expect(reason).toBeInstanceOf(LeaseLostError);
        expect(reason).toMatchObject({ reason: 'notOwner', owner: permit.id, lockName: name });
        expect(() => permit.assertHeld()).toThrow(LeaseLostError);
        expect(permit.remainingMs).toBe(0);
        expect(await permit.release()).toBe(false);
        expect(heard).toEqual([
          { kind: 'permitSemaphore', name, owner: permit.id, label: LABEL, reason: 'notOwner' },
        ]);
      },
    );

    it('is released when the client closes, and its signal aborts', async () => {
      const { client, raw, name, semaphore } = await prepared(context, 2);
      const permits = await semaphore.acquireMany(2);
      await client.close();
      for (const permit of permits) {
        expect(permit.signal.reason).toMatchObject({ reason: 'closed' });
        expect(await permit.release()).toBe(false);
      }
      expect(await stored(raw, name)).toEqual([2, 0]);
    });
  });

  describe('a permit with a lease', () => {
    it('ends, aborts its signal in time, and is free again', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      const permit = await semaphore.acquire({ leaseMs: 800 });
      const end = Number(await endOf(raw, name, permit.id));
      await expectToEndInTime(raw, name, permit);
      expect(await whenAborted(permit.signal)).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'expired' });
      expect(await stored(raw, name)).toEqual([0, 1]);
      await using next = await semaphore.acquire();
      next.assertHeld();
      expect(await serverNow(raw)).toBeGreaterThanOrEqual(end);
    });

    it('released by its id after its lease: is returned, and the answer is false', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      const theirs = (await context.client()).getPermitExpirableSemaphore(name);
      const permit = await semaphore.acquire({ leaseMs: 600 });
      const end = Number(await endOf(raw, name, permit.id));
      await eventually(async () => (await serverNow(raw)) > end);
      expect(await theirs.tryRelease(permit.id)).toBe(false);
      expect(await stored(raw, name)).toEqual([1, 0]);
      expect(await rejection(theirs.getLeaseMs(permit.id))).toBeInstanceOf(NotHeldError);
      expect(await permit.release()).toBe(false);
      expect(await stored(raw, name)).toEqual([1, 0]);
    });

    it('is not renewed', async () => {
      const { raw, name, semaphore } = await prepared(context, 2, { watchdogMs: WATCHDOG_MS });
      const leased = await semaphore.acquire({ leaseMs: 60_000 });
      const end = await endOf(raw, name, leased.id);
      const renewed = await semaphore.acquire();
      const firstEnd = Number(await endOf(raw, name, renewed.id));
      await eventually(async () => Number(await endOf(raw, name, renewed.id)) > firstEnd);
      expect(await endOf(raw, name, leased.id)).toBe(end);
    });

    it('is lengthened and shortened by its id, and its handle follows', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      const permit = await semaphore.acquire({ leaseMs: 10_000 });
      expect(await semaphore.updateLease(permit.id, 60_000)).toBe(true);
      expect(permit.remainingMs).toBeGreaterThan(40_000);
      expect(permit.remainingMs).toBeLessThan(await leftMs(raw, name, permit.id));
      expect(await semaphore.getLeaseMs(permit.id)).toBeGreaterThan(permit.remainingMs);

      expect(await semaphore.updateLease(permit.id, 800)).toBe(true);
      const end = Number(await endOf(raw, name, permit.id));
      await expectToEndInTime(raw, name, permit);
      expect(await whenAborted(permit.signal)).toMatchObject({ reason: 'expired' });
      await eventually(async () => (await serverNow(raw)) > end);
      expect(await semaphore.updateLease(permit.id, 60_000)).toBe(false);
      expect(await stored(raw, name)).toEqual([1, 0]);
    });

    it('is lengthened by its holder, and never shortened', async () => {
      const { raw, name, semaphore } = await prepared(context, 2);
      const permit = await semaphore.acquire({ leaseMs: 10_000 });
      await permit.extend(60_000);
      expect(permit.remainingMs).toBeGreaterThan(40_000);
      expect(permit.remainingMs).toBeLessThan(await leftMs(raw, name, permit.id));
      await permit.extend(1_000);
      expect(permit.remainingMs).toBeGreaterThan(40_000);
      expect(await leftMs(raw, name, permit.id)).toBeGreaterThan(40_000);

      const permanent = await semaphore.acquire({ leaseMs: Number.POSITIVE_INFINITY });
      await permanent.extend(1_000);
      expect(permanent.remainingMs).toBe(Number.POSITIVE_INFINITY);
      expect(await semaphore.getLeaseMs(permanent.id)).toBe(-1);

      await expect(permit.extend(0)).rejects.toBeInstanceOf(OptionError);
      await permit.release();
      await expect(permit.extend(1_000)).rejects.toBeInstanceOf(NotHeldError);
    });

    it('that no longer exists is lost when its holder extends it', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      const permit = await semaphore.acquire({ leaseMs: 60_000 });
      await javaReleases(raw, name, permit.id);
      await expect(permit.extend(60_000)).rejects.toMatchObject({ reason: 'notOwner' });
      expect(permit.signal.aborted).toBe(true);
    });

    it('has the last of several leases that are requested at once', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      const permit = await semaphore.acquire();
      const asked = [90_000, 5_000, 40_000].map((leaseMs) => semaphore.updateLease(permit.id, leaseMs));
      expect(await Promise.all(asked)).toEqual([true, true, true]);
      const onServer = await leftMs(raw, name, permit.id);
      expect(onServer).toBeLessThanOrEqual(40_000);
      expect(onServer).toBeGreaterThan(20_000);
      expect(permit.remainingMs).toBeLessThan(onServer);
      expect(permit.remainingMs).toBeGreaterThan(20_000);
    });

    it('that no longer exists is lost when its lease is updated', async () => {
      const { raw, name, semaphore } = await prepared(context, 2);
      const permit = await semaphore.acquire({ leaseMs: 60_000 });
      const permanent = await semaphore.acquire({ leaseMs: Number.POSITIVE_INFINITY });
      for (const { id } of [permit, permanent]) await javaReleases(raw, name, id);
      expect(await semaphore.updateLease(permit.id, 10_000)).toBe(false);
      expect(await semaphore.updateLease(permanent.id, Number.POSITIVE_INFINITY)).toBe(false);
      for (const lost of [permit, permanent]) {
        expect(lost.signal.reason).toMatchObject({ reason: 'notOwner' });
        expect(() => lost.assertHeld()).toThrow(LeaseLostError);
        expect(lost.remainingMs).toBe(0);
        expect(await lost.release()).toBe(false);
      }
    });

    it('replaces the watchdog', async () => {
      const { raw, name, semaphore } = await prepared(context, 2, { watchdogMs: WATCHDOG_MS });
      const permit = await semaphore.acquire();
      await semaphore.updateLease(permit.id, 3 * WATCHDOG_MS);
      const end = await endOf(raw, name, permit.id);
      expect(await whenAborted(permit.signal)).toMatchObject({ reason: 'expired' });
      expect(await serverNow(raw)).toBeLessThan(Number(end));
      expect(await endOf(raw, name, permit.id)).toBe(end);
    });
  });

  describe('a permit without end', () => {
    it('stays until it is released', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      const permit = await semaphore.acquire({ leaseMs: Number.POSITIVE_INFINITY });
      expect(permit.remainingMs).toBe(Number.POSITIVE_INFINITY);
      permit.assertHeld();
      expect(await semaphore.getLeaseMs(permit.id)).toBe(-1);
      expect(await endOf(raw, name, permit.id)).toBe(PERMANENT);
      expect(await permit.release()).toBe(true);
      expect(await permit.release()).toBe(true);
      expect(() => permit.assertHeld()).toThrow(NotHeldError);
      expect(await stored(raw, name)).toEqual([1, 0]);
    });

    it('outlives its client, and is released by its id', async () => {
      const { client, raw, name, semaphore } = await prepared(context, 1);
      const { id, signal } = await semaphore.acquire({ leaseMs: Number.POSITIVE_INFINITY });
      await client.close();
      expect(signal.aborted).toBe(false);
      expect(await stored(raw, name)).toEqual([0, 1]);
      await (await context.client()).getPermitExpirableSemaphore(name).release(id);
      expect(await stored(raw, name)).toEqual([1, 0]);
    });

    it('can get a lease, and lose it again', async () => {
      const { raw, name, semaphore } = await prepared(context, 1, { watchdogMs: WATCHDOG_MS });
      const permit = await semaphore.acquire();
      expect(await semaphore.updateLease(permit.id, Number.POSITIVE_INFINITY)).toBe(true);
      expect(permit.remainingMs).toBe(Number.POSITIVE_INFINITY);
      expect(await endOf(raw, name, permit.id)).toBe(PERMANENT);
      await semaphore.updateLease(permit.id, 700);
      expect(permit.remainingMs).toBeLessThan(700);
      await expectToEndInTime(raw, name, permit);
      expect(await whenAborted(permit.signal)).toMatchObject({ reason: 'expired' });
    });

    it('ends with its semaphore', async () => {
      const { raw, name, semaphore } = await prepared(context, 1);
      // Long enough that it is still there when the permit is asked for.
      await raw.command('PEXPIRE', name, 1_000);
      const permit = await semaphore.acquire({ leaseMs: Number.POSITIVE_INFINITY });
      await eventually(async () => (await raw.command('EXISTS', name, setOf(name))) === 0);
      expect(await permit.release()).toBe(false);
      expect(await raw.command('EXISTS', name)).toBe(0);
    });
  });

  onOneServer(context, describeWithProcess)('the cost of many permits', () => {
    it('is shared by their renewals, whichever semaphores they belong to', async () => {
      const server = await ownServer();
      const client = await context.client({ watchdogMs: WATCHDOG_MS }, server);
      const permits: Permit[] = [];
      for (let i = 0; i < 10; i += 1) {
        const semaphore = client.getPermitExpirableSemaphore(randomName());
        await semaphore.trySetPermits(25);
        permits.push(...(await semaphore.acquireMany(25)));
      }
      const renewals = async () => {
        const counts = await commandCounts(server);
        return { calls: counts.get('evalsha') ?? 0, renewed: counts.get('zadd') ?? 0 };
      };
      await resetCounts(server);
      await eventually(async () => (await renewals()).renewed >= 2 * 250);
      const { calls, renewed } = await renewals();
      // At most a hundred permits in one call; the first and the last batch may be small, and answers are
      // forgotten in a few more.
      expect(calls).toBeLessThanOrEqual(Math.ceil(renewed / 100) + 16);
      for (const permit of permits) permit.assertHeld();
    });

    it('is one call to acquire and one to release', async () => {
      const server = await ownServer();
      const client = await context.client({}, server);
      const semaphore = client.getPermitExpirableSemaphore(randomName());
      await semaphore.trySetPermits(1);
      const cycle = async () => {
        await using _permit = await semaphore.acquire();
      };
      await cycle();
      await resetCounts(server);
      for (let i = 0; i < 50; i += 1) await cycle();
      expect((await commandCounts(server)).get('evalsha')).toBe(2 * 50);
    });
  });

  it('a thousand leases that end at once are returned by one call', async () => {
    const { raw, name, semaphore } = await prepared(context, 10_000);
    // Taking so many keeps a busy machine busy for a second.
    const leaseMs = 3_000;
    await semaphore.acquireMany(9_000, { leaseMs });
    await eventually(async () => (await semaphore.availablePermits()) === 10_000, {
      withinMs: leaseMs + WELL_BEFORE_POLL_MS,
    });
    expect(await stored(raw, name)).toEqual([10_000, 0]);
  });
}

describeThrough('permit-expirable semaphore', describePermitLeases);
