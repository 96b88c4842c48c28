/** withLock: the work, its result, its errors, and what happens around it. */
import { describe, expect, it } from 'vitest';
import {
  AcquireTimeoutError,
  type ClientEvents,
  type Hold,
  LeaseLostError,
  OptionError,
} from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { ownProxy, sharedServer } from '../../harness/servers.ts';
import { eventually } from '../../harness/wait.ts';
import { byHand, untilWaiting } from '../support/by-hand.ts';
import { type Context, onOneServer } from '../support/context.ts';
import { forEach, holderOf, KINDS, type Kind } from '../support/kinds.ts';
import { rejection, timed, whenAborted } from '../support/moments.ts';

export function describeWithLock(context: Context, kind: Kind): void {
  describe('withLock', () => {
    it('runs the work while it holds the lock, and returns its result', async () => {
      const raw = await context.raw();
      const lock = kind.of(await context.client(), randomName());
      const inside = await lock.withLock(async (hold) => {
        hold.assertHeld();
        return { owner: hold.owner, inRedis: await holderOf(raw, kind, lock.name) };
      });
      expect(inside.inRedis).toEqual({ owner: inside.owner, count: 1 });
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
      expect(await lock.withLock(() => 41 + 1)).toBe(42);
      expect(await lock.withLock(() => undefined)).toBeUndefined();
    });

    it('rejects with the error of the work after the release', async () => {
      const raw = await context.raw();
      const lock = kind.of(await context.client(), randomName());
      const broken = new Error('from the work');
      expect(await rejection(lock.withLock(() => Promise.reject(broken)))).toBe(broken);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
      const thrown = { not: 'even an error' };
      const throwing = lock.withLock(() => {
        throw thrown;
      });
      expect(await rejection(throwing)).toBe(thrown);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
    });

    it('waits for its turn without a limit', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const hold = await kind.of(ours, name).lock();
      const order: string[] = [];
      const waiter = kind.of(theirs, name).withLock(() => order.push('in'));
      await untilWaiting(raw, kind, name);
      order.push('out');
      await hold.unlock();
      await waiter;
      expect(order).toEqual(['out', 'in']);
    });

    it('rejects with the holder and its remaining time when waitMs has passed', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const name = randomName();
      const hold = await kind.of(ours, name).lock({ leaseMs: 60_000 });
      let ran = false;
      const work = () => {
        ran = true;
      };
      for (const waitMs of [0, 120]) {
        const { result: error, tookMs } = await timed(() =>
          rejection(kind.of(theirs, name).withLock(work, { waitMs })),
        );
        expect(tookMs).toBeGreaterThanOrEqual(waitMs - 2);
        expect(tookMs).toBeLessThan(4_000);
        expect(error).toBeInstanceOf(AcquireTimeoutError);
        expect(error).toMatchObject({
          code: 'ERR_ACQUIRE_TIMEOUT',
          lockName: name,
          waitedMs: waitMs,
          holder: hold.owner,
        });
        const { remainingMs, message } = error as AcquireTimeoutError;
        expect(remainingMs).toBeGreaterThan(50_000);
        expect(remainingMs).toBeLessThanOrEqual(60_000);
        expect(message).toContain(hold.owner);
      }
      expect(ran).toBe(false);
    });

    it('names a holder that is not a holdfast client', async () => {
      const raw = await context.raw();
      const name = randomName();
      const other = byHand(raw, kind, name);
      await other.tryLock();
      const lock = kind.of(await context.client(), name);
      const error = await rejection(lock.withLock(() => 1, { waitMs: 0 }));
      expect(error).toMatchObject({ holder: other.owner });
    });

    it('takes the lease it is given', async () => {
      const raw = await context.raw();
      const lock = kind.of(await context.client(), randomName());
      const leftMs = await lock.withLock(() => raw.command('PTTL', lock.name), { leaseMs: 7_000 });
      expect(leftMs).toBeGreaterThan(5_000);
      expect(leftMs).toBeLessThanOrEqual(7_000);
    });

    it('calls onAcquire before the work and onRelease after the release', async () => {
      const raw = await context.raw();
      const lock = kind.of(await context.client(), randomName());
      const calls: unknown[] = [];
      const isThere = () => raw.command('EXISTS', lock.name);
      let held: Hold | undefined;
      const result = await lock.withLock(
        async (hold) => {
          held = hold;
          calls.push(['work', await isThere()]);
          return 'result';
        },
        {
          onAcquire: async (hold) => calls.push(['onAcquire', await isThere(), hold]),
          onRelease: async (hold, released) => calls.push(['onRelease', await isThere(), hold, released]),
        },
      );
      expect(result).toBe('result');
      expect(calls).toEqual([
        ['onAcquire', 1, held],
        ['work', 1],
        ['onRelease', 0, held, true],
      ]);
    });

    it('calls onRelease also when the work throws', async () => {
      const lock = kind.of(await context.client(), randomName());
      const broken = new Error('from the work');
      const released: boolean[] = [];
      const call = lock.withLock(() => Promise.reject(broken), {
        onRelease: (_hold, wasHeld) => released.push(wasHeld),
      });
      expect(await rejection(call)).toBe(broken);
      expect(released).toEqual([true]);
    });

    it('does not run the work when onAcquire throws, and releases', async () => {
      const raw = await context.raw();
      const lock = kind.of(await context.client(), randomName());
      const broken = new Error('from onAcquire');
      let ran = false;
      const call = lock.withLock(
        () => {
          ran = true;
        },
        { onAcquire: () => Promise.reject(broken) },
      );
      expect(await rejection(call)).toBe(broken);
      expect(ran).toBe(false);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
    });

    it('reports an error of onRelease as an error event, and returns the result', async () => {
      const client = await context.client();
      const errors: ClientEvents['error'][] = [];
      client.on('error', (event) => errors.push(event));
      const broken = new Error('from onRelease');
      const lock = kind.of(client, randomName());
      const onRelease = () => Promise.reject(broken);
      expect(await lock.withLock(() => 'result', { onRelease })).toBe('result');
      const fromWork = new Error('from the work');
      expect(await rejection(lock.withLock(() => Promise.reject(fromWork), { onRelease }))).toBe(fromWork);
      expect(errors.map(({ error }) => error)).toEqual([broken, broken]);
      expect(errors[0]?.during).toContain(lock.name);
    });

    it('rejects when the hold was gone by the end, though the work resolved', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const lock = kind.of(client, randomName());
      const released: boolean[] = [];
      const work = async () => {
        await raw.command('DEL', lock.name);
        return 'done in vain';
      };
      const onRelease = (_hold: Hold, wasHeld: boolean) => released.push(wasHeld);
      const error = await rejection(lock.withLock(work, { onRelease }));
      expect(error).toBeInstanceOf(LeaseLostError);
      expect(error).toMatchObject({ lockName: lock.name, reason: 'notOwner' });
      expect(released).toEqual([false]);
      const broken = new Error('from the work');
      const failing = async () => {
        await raw.command('DEL', lock.name);
        throw broken;
      };
      expect(await rejection(lock.withLock(failing))).toBe(broken);
    });

    it('lets the work release its hold early without an error at the end', async () => {
      const raw = await context.raw();
      const lock = kind.of(await context.client(), randomName());
      const result = await lock.withLock(async (hold) => {
        await hold.unlock();
        return raw.command('EXISTS', lock.name);
      });
      expect(result).toBe(0);
    });

    it('needs a function', async () => {
      const lock = kind.of(await context.client(), randomName());
      expect(await rejection(lock.withLock('work' as never))).toBeInstanceOf(OptionError);
      expect(await rejection(lock.withLock(undefined as never))).toBeInstanceOf(OptionError);
    });
  });
}

