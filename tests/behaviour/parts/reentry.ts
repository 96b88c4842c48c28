/** Re-entering: nested, in a scope, as an explicit owner; counts and leases that go with it. */
import { describe, expect, it } from 'vitest';
import { type Hold, LeaseLostError, NotHeldError, OptionError } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { Context } from '../support/context.ts';
import { countInRedis, forEach, holderOf, type Kind, REENTRANT_KINDS } from '../support/kinds.ts';
import { rejection, whenAborted } from '../support/moments.ts';

export function describeReentry(context: Context, kind: Kind): void {
  describe('re-entry', () => {
    it('nests withLock: one owner, counted in Redis, free after the outermost', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const lock = kind.of(client, randomName());
      const seen: unknown[] = [];
      const look = async () => seen.push([await holderOf(raw, kind, lock.name), await lock.getHoldCount()]);
      const owner = await lock.withLock(async (outer) => {
        await look();
        await kind.of(client, lock.name).withLock(async (inner) => {
          expect(inner.owner).toBe(outer.owner);
          await look();
        });
        await look();
        return outer.owner;
      });
      expect(seen).toEqual([
        [{ owner, count: 1 }, 1],
        [{ owner, count: countInRedis(kind, 2) }, 2],
        [{ owner, count: 1 }, 1],
      ]);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
    });

    it('lock() and tryLock() inside a section re-enter, and other owners stay excluded', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const lock = kind.of(ours, randomName());
      await lock.withLock(async (outer) => {
        const [second, third] = [await lock.lock(), (await lock.tryLock()) as Hold];
        expect([second.owner, third.owner]).toEqual([outer.owner, outer.owner]);
        expect(await lock.getHoldCount()).toBe(3);
        expect(await kind.of(theirs, lock.name).tryLock()).toBeNull();
        expect(await second.unlock()).toBe(true);
        expect(await third.unlock()).toBe(true);
        expect(await lock.isHeld()).toBe(true);
      });
      expect(await lock.isLocked()).toBe(false);
    });

    it('works with lock() and unlock() in a scope, last in first out', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const lock = kind.of(client, randomName());
      const answer = await client.scope(async () => {
        const first = await lock.lock();
        const second = await lock.lock();
        expect(await holderOf(raw, kind, lock.name)).toEqual({
          owner: first.owner,
          count: countInRedis(kind, 2),
        });
        await lock.unlock();
        expect(() => second.assertHeld()).toThrow(NotHeldError);
        first.assertHeld();
        expect(await lock.getHoldCount()).toBe(1);
        await lock.unlock();
        expect(() => first.assertHeld()).toThrow(NotHeldError);
        expect(await raw.command('EXISTS', lock.name)).toBe(0);
        expect(await rejection(lock.unlock())).toBeInstanceOf(NotHeldError);
        return 'what the scope returned';
      });
      expect(answer).toBe('what the scope returned');
    });

    it('keeps a lock taken in a scope until its release, also after the scope', async () => {
      const client = await context.client();
      const lock = kind.of(client, randomName());
      const hold = await client.scope(() => lock.lock());
      expect(await lock.tryLock()).toBeNull();
      expect(await rejection(lock.unlock())).toBeInstanceOf(NotHeldError);
      expect(await lock.isHeld()).toBe(false);
      expect(await hold.unlock()).toBe(true);
      expect(await lock.isLocked()).toBe(false);
    });

    it('makes a scope inside a scope or a section the same owner', async () => {
      const client = await context.client();
      const lock = kind.of(client, randomName());
      await client.scope(async () => {
        const outer = await lock.lock();
        await client.scope(async () => expect((await lock.lock()).owner).toBe(outer.owner));
        expect(await lock.getHoldCount()).toBe(2);
        await lock.forceUnlock();
      });
      await lock.withLock((outer) =>
        client.scope(async () => {
          await using inner = await lock.lock();
          expect(inner.owner).toBe(outer.owner);
        }),
      );
    });

    it('keeps two scopes apart', async () => {
      const client = await context.client();
      const lock = kind.of(client, randomName());
      await client.scope(() => lock.lock());
      await client.scope(async () => {
        expect(await lock.tryLock()).toBeNull();
        expect(await rejection(lock.unlock())).toBeInstanceOf(NotHeldError);
      });
    });

    it('works for an explicit owner, whose holds are released in any order', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const lock = kind.of(client, randomName());
      const [me, you] = [client.owner(), client.owner()];
      const first = await lock.lock({ owner: me });
      const second = (await lock.tryLock({ owner: me })) as Hold;
      const third = (await lock.tryLock({ owner: me, waitMs: 1_000 })) as Hold;
      expect([second.owner, third.owner]).toEqual([first.owner, first.owner]);
      expect(await lock.getHoldCount({ owner: me })).toBe(3);
      expect(await lock.tryLock({ owner: you })).toBeNull();
      expect(await lock.tryLock()).toBeNull();
      expect(await rejection(lock.unlock({ owner: you }))).toBeInstanceOf(NotHeldError);
      expect(await rejection(lock.unlock())).toBeInstanceOf(NotHeldError);

      expect(await second.unlock()).toBe(true);
      expect(await first.unlock()).toBe(true);
      expect(await second.unlock()).toBe(true);
      expect(await holderOf(raw, kind, lock.name)).toEqual({ owner: third.owner, count: 1 });
      third.assertHeld();
      await lock.unlock({ owner: me });
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
      expect((await lock.lock({ owner: you })).owner).not.toBe(first.owner);
    });

    it('prefers an explicit owner to that of the section', async () => {
      const client = await context.client();
      const lock = kind.of(client, randomName());
      await lock.withLock(async () => {
        const other = client.owner();
        expect(await lock.tryLock({ owner: other })).toBeNull();
        expect(await lock.isHeld({ owner: other })).toBe(false);
      });
    });

    it('refuses an owner of another client, and values that are not owners', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const lock = kind.of(ours, randomName());
      for (const owner of [theirs.owner(), {}, ours.id, null] as never[]) {
        expect(await rejection(lock.lock({ owner }))).toBeInstanceOf(OptionError);
        expect(await rejection(lock.tryLock({ owner }))).toBeInstanceOf(OptionError);
        expect(await rejection(lock.unlock({ owner }))).toBeInstanceOf(OptionError);
        expect(await rejection(lock.isHeld({ owner }))).toBeInstanceOf(OptionError);
        expect(await rejection(lock.getHoldCount({ owner }))).toBeInstanceOf(OptionError);
      }
      expect(await lock.isLocked()).toBe(false);
    });

    it('finds no owner in code outside of sections', async () => {
      const lock = kind.of(await context.client(), randomName());
      const error = await rejection(lock.unlock());
      expect(error).toBeInstanceOf(NotHeldError);
      expect(error).toMatchObject({ code: 'ERR_NOT_HELD', lockName: lock.name });
      await lock.lock();
      expect(await rejection(lock.unlock())).toBeInstanceOf(NotHeldError);
      expect(await lock.isLocked()).toBe(true);
    });

    it('does not shorten a longer lease, neither by entering nor by leaving', async () => {
      const client = await context.client({ watchdogMs: 5_000 });
      const raw = await context.raw();
      const me = client.owner();
      const lock = kind.of(client, randomName());
      const outer = await lock.lock({ owner: me, leaseMs: 60_000 });
      const leftMs = async () => Number(await raw.command('PTTL', lock.name));
      for (const leaseMs of [5_000, undefined]) {
        const inner = await lock.lock({ owner: me, leaseMs });
        expect(await leftMs()).toBeGreaterThan(55_000);
        expect(inner.remainingMs).toBeGreaterThan(50_000);
        await inner.unlock();
        expect(await leftMs()).toBeGreaterThan(55_000);
        expect(outer.remainingMs).toBeGreaterThan(50_000);
      }
    });

    it('lengthens a short lease to at least that of the inner entry', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const me = client.owner();
      const lock = kind.of(client, randomName());
      const outer = await lock.lock({ owner: me, leaseMs: 5_000 });
      await lock.lock({ owner: me, leaseMs: 60_000 });
      expect(Number(await raw.command('PTTL', lock.name))).toBeGreaterThan(55_000);
      expect(outer.remainingMs).toBeGreaterThan(50_000);
    });

    it('rejects re-entry after the hold was lost, and takes nothing', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const lock = kind.of(client, randomName());
      const me = client.owner();
      await lock.lock({ owner: me });
      await raw.command('DEL', lock.name);
      const error = await rejection(lock.lock({ owner: me }));
      expect(error).toBeInstanceOf(LeaseLostError);
      expect(error).toMatchObject({ reason: 'notOwner' });
      expect(await rejection(lock.tryLock({ owner: me, waitMs: 100 }))).toBe(error);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
      expect(await lock.getHoldCount({ owner: me })).toBe(0);
      expect(await rejection(lock.unlock({ owner: me }))).toBeInstanceOf(NotHeldError);
      // All of it has been given back: from here on it is a new hold.
      expect(await lock.tryLock({ owner: me })).not.toBeNull();
    });

    it('fails every level of nested sections when the hold is lost in the innermost', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const lock = kind.of(client, randomName());
      const seen: unknown[] = [];
      const outermost = lock.withLock(async (outer) => {
        const inner = lock.withLock(() => raw.command('DEL', lock.name));
        seen.push(await rejection(inner));
        seen.push(outer.signal.reason);
        seen.push(await rejection(lock.withLock(() => expect.unreachable('entered a lost lock'))));
        return 'done in vain';
      });
      const error = await rejection(outermost);
      expect(error).toBeInstanceOf(LeaseLostError);
      expect(seen).toEqual([error, error, error]);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
    });

    it('stops on abort during the entry, and undoes the entry', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const lock = kind.of(client, randomName());
      const me = client.owner();
      const outer = await lock.lock({ owner: me });
      const controller = new AbortController();
      const refused = rejection(lock.lock({ owner: me, signal: controller.signal }));
      controller.abort();
      expect(await refused).toBe(controller.signal.reason);
      // Entries come and go one after the other: when this one has gone, the one before it has been taken back.
      await (await lock.lock({ owner: me })).unlock();
      await eventually(async () => expect(await lock.getHoldCount({ owner: me })).toBe(1));
      await eventually(async () =>
        expect(await holderOf(raw, kind, lock.name)).toEqual({ owner: outer.owner, count: 1 }),
      );
      expect(await outer.unlock()).toBe(true);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
    });
  });
}

