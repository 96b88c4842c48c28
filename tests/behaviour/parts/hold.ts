/** The hold: what it says of itself, giving it back, prolonging it, losing it. */
import { describe, expect, it } from 'vitest';
import { type Hold, LeaseLostError, NotHeldError, OptionError } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import { byHand, untilWaiting } from '../support/by-hand.ts';
import type { Context } from '../support/context.ts';
import { forEach, holderOf, KINDS, type Kind } from '../support/kinds.ts';
import { rejection, timed, whenAborted } from '../support/moments.ts';

export function describeHold(context: Context, kind: Kind): void {
  describe('the hold', () => {
    it('has the name of the lock and the owner field in Redis', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const lock = kind.of(client, name);
      const hold = await lock.lock();
      expect([lock.name, hold.name]).toEqual([name, name]);
      expect(hold.owner).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+$/);
      expect(hold.owner.startsWith(`${client.id}:`)).toBe(true);
      expect(await holderOf(raw, kind, name)).toEqual({ owner: hold.owner, count: 1 });
    });

    it('is released once: a second unlock gives the same answer and does nothing', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const hold = await kind.of(ours, name).lock();
      expect(await Promise.all([hold.unlock(), hold.unlock()])).toEqual([true, true]);
      const next = await kind.of(theirs, name).lock();
      expect(await hold.unlock()).toBe(true);
      expect(await holderOf(raw, kind, name)).toMatchObject({ owner: next.owner });
    });

    it('is not held from the moment unlock is called, and its signal does not abort for that', async () => {
      const hold = await kind.of(await context.client(), randomName()).lock();
      const { signal } = hold;
      const unlocking = hold.unlock();
      expect(() => hold.assertHeld()).toThrow(NotHeldError);
      expect(hold.remainingMs).toBe(0);
      await unlocking;
      expect(await rejection(hold.extend(1_000))).toBeInstanceOf(NotHeldError);
      expect(signal.aborted).toBe(false);
    });

    it('ends with its block, also when the block throws', async () => {
      const lock = kind.of(await context.client(), randomName());
      const broken = new Error('from the block');
      const block = async () => {
        await using hold = await lock.lock();
        hold.assertHeld();
        throw broken;
      };
      expect(await rejection(block())).toBe(broken);
      expect(await lock.isLocked()).toBe(false);
    });

    it('is lengthened by extend, and never shortened', async () => {
      const raw = await context.raw();
      const name = randomName();
      const hold = await kind.of(await context.client(), name).lock({ leaseMs: 5_000 });
      await hold.extend(60_000);
      expect(Number(await raw.command('PTTL', name))).toBeGreaterThan(55_000);
      expect(hold.remainingMs).toBeGreaterThan(50_000);
      await hold.extend(1_000);
      expect(Number(await raw.command('PTTL', name))).toBeGreaterThan(55_000);
      expect(hold.remainingMs).toBeGreaterThan(50_000);
    });

    it('refuses to be extended by an invalid time', async () => {
      const raw = await context.raw();
      const name = randomName();
      const hold = await kind.of(await context.client(), name).lock({ leaseMs: 60_000 });
      for (const bad of [0, -1, 1.5, Number.NaN, 2 ** 53, '5' as never, undefined as never]) {
        expect(await rejection(hold.extend(bad)), String(bad)).toBeInstanceOf(OptionError);
      }
      hold.assertHeld();
      expect(Number(await raw.command('PTTL', name))).toBeGreaterThan(55_000);
    });

    it('learns from extend and unlock that the server no longer has it', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const reasons: string[] = [];
      client.on('lost', ({ reason }) => reasons.push(reason));
      const extended = await kind.of(client, randomName()).lock();
      await raw.command('DEL', extended.name);
      const error = await rejection(extended.extend(5_000));
      expect(error).toBeInstanceOf(LeaseLostError);
      expect(error).toMatchObject({ reason: 'notOwner' });
      expect(extended.signal.reason).toBe(error);
      expect(await raw.command('EXISTS', extended.name)).toBe(0);
      expect(reasons).toEqual(['notOwner']);

      const unlocked = await kind.of(client, randomName()).lock();
      await raw.command('DEL', unlocked.name);
      expect(await unlocked.unlock()).toBe(false);
      expect(reasons).toEqual(['notOwner', 'notOwner']);
    });

    it('does not change a lock that another owner holds by now', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const hold = await kind.of(client, name).lock();
      await raw.command('DEL', name);
      const other = byHand(raw, kind, name);
      expect(await other.tryLock(60_000)).toBe(true);
      expect(await rejection(hold.extend(90_000))).toBeInstanceOf(LeaseLostError);
      expect(await hold.unlock()).toBe(false);
      expect(await holderOf(raw, kind, name)).toEqual({ owner: other.owner, count: 1 });
      expect(Number(await raw.command('PTTL', name))).toBeLessThanOrEqual(60_000);
    });

    it('is lost by forceUnlock of the same client, with the reason forced', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const lock = kind.of(ours, randomName());
      const hold = await lock.lock();
      const { signal } = hold;
      const waiter = kind.of(theirs, lock.name).lock();
      await untilWaiting(raw, kind, lock.name);
      expect(await lock.forceUnlock()).toBe(true);
      expect(signal.reason).toBeInstanceOf(LeaseLostError);
      expect(signal.reason).toMatchObject({ reason: 'forced', owner: hold.owner });
      const { result: next, tookMs } = await timed(() => waiter);
      expect(tookMs).toBeLessThan(4_000);
      expect(await hold.unlock()).toBe(false);
      expect(await holderOf(raw, kind, lock.name)).toMatchObject({ owner: next.owner });
    });

    it('is free for a waiter of the same client after forceUnlock', async () => {
      const lock = kind.of(await context.client(), randomName());
      const hold = await lock.lock();
      const waiter = lock.lock();
      expect(await lock.forceUnlock()).toBe(true);
      const { result: next, tookMs } = await timed(() => waiter);
      expect(tookMs).toBeLessThan(4_000);
      expect(next.owner).not.toBe(hold.owner);
    });

    it('is described by the lock: locked, owner, count and remaining time', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const me = client.owner();
      const lock = kind.of(client, randomName());
      const ask = async () => [
        await lock.isLocked(),
        await lock.isHeld({ owner: me }),
        await lock.getHoldCount({ owner: me }),
      ];
      expect(await ask()).toEqual([false, false, 0]);
      expect(await lock.getRemainingMs()).toBeNull();
      expect(await lock.forceUnlock()).toBe(false);

      const hold = await lock.lock({ owner: me, leaseMs: 60_000 });
      expect(await ask()).toEqual([true, true, 1]);
      const leftMs = await lock.getRemainingMs();
      expect(leftMs).toBeGreaterThan(55_000);
      expect(leftMs).toBeLessThanOrEqual(60_000);
      await raw.command('PERSIST', lock.name);
      expect(await lock.getRemainingMs()).toBe(Number.POSITIVE_INFINITY);
      expect(await lock.isLocked()).toBe(true);

      // Somebody else's hold is a lock, and not ours.
      expect([await lock.isHeld(), await lock.getHoldCount()]).toEqual([false, 0]);
      const stranger = { owner: client.owner() };
      expect([await lock.isHeld(stranger), await lock.getHoldCount(stranger)]).toEqual([false, 0]);

      await hold.unlock();
      expect(await ask()).toEqual([false, false, 0]);
      expect(await lock.getRemainingMs()).toBeNull();
    });

    it('counts as held only if the server says so', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const me = client.owner();
      const lock = kind.of(client, randomName());
      await lock.lock({ owner: me });
      await raw.command('DEL', lock.name);
      await byHand(raw, kind, lock.name).tryLock();
      expect(await lock.isHeld({ owner: me })).toBe(false);
      expect(await lock.getHoldCount({ owner: me })).toBe(0);
      expect(await lock.isLocked()).toBe(true);
    });
  });
}