/** What takes real time, for every kind at once. */
export function describeWithLockOverTime(context: Context): void {
  describe('withLock over time', () => {
    it(
      'rejects when the lease was lost while the work ran, though the work resolved',
      forEach(KINDS, async (kind) => {
        const lock = kind.of(await context.client(), randomName());
        const work = async (hold: Hold) => {
          await whenAborted(hold.signal);
          return 'done in vain';
        };
        const error = await rejection(lock.withLock(work, { leaseMs: 600 }));
        expect(error).toBeInstanceOf(LeaseLostError);
        expect(error).toMatchObject({ lockName: lock.name, reason: 'expired' });
        const tooLong = await rejection(lock.withLock(work, { maxHoldMs: 100 }));
        expect(tooLong).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'maxHold' });
      }),
    );

    it(
      'rejects with the error of the work if the lease is lost as well',
      forEach(KINDS, async (kind) => {
        const lock = kind.of(await context.client(), randomName());
        const broken = new Error('from the work');
        const work = async (hold: Hold) => {
          await whenAborted(hold.signal);
          throw broken;
        };
        expect(await rejection(lock.withLock(work, { leaseMs: 600 }))).toBe(broken);
      }),
    );

    onOneServer(context, it)(
      'returns the result or error of the work when the release gets no answer, and reports the failure',
      forEach(KINDS, async (kind) => {
        const raw = await context.raw();
        const proxy = await ownProxy(sharedServer());
        const client = await context.client({ commandTimeoutMs: 1_000 }, proxy);
        const errors: ClientEvents['error'][] = [];
        client.on('error', (event) => errors.push(event));
        const lock = kind.of(client, randomName());
        await client.capabilities();

        const result = await lock.withLock(() => {
          proxy.blackhole();
          return 'result';
        });
        expect(result).toBe('result');
        expect(errors).toMatchObject([{ error: { code: 'ERR_OUTCOME_UNKNOWN' } }]);
        await proxy.heal();
        // The release goes on in the background: nobody has to wait for the lease to end.
        await eventually(async () => (await raw.command('EXISTS', lock.name)) === 0, { withinMs: 15_000 });

        const broken = new Error('from the work');
        const call = lock.withLock(
          () => {
            proxy.blackhole();
            throw broken;
          },
          { waitMs: 10_000 },
        );
        expect(await rejection(call)).toBe(broken);
        await proxy.heal();
      }),
    );
  });
}
