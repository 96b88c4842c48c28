/**
 * What the multi lock promises once it is held: one hold, kept, extended, lost and given back as one; and
 * entered again as its members are.
 */
import { describe, expect, it } from 'vitest';
import { type Hold, LeaseLostError, NotHeldError, ReentryError } from '../../src/index.ts';
import type { RawView } from '../harness/cluster-connection.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough } from './support/context.ts';
import { Room, rejection, whenAborted } from './support/moments.ts';

async function countsOf(raw: RawView, names: readonly string[]): Promise<number[]> {
  const counts: number[] = [];
  for (const name of names) {
    const [, count = '0'] = (await raw.command('HGETALL', name)) as string[];
    counts.push(Number(count));
  }
  return counts;
}

/** Two locks of two clients, and the multi lock of them. */
async function pair(context: Context, watchdogMs = 30_000) {
  const [one, two] = [await context.client({ watchdogMs }), await context.client({ watchdogMs })];
  const name = randomName();
  const names = [`${name}:a`, `${name}:b`];
  const [a, b] = [one.getLock(`${name}:a`), two.getLock(`${name}:b`)];
  return { one, two, names, a, b, multi: one.getMultiLock(a, b), raw: await context.raw() };
}

function describeHeldMultiLock(context: Context): void {
  describeOneHold(context);
  describeReentry(context);
  describeLooking(context);
}

function describeOneHold(context: Context): void {
  describe('one hold', () => {
    it('is released at the end of its block', async () => {
      const { multi, names, raw } = await pair(context);
      {
        await using hold = await multi.lock();
        expect(await countsOf(raw, names)).toEqual([1, 1]);
        hold.assertHeld();
      }
      expect(await countsOf(raw, names)).toEqual([0, 0]);
    });

    it('answers the same to a second unlock, and is not held after the first', async () => {
      const { multi } = await pair(context);
      const hold = await multi.lock();
      expect(await hold.unlock()).toBe(true);
      expect(await hold.unlock()).toBe(true);
      expect(hold.remainingMs).toBe(0);
      expect(hold.signal.aborted).toBe(false);
      expect(() => hold.assertHeld()).toThrow(NotHeldError);
      expect(await rejection(hold.extend(1_000))).toBeInstanceOf(NotHeldError);
    });

    it('is renewed by the watchdogs of its members', async () => {
      const { multi, names, raw } = await pair(context, 1_000);
      const hold = await multi.lock();
      const from = performance.now();
      await eventually(() => performance.now() - from > 2_200);
      hold.assertHeld();
      expect(await countsOf(raw, names)).toEqual([1, 1]);
      expect(await hold.unlock()).toBe(true);
    });

    it('is lost with its first lost member, and the other members end too', async () => {
      const { multi, names, raw, one } = await pair(context, 900);
      const lost: string[] = [];
      one.on('lost', ({ name }) => lost.push(name));
      const hold = await multi.lock();
      await raw.command('DEL', names[0] as string);
      const reason = await whenAborted(hold.signal);
      expect(reason).toBeInstanceOf(LeaseLostError);
      expect(reason).toMatchObject({
        lockName: multi.name,
        reason: 'notOwner',
        cause: { lockName: names[0] },
      });
      expect(lost).toEqual([names[0]]);
      expect(hold.remainingMs).toBe(0);
      expect(() => hold.assertHeld()).toThrow(LeaseLostError);
      // Nobody unlocks it, and yet its other member does not stay forever.
      await eventually(async () => expect(await countsOf(raw, names)).toEqual([0, 0]));
      expect(await hold.unlock()).toBe(false);
    });

    it('that was lost makes withLock reject, whatever the work returned, and frees the other members', async () => {
      const { multi, names, raw } = await pair(context, 600);
      let released: boolean | undefined;
      const failed = rejection(
        multi.withLock(
          async (hold) => {
            await raw.command('DEL', names[1] as string);
            await whenAborted(hold.signal);
            return 'done';
          },
          { onRelease: (_, answer) => (released = answer) },
        ),
      );
      expect(await failed).toMatchObject({ code: 'ERR_LEASE_LOST', lockName: multi.name });
      expect(released).toBe(false);
      expect(await countsOf(raw, names)).toEqual([0, 0]);
    });

    it('is extended as a whole', async () => {
      const { multi, names, raw } = await pair(context);
      const hold = await multi.lock({ leaseMs: 5_000 });
      await hold.extend(40_000);
      for (const name of names) expect(Number(await raw.command('PTTL', name))).toBeGreaterThan(30_000);
      expect(hold.remainingMs).toBeGreaterThan(30_000);
      await raw.command('DEL', names[1] as string);
      expect(await rejection(hold.extend(50_000))).toBeInstanceOf(LeaseLostError);
      expect(hold.signal.aborted).toBe(true);
    });

    it("ends after maxHoldMs, counted from the last member's grant", async () => {
      const { multi, names, raw } = await pair(context);
      const other = await context.client();
      const theirs = await other.getLock(names[1] as string).lock();
      const waiting = multi.lock({ maxHoldMs: 700 });
      await eventually(async () => expect(await countsOf(raw, names)).toEqual([1, 1]));
      const from = performance.now();
      await eventually(() => performance.now() - from > 900);
      await theirs.unlock();
      const hold = await waiting;
      hold.assertHeld();
      expect(await whenAborted(hold.signal)).toMatchObject({ reason: 'maxHold', lockName: multi.name });
      await eventually(async () => expect(await countsOf(raw, names)).toEqual([0, 0]));
      expect(await hold.unlock()).toBe(false);
    });

    it('is not held any more once a member was released separately', async () => {
      const { multi, a, one } = await pair(context);
      const owner = one.owner();
      const hold = await multi.lock({ owner });
      hold.assertHeld();
      await a.unlock({ owner });
      expect(() => hold.assertHeld()).toThrow(NotHeldError);
      expect(hold.remainingMs).toBe(0);
      await hold.unlock();
    });

    it('begins no work when it was lost while onAcquire ran', async () => {
      const { multi, b } = await pair(context);
      let begun = false;
      const work = () => {
        begun = true;
      };
      const onAcquire = async (hold: Hold) => {
        await b.forceUnlock();
        await whenAborted(hold.signal);
      };
      expect(await rejection(multi.withLock(work, { onAcquire }))).toBeInstanceOf(LeaseLostError);
      expect(begun).toBe(false);
    });

    it('rejects with the error of the work or of onAcquire', async () => {
      const { multi, names, raw } = await pair(context);
      const boom = new Error('boom');
      const failing = multi.withLock(() => {
        throw boom;
      });
      expect(await rejection(failing)).toBe(boom);
      const onAcquire = () => {
        throw boom;
      };
      expect(await rejection(multi.withLock(() => 'never', { onAcquire }))).toBe(boom);
      expect(await countsOf(raw, names)).toEqual([0, 0]);
    });
  });
}

