/** Permits while their client drains. */
import { describe, expect, it } from 'vitest';
import { ClosedError } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { Context } from '../support/context.ts';
import { gate, rejection, timed } from '../support/moments.ts';

const WATCHDOG_MS = 2_000;
const LONG_MS = 60_000;
const SOON_MS = 10_000;

export function describeDrainedPermits(context: Context): void {
  describe('withPermit of a client that drains', () => {
    it('runs to its end, gives its permits back once, and ends the drain', async () => {
      const [client, other] = [await context.client(), await context.client()];
      const semaphore = client.getSemaphore(randomName());
      const seenByOthers = other.getSemaphore(semaphore.name);
      await semaphore.trySetPermits(3);
      const [entered, leave] = [gate(), gate()];
      const working = semaphore.withPermit(
        async () => {
          entered.open();
          await leave.opened;
          return semaphore.availablePermits();
        },
        { permits: 2 },
      );
      await entered.opened;
      const closing = timed(() => client.close({ drainMs: LONG_MS }));
      expect(await seenByOthers.availablePermits()).toBe(1);
      leave.open();
      expect(await working).toBe(1);
      expect((await closing).tookMs).toBeLessThan(SOON_MS);
      expect(await seenByOthers.availablePermits()).toBe(3);
    });

    it('gives its permits back when the time is over, and says so when the work is done', async () => {
      const [client, other] = [await context.client(), await context.client()];
      const semaphore = client.getSemaphore(randomName());
      await semaphore.trySetPermits(1);
      const [entered, leave] = [gate(), gate()];
      const working = semaphore.withPermit(async () => {
        entered.open();
        await leave.opened;
      });
      await entered.opened;
      expect((await timed(() => client.close({ drainMs: 300 }))).tookMs).toBeGreaterThan(290);
      expect(await other.getSemaphore(semaphore.name).availablePermits()).toBe(1);
      leave.open();
      expect(await rejection(working)).toBeInstanceOf(ClosedError);
      expect(await other.getSemaphore(semaphore.name).availablePermits()).toBe(1);
    });
  });

  describe('a permit with a lease, of a client that drains', () => {
    it('is renewed until it is released', async () => {
      const [client, other] = [await context.client({ watchdogMs: WATCHDOG_MS }), await context.client()];
      const seats = client.getPermitExpirableSemaphore(randomName());
      await seats.trySetPermits(1);
      const seat = await seats.acquire();
      const closing = client.close({ drainMs: LONG_MS });
      const at = performance.now() + 1.25 * WATCHDOG_MS;
      await eventually(() => performance.now() > at, { withinMs: 10 * WATCHDOG_MS, everyMs: 20 });
      expect(await other.getPermitExpirableSemaphore(seats.name).tryAcquire()).toBeNull();
      seat.assertHeld();
      expect(await seat.release()).toBe(true);
      await closing;
      expect(seat.signal.aborted).toBe(false);
      expect(await other.getPermitExpirableSemaphore(seats.name).tryAcquire()).not.toBeNull();
    });

    it('keeps the drain going when its lease is changed, and is told when the time is over', async () => {
      const client = await context.client();
      const seats = client.getPermitExpirableSemaphore(randomName());
      await seats.trySetPermits(1);
      const seat = await seats.acquire();
      const { signal } = seat;
      const closing = timed(() => client.close({ drainMs: 1_000 }));
      expect(await seats.updateLease(seat.id, 50_000)).toBe(true);
      expect(signal.aborted).toBe(false);
      expect((await closing).tookMs).toBeGreaterThan(990);
      expect(signal.reason).toMatchObject({ reason: 'closed' });
    });

    it('that is permanent is not waited for, and outlives the client', async () => {
      const [client, other] = [await context.client(), await context.client()];
      const seats = client.getPermitExpirableSemaphore(randomName());
      await seats.trySetPermits(1);
      const seat = await seats.acquire({ leaseMs: Number.POSITIVE_INFINITY });
      expect((await timed(() => client.close({ drainMs: LONG_MS }))).tookMs).toBeLessThan(SOON_MS);
      expect(await other.getPermitExpirableSemaphore(seats.name).getLeaseMs(seat.id)).toBe(-1);
    });
  });
}
