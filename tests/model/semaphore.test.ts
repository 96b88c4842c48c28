/**
 * The semaphore against a plain model of it: any sequence of taking, giving, growing, draining and deleting, by
 * two clients and by Redisson, with waiters that come and give up, leaves the number that the model has, and
 * nobody waiting for what is there.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Semaphore } from '../../src/index.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { eventually } from '../harness/wait.ts';
import { agree, stepsWith, who } from './support/steps.ts';
import { type ModelWithWaiters, sendAway, serve, type Waiter, waitingSteps } from './support/waiters.ts';

/** The number with which some of the objects create the semaphore. */
const CREATED = 3;

interface Model extends ModelWithWaiters {
  /** Which clients have met it through an object that creates it. */
  met: boolean[];
}

interface Real {
  readonly raw: RawConnection;
  readonly name: string;
  readonly semaphores: readonly Semaphore[];
  /** Of the same name; these create it. */
  readonly creators: readonly Semaphore[];
  readonly waiters: Waiter<unknown>[];
}

/** Waits until every waiter that can be served is served, and compares. */
async function check(model: Model, real: Real): Promise<void> {
  await eventually(async () => {
    const value = await real.raw.command('GET', real.name);
    serve(model, real.waiters, value === null ? null : Number(value));
  });
}

const step = stepsWith(check);
const ours = (real: Real, who: number) => real.semaphores[who] as Semaphore;

const creator = (real: Real, who: number) => real.creators[who] as Semaphore;

/** Waiters may be quicker than the caller that creates it for itself. */
const isPredictable = (model: Model) => model.free !== null || model.waiters === 0;

/** A client that has met it leaves it to acquisitions to create it again. */
function meet(model: Model, by: number): void {
  if (!model.met[by]) model.free ??= CREATED;
  model.met[by] = true;
}

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
    step(
      `${by} creates it and tries to take ${count}`,
      async (model, real) => {
        meet(model, by);
        model.free ??= CREATED;
        const fits = model.free >= count;
        if (fits) model.free -= count;
        expect(await creator(real, by).tryAcquire(count)).toBe(fits);
      },
      isPredictable,
    ),
  ),
  fc.tuple(who, few).map(([by, count]) =>
    step(`${by} creates it and gives ${count}`, async (model, real) => {
      meet(model, by);
      if (model.free !== null) model.free += count;
      await creator(real, by).release(count);
    }),
  ),
  who.map((by) =>
    step(
      `${by} creates it and looks`,
      async (model, real) => {
        meet(model, by);
        expect(await creator(real, by).availablePermits()).toBe(model.free ?? 0);
      },
      isPredictable,
    ),
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
    step('another client deletes the semaphore', async (model, { raw, name }) => {
      model.free = null;
      await raw.command('DEL', name);
    }),
  ),
  ...waitingSteps<unknown, Model, Real>(step, few, (real, by, count, { waitMs, signal }) =>
    waitMs === undefined
      ? ours(real, by).acquire(count, { signal })
      : ours(real, by).tryAcquire(count, { waitMs, signal }),
  ),
];

describe('the semaphore and its model', () => {
  it('agree', () =>
    agree<Model, Real>({
      steps: STEPS,
      maxCommands: 30,
      many: 60,
      begin: ({ raw, name, clients }) => ({
        model: { free: null, waiters: 0, met: [false, false] },
        real: {
          raw,
          name,
          semaphores: clients.map((each) => each.getSemaphore(name)),
          creators: clients.map((each) => each.getSemaphore(name, { permits: CREATED })),
          waiters: [],
        },
      }),
      end: async ({ raw, name, waiters }) => {
        sendAway(waiters);
        await raw.command('DEL', name);
      },
    }));
});
