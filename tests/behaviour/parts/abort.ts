/** Aborting: at once, with the caller's reason, and without a trace. */
import { describe, expect, it } from 'vitest';
import type { LockOptions } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import { subscribersOf, untilWaiting } from '../support/by-hand.ts';
import type { Context } from '../support/context.ts';
import { holderOf, type Kind } from '../support/kinds.ts';
import { rejection, timed } from '../support/moments.ts';

export function describeAbort(context: Context, kind: Kind): void {
  describe('aborting', () => {
    const ways: [string, (lock: ReturnType<Kind['of']>, options: LockOptions) => Promise<unknown>][] = [
      ['lock', (lock, options) => lock.lock(options)],
      ['tryLock', (lock, options) => lock.tryLock({ ...options, waitMs: 60_000 })],
      ['withLock', (lock, options) => lock.withLock(() => expect.unreachable('the work ran'), options)],
    ];

    it.each(ways)('%s: takes nothing if the signal is already aborted', async (_way, take) => {
      const raw = await context.raw();
      const lock = kind.of(await context.client(), randomName());
      const reason = new Error('changed my mind before');
      expect(await rejection(take(lock, { signal: AbortSignal.abort(reason) }))).toBe(reason);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
      const { name } = (await rejection(take(lock, { signal: AbortSignal.abort() }))) as Error;
      expect(name).toBe('AbortError');
    });

    it.each(ways)('%s: stops waiting at once and leaves no trace', async (_way, take) => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const hold = await kind.of(ours, name).lock();
      const controller = new AbortController();
      const refused = rejection(take(kind.of(theirs, name), { signal: controller.signal }));
      await untilWaiting(raw, kind, name);
      const reason = { any: 'thing' };
      controller.abort(reason);
      const { result, tookMs } = await timed(() => refused);
      expect(result).toBe(reason);
      expect(tookMs).toBeLessThan(2_000);
      await eventually(async () => (await subscribersOf(raw, name)) === 0);
      expect(await holderOf(raw, kind, name)).toEqual({ owner: hold.owner, count: 1 });
      await hold.unlock();
      expect(await raw.command('EXISTS', name)).toBe(0);
      expect(await kind.of(ours, name).tryLock()).not.toBeNull();
    });

    it.each(ways)('%s: releases a lock that the server grants after the abort', async (_way, take) => {
      const raw = await context.raw();
      const lock = kind.of(await context.client(), randomName());
      // Once with everything cached and connected, so that the attempt below is on its way when it is aborted.
      await (await lock.lock()).unlock();
      for (let round = 0; round < 10; round += 1) {
        const controller = new AbortController();
        const refused = rejection(take(lock, { signal: controller.signal }));
        controller.abort();
        expect(await refused).toBe(controller.signal.reason);
        await eventually(async () => (await raw.command('EXISTS', lock.name)) === 0);
      }
      await using next = await lock.lock();
      expect(await holderOf(raw, kind, lock.name)).toMatchObject({ owner: next.owner });
    });

    it('has no effect once the lock is held', async () => {
      const raw = await context.raw();
      const lock = kind.of(await context.client(), randomName());
      const controller = new AbortController();
      const hold = await lock.lock({ signal: controller.signal });
      controller.abort();
      hold.assertHeld();
      expect(hold.signal.aborted).toBe(false);
      expect(await holderOf(raw, kind, lock.name)).toMatchObject({ owner: hold.owner });
      expect(await hold.unlock()).toBe(true);
    });

    it('passes the turn of the head of the line to the next waiter', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const lock = kind.of(theirs, randomName());
      const hold = await kind.of(ours, lock.name).lock();
      const head = new AbortController();
      const refused = rejection(lock.lock({ signal: head.signal }));
      const next = lock.lock();
      await untilWaiting(raw, kind, lock.name);
      head.abort();
      expect(await refused).toBe(head.signal.reason);
      await hold.unlock();
      const { result, tookMs } = await timed(() => next);
      expect(tookMs).toBeLessThan(4_000);
      expect(await holderOf(raw, kind, lock.name)).toMatchObject({ owner: result.owner });
    });

    it('does not consume a wake-up meant for the next waiter', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const lock = kind.of(theirs, randomName());
      for (let round = 0; round < 5; round += 1) {
        const hold = await kind.of(ours, lock.name).lock();
        const head = new AbortController();
        const refused = rejection(lock.lock({ signal: head.signal }));
        const next = lock.lock();
        await untilWaiting(raw, kind, lock.name);
        const released = hold.unlock();
        head.abort();
        expect(await refused).toBe(head.signal.reason);
        await released;
        const { result, tookMs } = await timed(() => next);
        expect(tookMs).toBeLessThan(4_000);
        await result.unlock();
      }
    });

    it('removes only the aborted waiter from the middle of the line', async () => {
      const client = await context.client();
      const lock = kind.of(client, randomName());
      const hold = await lock.lock();
      const served: number[] = [];
      const controllers = Array.from({ length: 6 }, () => new AbortController());
      const waiters = controllers.map(async ({ signal }, place) => {
        await using _hold = await lock.lock({ signal });
        served.push(place);
      });
      const outcomes = Promise.allSettled(waiters);
      for (const place of [1, 2, 4]) controllers[place]?.abort(place);
      await hold.unlock();
      expect(
        (await outcomes).map((outcome) => (outcome.status === 'rejected' ? outcome.reason : 'served')),
      ).toEqual(['served', 1, 2, 'served', 4, 'served']);
      expect(served).toEqual([0, 3, 5]);
    });
  });
}
