/** Holds while their client drains: kept, renewed, and told before they are taken away. */
import { describe, expect, it } from 'vitest';
import { ClosedError, type Holdfast, OptionError } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import { subscribersOf, untilWaiting } from '../support/by-hand.ts';
import type { Context } from '../support/context.ts';
import { forEach, holderOf, KINDS, REENTRANT } from '../support/kinds.ts';
import { gate, rejection, timed, whenAborted } from '../support/moments.ts';

const WATCHDOG_MS = 2_000;

/** Longer than any test takes. */
const LONG_MS = 60_000;

/** Far below `LONG_MS`: the drain did not last as long as it could have. */
const SOON_MS = 10_000;

/** Resolves when the lease that a hold had at the call is over, so that only a renewal can have kept it. */
async function pastItsLease(): Promise<void> {
  const at = performance.now() + 1.25 * WATCHDOG_MS;
  await eventually(() => performance.now() > at, { withinMs: 10 * WATCHDOG_MS, everyMs: 20 });
}

/** A section that has begun, and ends when told. */
async function section(client: Holdfast, name: string) {
  const [entered, leave] = [gate(), gate()];
  let signal = new AbortController().signal;
  const result = client.getLock(name).withLock(async (hold) => {
    signal = hold.signal;
    entered.open();
    await leave.opened;
    hold.assertHeld();
    return 'finished';
  });
  await Promise.race([entered.opened, result]);
  return { result, signal, leave: leave.open };
}

