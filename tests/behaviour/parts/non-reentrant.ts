/** The non-reentrant lock: the keys of getLock, and an error where that would re-enter. */
import { describe, expect, it } from 'vitest';
import { ReentryError } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import type { Context } from '../support/context.ts';
import { holderOf, NON_REENTRANT } from '../support/kinds.ts';
import { Room, rejection } from '../support/moments.ts';

export function describeNonReentrant(context: Context): void {
  describe('a non-reentrant lock', () => {
    it('throws when its owner takes it again, and does not change the hold', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const lock = client.getNonReentrantLock(randomName());
      const me = client.owner();
      const hold = await lock.lock({ owner: me, leaseMs: 60_000 });
      for (const again of [
        () => lock.lock({ owner: me }),
        () => lock.tryLock({ owner: me }),
        () => lock.tryLock({ owner: me, waitMs: 10_000 }),
      ]) {
        const error = await rejection(again());
        expect(error).toBeInstanceOf(ReentryError);
        expect(error).toMatchObject({ code: 'ERR_REENTRY', lockName: lock.name });
      }
      expect(await holderOf(raw, NON_REENTRANT, lock.name)).toEqual({ owner: hold.owner, count: 1 });
      expect(await hold.unlock()).toBe(true);
      expect(await lock.tryLock({ owner: me })).not.toBeNull();
    });

    it('throws when it is nested', async () => {
      const client = await context.client();
      const lock = client.getNonReentrantLock(randomName());
      const nested = await lock.withLock(async (hold) => {
        const errors = [
          await rejection(lock.withLock(() => expect.unreachable('entered twice'))),
          await rejection(lock.lock()),
          await rejection(client.scope(() => lock.tryLock())),
        ];
        hold.assertHeld();
        return errors;
      });
      for (const error of nested) expect(error).toBeInstanceOf(ReentryError);
      expect(await lock.isLocked()).toBe(false);
    });

    it('rejects with the error if the work does not catch it, and releases', async () => {
      const lock = (await context.client()).getNonReentrantLock(randomName());
      const call = lock.withLock(() => lock.withLock(() => expect.unreachable('entered twice')));
      expect(await rejection(call)).toBeInstanceOf(ReentryError);
      expect(await lock.isLocked()).toBe(false);
    });

    it('serialises siblings in one scope instead of throwing', async () => {
      const client = await context.client();
      const lock = client.getNonReentrantLock(randomName());
      const room = new Room();
      await client.scope(() =>
        Promise.all(
          ['a', 'b', 'c'].map((name) => lock.withLock(() => room.visit(name, () => lock.isLocked()))),
        ),
      );
      expect(room.visitors).toEqual(['a', 'b', 'c']);
      expect(room.most).toBe(1);
    });

    it('shares its keys with getLock and the spin lock', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const name = randomName();
      const hold = await ours.getNonReentrantLock(name).lock();
      expect(await theirs.getLock(name).tryLock()).toBeNull();
      expect(await theirs.getSpinLock(name).tryLock()).toBeNull();
      await hold.unlock();
      await ours.getLock(name).withLock(async () => {
        expect(await theirs.getNonReentrantLock(name).tryLock()).toBeNull();
        expect(await rejection(ours.getNonReentrantLock(name).lock())).toBeInstanceOf(ReentryError);
        await using again = await ours.getSpinLock(name).lock();
        expect(await ours.getLock(name).getHoldCount()).toBe(2);
        again.assertHeld();
      });
    });
  });
}
