/** Waiting: how long, in which order, and what wakes a waiter. */
import { describe, expect, it } from 'vitest';
import { type Hold, LeaseLostError } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { itWithProcess, ownServer } from '../../harness/servers.ts';
import { eventually } from '../../harness/wait.ts';
import { byHand, subscribersOf, untilWaiting } from '../support/by-hand.ts';
import { type Context, onOneServer } from '../support/context.ts';
import { forEach, KINDS, type Kind, SPINNING_KINDS } from '../support/kinds.ts';
import { rejection, timed, whenAborted } from '../support/moments.ts';
import { commandCounts, resetCounts } from '../support/server-stats.ts';

/** A waiter that heard nothing would look again by itself after this time at the earliest. */
const POLL_MS = 4_000;

export function describeWaiting(context: Context, kind: Kind): void {
  describe('waiting', () => {
    it('attempts once and answers null if waitMs is 0', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const name = randomName();
      await kind.of(ours, name).lock();
      const { result, tookMs } = await timed(() => kind.of(theirs, name).tryLock({ waitMs: 0 }));
      expect(result).toBeNull();
      expect(tookMs).toBeLessThan(POLL_MS);
    });

    it('answers null when waitMs has passed, not before, and leaves nothing behind', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const hold = await kind.of(ours, name).lock();
      const { result, tookMs } = await timed(() => kind.of(theirs, name).tryLock({ waitMs: 150 }));
      expect(result).toBeNull();
      expect(tookMs).toBeGreaterThanOrEqual(148);
      expect(tookMs).toBeLessThan(POLL_MS);
      await eventually(async () => (await subscribersOf(raw, name)) === 0);
      await hold.unlock();
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('gets the lock within waitMs when it becomes free', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const hold = await kind.of(ours, name).lock();
      const waiter = kind.of(theirs, name).tryLock({ waitMs: 20_000, leaseMs: 10_000 });
      await untilWaiting(raw, kind, name);
      await hold.unlock();
      const { result, tookMs } = await timed(() => waiter);
      expect(result?.owner).toContain(theirs.id);
      expect(result?.remainingMs).toBeLessThanOrEqual(10_000);
      expect(tookMs).toBeLessThan(POLL_MS);
    });

    it('waits with lock() without a limit', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const hold = await kind.of(ours, name).lock();
      const order: string[] = [];
      const waiter = kind.of(theirs, name).lock();
      void waiter.then(() => order.push('in'));
      await untilWaiting(raw, kind, name);
      order.push('out');
      await hold.unlock();
      const { tookMs } = await timed(() => waiter);
      expect(order).toEqual(['out', 'in']);
      expect(tookMs).toBeLessThan(POLL_MS);
    });

    it('serves the waiters of one process in the order of their calls', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const lock = kind.of(theirs, randomName());
      const hold = await kind.of(ours, lock.name).lock();
      const served: number[] = [];
      const waiters = Array.from({ length: 8 }, async (_, place) => {
        await using _hold = place % 2 === 0 ? await lock.lock() : await lock.tryLock({ waitMs: 20_000 });
        served.push(place);
      });
      await hold.unlock();
      await Promise.all(waiters);
      expect(served).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    });

    it('does not let a single attempt overtake waiters', async () => {
      const client = await context.client();
      const lock = kind.of(client, randomName());
      const hold = await lock.lock();
      const waiter = lock.lock();
      const released = hold.unlock();
      const passer = lock.tryLock();
      expect(await released).toBe(true);
      expect(await passer).toBeNull();
      expect((await waiter).owner).toContain(client.id);
    });

    it('drops its subscription when the last waiter has left', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const hold = await kind.of(ours, name).lock();
      const waiter = kind.of(theirs, name).lock();
      await untilWaiting(raw, kind, name);
      await hold.unlock();
      await waiter;
      await eventually(async () => (await subscribersOf(raw, name)) === 0);
    });
  });
}