export function describeDrain(context: Context): void {
  describe('a hold of a client that drains', () => {
    it(
      'is renewed until it is released, and only then another client gets the lock',
      forEach(KINDS, async (kind) => {
        const [ours, theirs] = [await context.client({ watchdogMs: WATCHDOG_MS }), await context.client()];
        const raw = await context.raw();
        const name = randomName();
        const hold = await kind.of(ours, name).lock();
        let [isIn, isClosed] = [false, false];
        const rival = kind.of(theirs, name).withLock(() => {
          isIn = true;
        });
        const closing = ours.close({ drainMs: LONG_MS }).then(() => {
          isClosed = true;
        });
        await pastItsLease();
        expect([isIn, isClosed, hold.signal.aborted]).toEqual([false, false, false]);
        hold.assertHeld();
        expect((await holderOf(raw, kind, name))?.owner).toBe(hold.owner);
        await hold.extend(2 * WATCHDOG_MS);
        expect(await hold.unlock()).toBe(true);
        await Promise.all([closing, rival]);
        expect(hold.signal.aborted).toBe(false);
      }),
    );

    it('lets its section end: the call resolves, and the drain with it', async () => {
      const client = await context.client();
      const name = randomName();
      const { result, signal, leave } = await section(client, name);
      const closing = timed(() => client.close({ drainMs: Number.POSITIVE_INFINITY }));
      leave();
      expect(await result).toBe('finished');
      expect((await closing).tookMs).toBeLessThan(SOON_MS);
      expect(signal.aborted).toBe(false);
      expect(() => client.getLock(name)).toThrow(ClosedError);
      const raw = await context.raw();
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('is told before the lock is free, when the time is over', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const name = randomName();
      const order: string[] = [];
      const hold = await ours.getLock(name).lock();
      hold.signal.addEventListener('abort', () => order.push('told'));
      const rival = theirs.getLock(name).withLock(() => order.push('the next is in'));
      const { tookMs } = await timed(() => ours.close({ drainMs: 300 }));
      await rival;
      expect(tookMs).toBeGreaterThan(290);
      expect(order).toEqual(['told', 'the next is in']);
      expect(hold.signal.reason).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'closed' });
      expect(await hold.unlock()).toBe(false);
    });

    it('with an explicit lease keeps that lease, and ends the drain when it ends', async () => {
      const client = await context.client({ watchdogMs: WATCHDOG_MS });
      const hold = await client.getLock(randomName()).lock({ leaseMs: 1_000 });
      const lost = whenAborted(hold.signal);
      const { tookMs } = await timed(() => client.close({ drainMs: LONG_MS }));
      expect(tookMs).toBeLessThan(SOON_MS);
      expect(await lost).toMatchObject({ reason: 'expired' });
    });

    it('ends the drain when it is lost', async () => {
      const [ours, theirs] = [await context.client({ watchdogMs: WATCHDOG_MS }), await context.client()];
      const name = randomName();
      const hold = await ours.getLock(name).lock();
      const closing = timed(() => ours.close({ drainMs: LONG_MS }));
      await theirs.getLock(name).forceUnlock();
      expect((await closing).tookMs).toBeLessThan(SOON_MS);
      expect(hold.signal.reason).toMatchObject({ reason: 'notOwner' });
    });

    it('is not passed on: the waiters of its process are gone, and the server frees the lock', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const hold = await ours.getLock(name).lock();
      const waiters = [rejection(ours.getLock(name).lock()), rejection(ours.getLock(name).withLock(() => 1))];
      await untilWaiting(raw, REENTRANT, name);
      const rival = theirs.getLock(name).lock();
      await untilWaiting(raw, REENTRANT, name, 2);
      const closing = ours.close({ drainMs: LONG_MS });
      for (const error of await Promise.all(waiters)) expect(error).toBeInstanceOf(ClosedError);
      await eventually(async () => (await subscribersOf(raw, name)) === 1);
      expect((await holderOf(raw, REENTRANT, name))?.owner).toBe(hold.owner);
      await hold.unlock();
      expect((await rival).owner).not.toBe(hold.owner);
      await closing;
    });
  });

  describe('close', () => {
    it('does not wait where nothing is held', async () => {
      const client = await context.client();
      const waiting = rejection(client.getCountDownLatch(randomName()).await());
      const { tookMs } = await timed(() => client.close({ drainMs: Number.POSITIVE_INFINITY }));
      await waiting;
      expect(tookMs).toBeLessThan(SOON_MS);
      expect(() => client.getLock('name')).toThrow(ClosedError);
    });

    it('ends a drain at once when it is called without a time', async () => {
      const client = await context.client();
      const hold = await client.getLock(randomName()).lock();
      const { signal } = hold;
      const draining = client.close({ drainMs: LONG_MS });
      expect(signal.aborted).toBe(false);
      const { tookMs } = await timed(() => client.close());
      await draining;
      expect(tookMs).toBeLessThan(SOON_MS);
      expect(signal.reason).toMatchObject({ reason: 'closed' });
    });

    it('shortens a drain when it is called with a shorter time, and never prolongs it', async () => {
      const client = await context.client();
      const hold = await client.getLock(randomName()).lock();
      const { signal } = hold;
      const draining = client.close({ drainMs: LONG_MS });
      const { tookMs } = await timed(() => {
        const [shorter, longer] = [client.close({ drainMs: 300 }), client.close({ drainMs: LONG_MS })];
        expect([shorter, longer]).toEqual([draining, draining]);
        return longer;
      });
      expect(tookMs).toBeGreaterThan(290);
      expect(tookMs).toBeLessThan(SOON_MS);
      expect(signal.reason).toMatchObject({ reason: 'closed' });
    });

    it('waits with the first call when it is called with the same time', async () => {
      const client = await context.client();
      const { result, leave } = await section(client, randomName());
      const [first, second] = [client.close({ drainMs: LONG_MS }), client.close({ drainMs: LONG_MS })];
      expect(second).toBe(first);
      leave();
      expect(await result).toBe('finished');
      await second;
    });

    it.each([-1, 1.5, Number.NaN, 2 ** 53, '5', null])(
      'refuses a drainMs of %s, and goes on',
      async (drainMs) => {
        const client = await context.client();
        const error = await rejection(client.close({ drainMs: drainMs as number }));
        expect(error).toBeInstanceOf(OptionError);
        expect((error as Error).message).toContain('drainMs');
        expect(await client.getLock(randomName()).withLock(() => 'still open')).toBe('still open');
      },
    );
  });
}