function describeReentry(context: Context): void {
  describe('entering again', () => {
    it('inside withLock of a member, of the same multi lock, and the other way round', async () => {
      const { multi, a, b, names, raw } = await pair(context);
      await b.withLock(() =>
        multi.withLock(async () => {
          expect(await countsOf(raw, names)).toEqual([1, 2]);
          await multi.withLock(async (hold) => {
            expect(await countsOf(raw, names)).toEqual([2, 3]);
            const again = await a.lock();
            expect(await countsOf(raw, names)).toEqual([3, 3]);
            expect(hold.owner.split(' ')).toContain(again.owner);
            expect(await multi.getHoldCount()).toBe(3);
            await again.unlock();
          });
          expect(await countsOf(raw, names)).toEqual([1, 2]);
        }),
      );
      expect(await countsOf(raw, names)).toEqual([0, 0]);
    });

    it('as an owner, on the client of every member', async () => {
      const { multi, one, names, raw } = await pair(context);
      const owner = one.owner();
      const outer = await multi.lock({ owner });
      const inner = await multi.lock({ owner });
      expect(await countsOf(raw, names)).toEqual([2, 2]);
      expect(inner.owner).toBe(outer.owner);
      expect(await multi.getHoldCount({ owner })).toBe(2);
      expect(await multi.tryLock({ owner: one.owner() })).toBeNull();
      await multi.unlock({ owner });
      expect(await multi.getHoldCount({ owner })).toBe(1);
      expect(await multi.isHeld({ owner })).toBe(true);
      await multi.unlock({ owner });
      expect(await countsOf(raw, names)).toEqual([0, 0]);
      expect(await multi.isHeld({ owner })).toBe(false);
      expect(await rejection(multi.unlock({ owner }))).toBeInstanceOf(NotHeldError);
    });

    it('does not release a member that the owner holds separately', async () => {
      const { multi, a, one, names, raw } = await pair(context);
      const owner = one.owner();
      const hold = await a.lock({ owner });
      expect(await rejection(multi.unlock({ owner }))).toBeInstanceOf(NotHeldError);
      expect(await countsOf(raw, names)).toEqual([1, 0]);
      expect(await hold.unlock()).toBe(true);
    });

    it('serialises concurrent sections of one owner, in whatever order they list the members', async () => {
      const { multi, a, b, one } = await pair(context);
      const room = new Room();
      const stay = () => new Promise<void>((resolve) => setImmediate(resolve));
      const other = one.getMultiLock(b, a);
      await multi.withLock(() =>
        Promise.all([
          multi.withLock(() => room.visit('multi', stay)),
          other.withLock(() => room.visit('reversed', stay)),
          a.withLock(() => room.visit('a', stay)),
          other.withLock(() => room.visit('reversed', stay)),
        ]),
      );
      expect(room.visitors).toHaveLength(4);
      expect(room.most).toBe(1);
    });

    it('makes other owners wait', async () => {
      const { multi } = await pair(context);
      await multi.withLock(async () => {
        const outside = await Promise.resolve().then(() => multi.tryLock());
        expect(outside).not.toBeNull();
        await outside?.unlock();
      });
      const hold = await multi.lock();
      expect(await multi.tryLock()).toBeNull();
      await hold.unlock();
    });

    it('throws where a member is not reentrant, and leaves the outer hold as it was', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const names = [`${name}:a`, `${name}:b`];
      const multi = client.getMultiLock(client.getLock(`${name}:a`), client.getNonReentrantLock(`${name}:b`));
      await multi.withLock(async (hold) => {
        expect(await rejection(multi.withLock(() => 'never'))).toBeInstanceOf(ReentryError);
        expect(await countsOf(raw, names)).toEqual([1, 1]);
        hold.assertHeld();
      });
    });

    it('after the loss rejects with LeaseLostError, and takes nothing again', async () => {
      const { multi, one, names, raw } = await pair(context);
      const owner = one.owner();
      const hold = await multi.lock({ owner });
      expect(await one.getLock(names[0] as string).forceUnlock()).toBe(true);
      expect(hold.signal.aborted).toBe(true);
      expect(await rejection(multi.lock({ owner }))).toBeInstanceOf(LeaseLostError);
      expect(await countsOf(raw, names)).toEqual([0, 1]);
      expect(await hold.unlock()).toBe(false);
      expect(await countsOf(raw, names)).toEqual([0, 0]);
    });
  });
}

