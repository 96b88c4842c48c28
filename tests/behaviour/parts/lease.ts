/** Leases: how long a hold lasts, who keeps it alive, and that its holder is told in time. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ClientEvents, type Hold, LeaseLostError } from '../../../src/index.ts';
import { spawnChild } from '../../harness/child.ts';
import { LABEL, randomName } from '../../harness/names.ts';
import { sharedServer } from '../../harness/servers.ts';
import { eventually } from '../../harness/wait.ts';
import { type Context, onOneServer } from '../support/context.ts';
import { forEach, holderOf, KINDS, type Kind } from '../support/kinds.ts';
import { timed, whenAborted } from '../support/moments.ts';

export function describeLease(context: Context, kind: Kind): void {
  describe('the lease', () => {
    it('is the watchdog time when none is given, 30 s by default', async () => {
      const raw = await context.raw();
      const name = randomName();
      const hold = await kind.of(await context.client(), name).lock();
      const leftMs = Number(await raw.command('PTTL', name));
      expect(leftMs).toBeGreaterThan(28_000);
      expect(leftMs).toBeLessThanOrEqual(30_000);
      // The holder is told up to 6 % of the lease before the server lets go.
      expect(hold.remainingMs).toBeGreaterThan(26_000);
      expect(hold.remainingMs).toBeLessThan(leftMs);
    });

    it('is the watchdogMs of the client', async () => {
      const raw = await context.raw();
      const name = randomName();
      await kind.of(await context.client({ watchdogMs: 100_000 }), name).lock();
      const leftMs = Number(await raw.command('PTTL', name));
      expect(leftMs).toBeGreaterThan(98_000);
      expect(leftMs).toBeLessThanOrEqual(100_000);
    });

    it('is leaseMs if it is given', async () => {
      const raw = await context.raw();
      const client = await context.client();
      const take: ((lock: ReturnType<Kind['of']>) => Promise<unknown>)[] = [
        (lock) => lock.lock({ leaseMs: 7_000 }),
        (lock) => lock.tryLock({ leaseMs: 7_000 }),
        (lock) => lock.tryLock({ waitMs: 1_000, leaseMs: 7_000 }),
      ];
      for (const each of take) {
        const name = randomName();
        await each(kind.of(client, name));
        const leftMs = Number(await raw.command('PTTL', name));
        expect(leftMs).toBeGreaterThan(5_000);
        expect(leftMs).toBeLessThanOrEqual(7_000);
      }
    });

    it('may be as long as the largest safe integer', async () => {
      const raw = await context.raw();
      const name = randomName();
      const lock = kind.of(await context.client(), name);
      // As milliseconds of an absolute time this must still fit the server's 64 bits.
      const hold = await lock.lock({ leaseMs: Number.MAX_SAFE_INTEGER });
      expect(Number(await raw.command('PTTL', name))).toBeGreaterThan(Number.MAX_SAFE_INTEGER - 60_000);
      expect(await hold.unlock()).toBe(true);
      expect(await raw.command('EXISTS', name)).toBe(0);
    });
  });
}

/** What takes real time, for every kind at once. */
export function describeLeaseOverTime(context: Context): void {
  describe('the lease over time', () => {
    it(
      'is renewed by the watchdog while the hold lasts, and no longer',
      forEach(KINDS, async (kind) => {
        const raw = await context.raw();
        const client = await context.client({ watchdogMs: 2_000 });
        const name = randomName();
        const hold = await kind.of(client, name).lock();
        const takenAt = performance.now();
        await eventually(
          async () => {
            const leftMs = Number(await raw.command('PTTL', name));
            expect(leftMs, 'held all the time').toBeGreaterThan(0);
            return performance.now() - takenAt > 2 * 2_000;
          },
          { everyMs: 20, withinMs: 15_000 },
        );
        expect(hold.signal.aborted).toBe(false);
        hold.assertHeld();
        expect(await holderOf(raw, kind, name)).toMatchObject({ owner: hold.owner });
        expect(await hold.unlock()).toBe(true);
        expect(await raw.command('EXISTS', name)).toBe(0);
      }),
    );

    it(
      'with leaseMs ends without a renewal, and the next owner gets the lock',
      forEach(KINDS, async (kind) => {
        const raw = await context.raw();
        const [ours, theirs] = [await context.client({ watchdogMs: 300 }), await context.client()];
        const name = randomName();
        const lost: ClientEvents['lost'][] = [];
        ours.on('lost', (event) => lost.push(event));
        const hold = await kind.of(ours, name).lock({ leaseMs: 600 });
        const next = await kind.of(theirs, name).tryLock({ waitMs: 10_000 });
        expect(lost).toEqual([{ kind: kind.kind, name, owner: hold.owner, label: LABEL, reason: 'expired' }]);
        expect(await holderOf(raw, kind, name)).toMatchObject({ owner: (next as Hold).owner });
      }),
    );

    it(
      'ends for its holder before it ends on the server',
      forEach(KINDS, async (kind) => {
        const raw = await context.raw();
        const name = randomName();
        const hold = await kind.of(await context.client(), name).lock({ leaseMs: 5_000 });
        const leftAtAbort = new Promise((resolve) => {
          hold.signal.addEventListener('abort', () => resolve(raw.command('PTTL', name)));
        });
        const leftMs = await leftAtAbort;
        expect(leftMs).toBeGreaterThan(0);
        expect(leftMs).toBeLessThan(1_000);
        const error = hold.signal.reason;
        expect(error).toBeInstanceOf(LeaseLostError);
        expect(error).toMatchObject({ lockName: name, owner: hold.owner, reason: 'expired' });
        expect(() => hold.assertHeld()).toThrow(error);
        expect(hold.remainingMs).toBe(0);
      }),
    );

    onOneServer(context, it)(
      'has ended for assertHeld on the first line after a blocked event loop',
      async () => {
        const client = await context.client();
        const taken = KINDS.map((kind) => kind.of(client, randomName(kind.title)).lock({ leaseMs: 2_000 }));
        const holds = await Promise.all(taken);
        for (const hold of holds) hold.assertHeld();
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_001);
        for (const hold of holds) {
          expect(() => hold.assertHeld(), hold.name).toThrow(LeaseLostError);
          expect(hold.remainingMs).toBe(0);
          expect(hold.signal.reason).toMatchObject({ reason: 'expired' });
        }
      },
    );

    it(
      'has less remaining time as time passes',
      forEach(KINDS, async (kind) => {
        const hold = await kind.of(await context.client(), randomName()).lock({ leaseMs: 5_000 });
        // Read before the first remaining time, so that a stall between the two cannot shorten the difference.
        const from = performance.now();
        const atFirst = hold.remainingMs;
        expect(atFirst).toBeLessThan(5_000);
        await eventually(() => hold.remainingMs <= atFirst - 100);
        expect(performance.now() - from).toBeGreaterThan(90);
      }),
    );

    onOneServer(context, it)(
      'ends with its process: the lock of a killed process is free after its lease',
      async () => {
        const client = await context.client();
        const raw = await context.raw();
        const name = randomName();
        const script = fileURLToPath(new URL('../children/holds.ts', import.meta.url));
        const child = spawnChild(script, { args: [sharedServer().url, name, '2000'] });
        const { owner } = await child.next(({ state }) => state === 'held');
        const waiter = client.getLock(name).lock();
        // Held past its first lease: the watchdog of the child is at work.
        const heldAt = performance.now();
        await eventually(() => performance.now() - heldAt > 2_200);
        expect(await raw.command('HGETALL', name)).toEqual([owner, '1']);
        child.kill('SIGKILL');
        const { result: hold, tookMs } = await timed(() => waiter);
        expect(tookMs).toBeLessThan(2_000 + 4_000);
        expect(hold.owner).toContain(client.id);
      },
    );

    it(
      'that was lost is reported once, whatever the holder does afterwards',
      forEach(KINDS, async (kind) => {
        const client = await context.client();
        const lost: string[] = [];
        client.on('lost', ({ owner }) => lost.push(owner));
        const hold = await kind.of(client, randomName()).lock({ leaseMs: 600 });
        await whenAborted(hold.signal);
        expect(() => hold.assertHeld()).toThrow(LeaseLostError);
        expect(await hold.unlock()).toBe(false);
        expect(lost).toEqual([hold.owner]);
      }),
    );
  });
}