/** What takes real time, for every kind at once. */
export function describeHoldOverTime(context: Context): void {
  describe('the hold over time', () => {
    it(
      'lasts as long as it was extended, and is lost after that',
      forEach(KINDS, async (kind) => {
        const raw = await context.raw();
        const hold = await kind.of(await context.client(), randomName()).lock({ leaseMs: 2_000 });
        const { tookMs } = await timed(async () => {
          await hold.extend(4_000);
          expect(await whenAborted(hold.signal)).toMatchObject({ reason: 'expired' });
        });
        expect(tookMs).toBeGreaterThan(3_000);
        expect(await rejection(hold.extend(5_000))).toBe(hold.signal.reason);
        await eventually(async () => (await raw.command('EXISTS', hold.name)) === 0);
      }),
    );

    it(
      'answers false to unlock after its lease, and does not release the next hold',
      forEach(KINDS, async (kind) => {
        const [ours, theirs] = [await context.client(), await context.client()];
        const raw = await context.raw();
        const name = randomName();
        const hold = await kind.of(ours, name).lock({ leaseMs: 600 });
        const next = await kind.of(theirs, name).lock();
        expect(await hold.unlock()).toBe(false);
        expect(await hold.unlock()).toBe(false);
        expect(await holderOf(raw, kind, name)).toMatchObject({ owner: next.owner });
        next.assertHeld();
      }),
    );

    it(
      'does not throw at the end of its block because its lease ran out',
      forEach(KINDS, async (kind) => {
        const lock = kind.of(await context.client(), randomName());
        const block = async () => {
          await using hold = await lock.lock({ leaseMs: 600 });
          await whenAborted(hold.signal);
          return 'after the lease';
        };
        expect(await block()).toBe('after the lease');
      }),
    );

    it(
      'is released after maxHoldMs, and the next owner gets the lock',
      forEach(KINDS, async (kind) => {
        const client = await context.client();
        const raw = await context.raw();
        const lock = kind.of(client, randomName());
        const { result: hold, tookMs } = await timed(async () => {
          const taken = await lock.lock({ maxHoldMs: 300 });
          expect(await whenAborted(taken.signal)).toMatchObject({
            code: 'ERR_LEASE_LOST',
            reason: 'maxHold',
          });
          return taken;
        });
        expect(tookMs).toBeGreaterThanOrEqual(298);
        expect(await hold.unlock()).toBe(false);
        const next = (await lock.tryLock({ waitMs: 2_000, maxHoldMs: 60_000 })) as Hold;
        expect(await holderOf(raw, kind, lock.name)).toMatchObject({ owner: next.owner });
      }),
    );

    it(
      'is released after maxHoldMs even with the longest lease',
      forEach(KINDS, async (kind) => {
        const client = await context.client();
        const raw = await context.raw();
        const lock = kind.of(client, randomName());
        const hold = await lock.lock({ leaseMs: Number.MAX_SAFE_INTEGER, maxHoldMs: 100 });
        expect(await whenAborted(hold.signal)).toMatchObject({ reason: 'maxHold' });
        await eventually(async () => (await raw.command('EXISTS', lock.name)) === 0);
      }),
    );

    it(
      'ignores maxHoldMs after an earlier release',
      forEach(KINDS, async (kind) => {
        const client = await context.client();
        const lost: string[] = [];
        client.on('lost', ({ reason }) => lost.push(reason));
        const lock = kind.of(client, randomName());
        const hold = await lock.lock({ maxHoldMs: 200 });
        const { signal } = hold;
        await hold.unlock();
        const next = await lock.lock();
        const start = performance.now();
        await eventually(() => performance.now() - start > 300);
        expect(signal.aborted).toBe(false);
        expect(lost).toEqual([]);
        next.assertHeld();
      }),
    );

    it(
      'is lost at the next renewal when another client has forced it open',
      forEach(KINDS, async (kind) => {
        const [ours, theirs] = [await context.client({ watchdogMs: 3_000 }), await context.client()];
        const raw = await context.raw();
        const name = randomName();
        const hold = await kind.of(ours, name).lock();
        const { signal } = hold;
        expect(await kind.of(theirs, name).forceUnlock()).toBe(true);
        const next = (await kind.of(theirs, name).tryLock()) as Hold;
        // Had nothing been noticed before the end of the lease, it would be called expired.
        expect(await whenAborted(signal)).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'notOwner' });
        expect(await hold.unlock()).toBe(false);
        expect(await holderOf(raw, kind, name)).toMatchObject({ owner: next.owner });
      }),
    );
  });
}