function describeLooking(context: Context): void {
  describe('inspection', () => {
    it('reports locked if any member is, and the longest remaining time', async () => {
      const { multi, one, names } = await pair(context);
      expect(await multi.isLocked()).toBe(false);
      expect(await multi.getRemainingMs()).toBeNull();
      const other = await context.client();
      await other.getLock(names[0] as string).lock({ leaseMs: 20_000 });
      expect(await multi.isLocked()).toBe(true);
      expect(await multi.getRemainingMs()).toBeGreaterThan(15_000);
      await other.getLock(names[1] as string).lock({ leaseMs: 50_000 });
      expect(await multi.getRemainingMs()).toBeGreaterThan(45_000);
      expect(await multi.isHeld({ owner: one.owner() })).toBe(false);
    });

    it('is freed by force, whichever owners hold its members', async () => {
      const { multi, names, raw } = await pair(context);
      const other = await context.client();
      await other.getLock(names[0] as string).lock();
      const hold = await multi.tryLock();
      expect(hold).toBeNull();
      expect(await multi.forceUnlock()).toBe(true);
      expect(await countsOf(raw, names)).toEqual([0, 0]);
      expect(await multi.forceUnlock()).toBe(false);
      expect(await multi.isLocked()).toBe(false);
    });
  });
}

describeThrough('multi lock', describeHeldMultiLock);
