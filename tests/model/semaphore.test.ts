/**
 * The semaphore against a plain model of it: any sequence of taking, giving, growing, draining and deleting, by
 * two clients and by Redisson, with waiters that come and give up, leaves the number that the model has, and
 * nobody waiting for what is there.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Holdfast, type Semaphore } from '../../src/index.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { closedAtEnd } from '../behaviour/support/context.ts';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { runs } from './support/runs.ts';

interface Model {
  /** How many are free; null when there is no semaphore. */
  free: number | null;
  waiters: number;
}

interface Waiter {
  readonly count: number;
  readonly giveUp: AbortController;
  state: 'waiting' | 'taken' | 'gone';
}

interface Real {
  readonly raw: RawConnection;
  readonly name: string;
  readonly semaphores: readonly Semaphore[];
  readonly waiters: Waiter[];
}

type Step = fc.AsyncCommand<Model, Real>;

async function freeOn({ raw, name }: Real): Promise<number | null> {
  const value = await raw.command('GET', name);
  return value === null ? null : Number(value);
}

/** Waits until whoever can be served is served, takes their permits off the model, and compares. */
async function check(model: Model, real: Real): Promise<void> {
  await eventually(async () => {
    const free = await freeOn(real);
    const taken = real.waiters.filter(({ state }) => state === 'taken');
    const waiting = real.waiters.filter(({ state }) => state === 'waiting');
    const expected =
      model.free === null ? null : model.free - taken.reduce((sum, { count }) => sum + count, 0);
    expect(free).toBe(expected);
    for (const { count } of waiting) expect(count).toBeGreaterThan(free ?? 0);
    model.free = expected;
    model.waiters = waiting.length;
    real.waiters.splice(0, real.waiters.length, ...waiting);
  });
}

function step(
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  can = (_model: Model) => true,
): Step {
  return {
    toString: () => name,
    check: can,
    run: async (model, real) => {
      await run(model, real);
      await check(model, real);
    },
  };
}

const ours = (real: Real, who: number) => real.semaphores[who] as Semaphore;

const who = fc.integer({ min: 0, max: 1 });
const few = fc.integer({ min: 1, max: 4 });

const STEPS = [
  fc.tuple(who, fc.integer({ min: 0, max: 5 }), fc.boolean()).map(([by, count, mortal]) =>
    step(`${by} sets ${count}`, async (model, real) => {
      const isNew = model.free === null;
      if (isNew) model.free = count;
      expect(await ours(real, by).trySetPermits(count, mortal ? { ttlMs: 600_000 } : {})).toBe(isNew);
    }),
  ),
  fc.tuple(who, few).map(([by, count]) =>
    step(`${by} tries to take ${count}`, async (model, real) => {
      const fits = (model.free ?? 0) >= count;
      if (fits) model.free = (model.free ?? 0) - count;
      expect(await ours(real, by).tryAcquire(count)).toBe(fits);
    }),
  ),
  fc.tuple(who, few).map(([by, count]) =>
    step(`${by} gives ${count}`, async (model, real) => {
      model.free = (model.free ?? 0) + count;
      await ours(real, by).release(count);
    }),
  ),
  fc.tuple(who, few).map(([by, count]) =>
    step(`${by} gives ${count} if it exists`, async (model, real) => {
      const exists = model.free !== null;
      if (model.free !== null) model.free += count;
      expect(await ours(real, by).releaseIfExists(count)).toBe(exists);
    }),
  ),
  fc.tuple(who, fc.integer({ min: -4, max: 4 })).map(([by, count]) =>
    step(`${by} adds ${count}`, async (model, real) => {
      model.free = (model.free ?? 0) + count;
      await ours(real, by).addPermits(count);
    }),
  ),
  who.map((by) =>
    step(`${by} drains`, async (model, real) => {
      const free = model.free ?? 0;
      if (model.free !== null) model.free = 0;
      expect(await ours(real, by).drainPermits()).toBe(free);
    }),
  ),
  who.map((by) =>
    step(`${by} looks`, async (model, real) => {
      expect(await ours(real, by).availablePermits()).toBe(model.free ?? 0);
    }),
  ),
  few.map((count) =>
    step(`Java gives ${count}`, async (model, { raw, name }) => {
      model.free = (model.free ?? 0) + count;
      const total = Number(await raw.command('INCRBY', name, count));
      await raw.command('PUBLISH', `redisson_sc:{${name}}`, String(total));
    }),
  ),
  few.map((count) =>
    step(
      `Java takes ${count}`,
      async (model, { raw, name }) => {
        model.free = (model.free ?? 0) - count;
        await raw.command('DECRBY', name, count);
      },
      (model) => (model.free ?? 0) >= count,
    ),
  ),
  fc.constant(
    step('somebody deletes it', async (model, { raw, name }) => {
      model.free = null;
      await raw.command('DEL', name);
    }),
  ),
  fc.tuple(who, few, fc.constantFrom('acquire', 'tryAcquire', 'parallel')).map(([by, count, how]) =>
    step(`${by} waits for ${count} by ${how}`, async (_model, real) => {
      const giveUp = new AbortController();
      const { signal } = giveUp;
      for (let i = 0; i < (how === 'parallel' ? 3 : 1); i += 1) {
        const waiter: Waiter = { count, giveUp, state: 'waiting' };
        real.waiters.push(waiter);
        const wait =
          how === 'tryAcquire'
            ? ours(real, by).tryAcquire(count, { waitMs: 60_000, signal })
            : ours(real, by).acquire(count, { signal });
        void wait.then(
          () => {
            waiter.state = 'taken';
          },
          (reason: unknown) => {
            expect(reason).toBe(signal.reason);
            waiter.state = 'gone';
          },
        );
      }
    }),
  ),
  fc.nat({ max: 9 }).map((index) =>
    step(
      `waiter ${index} gives up`,
      async (_model, real) => {
        const waiter = real.waiters[index % real.waiters.length] as Waiter;
        waiter.giveUp.abort(new Error('enough'));
        await eventually(() => waiter.state === 'gone');
      },
      (model) => model.waiters > 0,
    ),
  ),
];

async function client(): Promise<Holdfast> {
  return closedAtEnd(await Holdfast.connect(sharedServer().url));
}

describe('the semaphore and its model', () => {
  it('agree', async () => {
    const raw = await openShared();
    const clients = [await client(), await client()];
    const run = async (steps: Iterable<Step>) => {
      const name = randomName('model');
      const semaphores = clients.map((each) => each.getSemaphore(name));
      const real: Real = { raw, name, semaphores, waiters: [] };
      try {
        await fc.asyncModelRun(() => ({ model: { free: null, waiters: 0 }, real }), steps);
      } finally {
        for (const { giveUp } of real.waiters) giveUp.abort(new Error('over'));
        await raw.command('DEL', name);
      }
    };
    await fc.assert(fc.asyncProperty(fc.commands(STEPS, { maxCommands: 30 }), run), {
      numRuns: runs(60),
      interruptAfterTimeLimit: 12_000,
      endOnFailure: true,
    });
  });
});