/** What takes real time, for every kind at once. */
export function describeReentryOverTime(context: Context): void {
  describe('re-entry over time', () => {
    it(
      'keeps renewing for an outer entry without a lease after a leased inner entry has left',
      forEach(REENTRANT_KINDS, async (kind) => {
        const client = await context.client({ watchdogMs: 2_000 });
        const me = client.owner();
        const lock = kind.of(client, randomName());
        const outer = await lock.lock({ owner: me });
        const inner = await lock.lock({ owner: me, leaseMs: 600 });
        await inner.unlock();
        const leftAt = performance.now();
        await eventually(() => performance.now() - leftAt > 1.5 * 2_000);
        outer.assertHeld();
        expect(await lock.isHeld({ owner: me })).toBe(true);
        expect(await outer.unlock()).toBe(true);
      }),
    );

    it(
      'renews a leased outer entry only while an inner entry without a lease lasts',
      forEach(REENTRANT_KINDS, async (kind) => {
        const client = await context.client({ watchdogMs: 2_000 });
        const raw = await context.raw();
        const me = client.owner();
        const lock = kind.of(client, randomName());
        const outer = await lock.lock({ owner: me, leaseMs: 2_000 });
        const inner = await lock.lock({ owner: me });
        const enteredAt = performance.now();
        await eventually(() => performance.now() - enteredAt > 1.5 * 2_000);
        outer.assertHeld();
        expect(await inner.unlock()).toBe(true);
        expect(await whenAborted(outer.signal)).toMatchObject({ reason: 'expired' });
        await eventually(async () => (await raw.command('EXISTS', lock.name)) === 0);
      }),
    );

    it(
      'is lost for every hold at once, and never taken again',
      forEach(REENTRANT_KINDS, async (kind) => {
        const [client, other] = [await context.client(), await context.client()];
        const raw = await context.raw();
        const lock = kind.of(client, randomName());
        await client.scope(async () => {
          const outer = await lock.lock({ leaseMs: 1_500 });
          const inner = await lock.lock({ leaseMs: 1_500 });
          const [first, second] = await Promise.all([whenAborted(outer.signal), whenAborted(inner.signal)]);
          expect(first).toBe(second);
          expect(await rejection(lock.lock())).toBe(first);
          const next = await kind.of(other, lock.name).lock();
          expect(await rejection(lock.tryLock({ waitMs: 50 }))).toBe(first);
          expect(await inner.unlock()).toBe(false);
          expect(await rejection(lock.lock())).toBe(first);
          expect(await outer.unlock()).toBe(false);
          expect(await holderOf(raw, kind, lock.name)).toMatchObject({ owner: next.owner });
        });
      }),
    );
  });
}