/** What takes real time, for every kind at once. */
export function describeWaitingForLeases(context: Context): void {
  describe('waiting for a lease to end', () => {
    it(
      'gets the lock when the lease of a silent holder ends',
      forEach(KINDS, async (kind) => {
        const client = await context.client();
        const raw = await context.raw();
        const name = randomName();
        const { result: hold, tookMs } = await timed(async () => {
          await byHand(raw, kind, name).tryLock(700);
          return kind.of(client, name).lock();
        });
        expect(tookMs).toBeGreaterThan(690);
        expect(tookMs).toBeLessThan(POLL_MS);
        hold.assertHeld();
      }),
    );

    it(
      'gets the lock after a holder of the same process has lost its lease, without a message',
      forEach(KINDS, async (kind) => {
        const client = await context.client();
        const lock = kind.of(client, randomName());
        const hold = await lock.lock({ leaseMs: 600 });
        const waiter = lock.lock();
        expect(await whenAborted(hold.signal)).toBeInstanceOf(LeaseLostError);
        const { result, tookMs } = await timed(() => waiter);
        expect(tookMs).toBeLessThan(POLL_MS);
        expect(result.owner).not.toBe(hold.owner);
      }),
    );
  });
}

export function describeSpinning(context: Context): void {
  describe('spinning', () => {
    it(
      'subscribes to nothing while it waits',
      forEach(SPINNING_KINDS, async (kind) => {
        const [ours, theirs] = [await context.client(), await context.client()];
        const raw = await context.raw();
        const name = randomName();
        await kind.of(ours, name).lock();
        const waiter = kind.of(theirs, name).tryLock({ waitMs: 300 });
        let most = 0;
        const watch = eventually(async () => {
          most = Math.max(most, await subscribersOf(raw, name));
          return (await Promise.race([waiter, Promise.resolve(false)])) === null;
        });
        expect(await waiter).toBeNull();
        await watch;
        expect(most).toBe(0);
      }),
    );

    it('wakes the waiters of getLock, as every release must', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const hold = await ours.getSpinLock(name).lock();
      const waiter = theirs.getLock(name).lock();
      await eventually(async () => (await subscribersOf(raw, name)) === 1);
      await hold.unlock();
      const { tookMs } = await timed(() => waiter);
      expect(tookMs).toBeLessThan(POLL_MS);
    });

    onOneServer(context, itWithProcess)('makes its constant pause between tries', async () => {
      const server = await ownServer();
      const client = await context.client({}, server);
      const name = randomName();
      await server.command('HSET', name, 'somebody', 1);
      const lock = client.getSpinLock(name, { backoff: { kind: 'constant', delayMs: 100 } });
      await client.capabilities();
      await resetCounts(server);
      const { tookMs } = await timed(async () => {
        const waiter = lock.lock();
        await eventually(async () => ((await commandCounts(server)).get('evalsha') ?? 0) >= 5);
        await server.command('DEL', name);
        await waiter;
      });
      expect(tookMs).toBeGreaterThan(395);
      expect(tookMs).toBeLessThan(POLL_MS);
    });

    onOneServer(context, itWithProcess)('doubles its pauses up to the longest', async () => {
      const server = await ownServer();
      const client = await context.client({}, server);
      const name = randomName();
      await server.command('HSET', name, 'somebody', 1);
      await client.capabilities();
      const timeOfTries = async (maxMs: number, tries: number): Promise<number> => {
        const lock = client.getSpinLock(name, {
          backoff: { kind: 'exponential', initialMs: 40, multiplier: 2, maxMs },
        });
        const giveUp = new AbortController();
        await resetCounts(server);
        const refused = rejection(lock.lock({ signal: giveUp.signal }));
        const { tookMs } = await timed(() =>
          eventually(async () => ((await commandCounts(server)).get('evalsha') ?? 0) >= tries),
        );
        giveUp.abort();
        expect(await refused).toBe(giveUp.signal.reason);
        return tookMs;
      };
      // 40 + 80 + 160 + 320 before the fifth try; eleven pauses of at most 60 before the twelfth.
      expect(await timeOfTries(10_000, 5)).toBeGreaterThan(595);
      expect(await timeOfTries(60, 12)).toBeLessThan(POLL_MS);
    });

    it('starts its pauses afresh for every acquisition', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const name = randomName();
      const lock = theirs.getSpinLock(name, {
        backoff: { kind: 'exponential', initialMs: 1, multiplier: 50, maxMs: 60_000 },
      });
      for (let round = 0; round < 3; round += 1) {
        const hold = await ours.getLock(name).lock();
        const waiter = lock.tryLock({ waitMs: 20_000 });
        await hold.unlock();
        const { result, tookMs } = await timed(() => waiter);
        expect(tookMs).toBeLessThan(POLL_MS);
        await (result as Hold).unlock();
      }
    });
  });
}
