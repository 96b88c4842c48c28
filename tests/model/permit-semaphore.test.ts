/**
 * The permit-expirable semaphore against a plain model of it: any sequence of taking, giving back, changing
 * leases and numbers, by two clients and by Redisson, with leases that end and waiters that come and give up,
 * leaves the numbers and the holders that the model has, and nobody waiting for what is there.
 */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NotHeldError, type Permit, type PermitExpirableSemaphore } from '../../src/index.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { rejection } from '../behaviour/support/moments.ts';
import { eventually } from '../harness/wait.ts';
import { agree, stepsWith, who } from './support/steps.ts';
import {
  type ModelWithWaiters,
  sendAway,
  serve,
  takenBy,
  type Waiter,
  waitingSteps,
} from './support/waiters.ts';

const PERMANENT = 922_337_203_685_477;
/** The number with which some of the objects create the semaphore. */
const CREATED = 2;
/** Long enough never to end within a run. */
const LONG_MS = 600_000;

interface Model extends ModelWithWaiters {
  /** By id: whether it ends. */
  taken: Map<string, 'timed' | 'permanent'>;
}

interface Real {
  readonly raw: RawConnection;
  readonly name: string;
  readonly semaphores: readonly PermitExpirableSemaphore[];
  /** Of the same name; these create it. */
  readonly creators: readonly PermitExpirableSemaphore[];
  readonly waiters: Waiter<Permit[] | null>[];
  readonly handles: Map<string, Permit>;
}

const setOf = (name: string) => `{${name}}:timeout`;
const ours = (real: Real, who: number) => real.semaphores[who] as PermitExpirableSemaphore;

async function publish({ raw, name }: Real, message: unknown): Promise<void> {
  await raw.command('PUBLISH', `redisson_sc:{${name}}`, String(message));
}

/** Moves who was served into the model, and compares it with what is stored. */
async function check(model: Model, real: Real): Promise<void> {
  const { raw, name } = real;
  await eventually(async () => {
    const value = await raw.command('GET', name);
    const free = value === null ? null : Number(value);
    expect(await raw.command('ZCARD', setOf(name))).toBe(model.taken.size + takenBy(real.waiters));
    for (const { got, count } of serve(model, real.waiters, free)) {
      expect(got).toHaveLength(count);
      for (const permit of got ?? []) hold(model, real, permit, 'timed');
    }
  });
  for (const [id, lease] of model.taken) {
    const score = Number(await raw.command('ZSCORE', setOf(name), Buffer.from(id, 'hex')));
    if (lease === 'permanent') expect(score).toBe(PERMANENT);
    else expect(score).toBeLessThan(PERMANENT);
    real.handles.get(id)?.assertHeld();
  }
}

function hold(model: Model, real: Real, permit: Permit, lease: 'timed' | 'permanent'): void {
  model.taken.set(permit.id, lease);
  real.handles.set(permit.id, permit);
}

function release(model: Model, real: Real, ids: readonly string[]): void {
  if (model.free !== null) model.free += ids.length;
  for (const id of ids) {
    model.taken.delete(id);
    real.handles.delete(id);
  }
}

const step = stepsWith(check);
const hasTaken = (model: Model) => model.taken.size > 0;
const pick = (model: Model, index: number) => [...model.taken.keys()][index % model.taken.size] as string;

const few = fc.integer({ min: 1, max: 3 });
const some = fc.nat({ max: 9 });
const lease = fc.constantFrom(undefined, LONG_MS, Number.POSITIVE_INFINITY);

const STEPS = [
  fc.tuple(who, fc.integer({ min: 0, max: 5 })).map(([by, count]) =>
    step(`${by} sets ${count} if there are none`, async (model, real) => {
      const isNew = model.free === null;
      if (isNew) model.free = count;
      expect(await ours(real, by).trySetPermits(count)).toBe(isNew);
    }),
  ),
  fc.tuple(who, fc.integer({ min: 0, max: 5 })).map(([by, count]) =>
    step(`${by} sets ${count}`, async (model, real) => {
      model.free = model.free === null ? count : count - model.taken.size;
      await ours(real, by).setPermits(count);
    }),
  ),
  fc.tuple(who, fc.integer({ min: -2, max: 3 })).map(([by, count]) =>
    step(`${by} adds ${count}`, async (model, real) => {
      model.free = (model.free ?? 0) + count;
      await ours(real, by).addPermits(count);
    }),
  ),
  fc.tuple(who, few, lease).map(([by, count, leaseMs]) =>
    step(`${by} tries to take ${count} for ${leaseMs}`, async (model, real) => {
      const permits = await ours(real, by).tryAcquireMany(count, { leaseMs });
      expect(permits?.length ?? 0).toBe((model.free ?? 0) >= count ? count : 0);
      if (permits === null || model.free === null) return;
      model.free -= count;
      const kind = leaseMs === Number.POSITIVE_INFINITY ? 'permanent' : 'timed';
      for (const permit of permits) hold(model, real, permit, kind);
    }),
  ),
  fc.tuple(who, few).map(([by, count]) =>
    step(
      `${by} creates it and tries to take ${count}`,
      async (model, real) => {
        model.free ??= CREATED;
        const creator = real.creators[by] as PermitExpirableSemaphore;
        const permits = await creator.tryAcquireMany(count, { leaseMs: LONG_MS });
        expect(permits?.length ?? 0).toBe(model.free >= count ? count : 0);
        for (const permit of permits ?? []) {
          model.free -= 1;
          hold(model, real, permit, 'timed');
        }
      },
      // Waiters may be quicker than the caller that creates it for itself.
      (model) => model.free !== null || model.waiters === 0,
    ),
  ),
  fc.tuple(some, fc.boolean()).map(([index]) =>
    step(
      `the holder of permit ${index} releases it`,
      async (model, real) => {
        const id = pick(model, index);
        const permit = real.handles.get(id);
        if (permit === undefined) return;
        release(model, real, [id]);
        expect(await permit.release()).toBe(true);
      },
      hasTaken,
    ),
  ),
  fc.tuple(who, some).map(([by, index]) =>
    step(
      `${by} gives back permit ${index} by its id, twice`,
      async (model, real) => {
        const id = pick(model, index);
        release(model, real, [id]);
        const answers = await Promise.all([ours(real, by).tryRelease(id), ours(real, by).tryRelease(id)]);
        expect(answers).toEqual([true, false]);
        expect(await rejection(ours(real, by).release(id))).toBeInstanceOf(NotHeldError);
      },
      hasTaken,
    ),
  ),
  fc.tuple(who, some, fc.boolean()).map(([by, count, isWrong]) =>
    step(
      `${by} gives back a list${isWrong ? ' with one that is not there' : ''}`,
      async (model, real) => {
        const ids = [...model.taken.keys()].slice(0, 1 + (count % model.taken.size));
        if (!isWrong) release(model, real, ids);
        const list = isWrong ? [...ids, randomBytes(16).toString('hex')] : ids;
        expect(await ours(real, by).tryRelease(list)).toBe(isWrong ? 0 : ids.length);
      },
      hasTaken,
    ),
  ),
  fc.tuple(who, some, fc.constantFrom(LONG_MS, Number.POSITIVE_INFINITY)).map(([by, index, leaseMs]) =>
    step(
      `${by} gives permit ${index} a lease of ${leaseMs}`,
      async (model, real) => {
        const id = pick(model, index);
        model.taken.set(id, leaseMs === LONG_MS ? 'timed' : 'permanent');
        expect(await ours(real, by).updateLease(id, leaseMs)).toBe(true);
        expect((await ours(real, by).getLeaseMs(id)) === -1).toBe(leaseMs !== LONG_MS);
      },
      hasTaken,
    ),
  ),
  fc.tuple(who, some).map(([by, index]) =>
    step(
      `${by} lets the lease of permit ${index} end`,
      async (model, real) => {
        const id = pick(model, index);
        const permit = real.handles.get(id);
        release(model, real, [id]);
        expect(await ours(real, by).updateLease(id, 1)).toBe(true);
        await eventually(
          async () => (await rejection(ours(real, by).getLeaseMs(id))) instanceof NotHeldError,
        );
        // A client learns what another did to its permit at the next renewal; it is sure to be told false.
        if (permit !== undefined) expect(await permit.release()).toBe(false);
      },
      hasTaken,
    ),
  ),
  who.map((by) =>
    step(`${by} counts`, async (model, real) => {
      const semaphore = ours(real, by);
      const total = model.free === null ? 0 : model.free + model.taken.size;
      expect(await semaphore.availablePermits()).toBe(model.free ?? 0);
      expect(await semaphore.acquiredPermits()).toBe(model.taken.size);
      expect(await semaphore.getPermits()).toBe(total);
    }),
  ),
  fc.boolean().map((ends) =>
    step(
      `Java takes one that ${ends ? 'ends' : 'is permanent'}`,
      async (model, { raw, name }) => {
        const id = randomBytes(16);
        model.free = (model.free ?? 0) - 1;
        model.taken.set(id.toString('hex'), ends ? 'timed' : 'permanent');
        await raw.command('DECRBY', name, 1);
        await raw.command('ZADD', setOf(name), ends ? Date.now() + LONG_MS : PERMANENT, id);
      },
      (model) => (model.free ?? 0) > 0,
    ),
  ),
  some.map((index) =>
    step(
      `Java gives back permit ${index}`,
      async (model, real) => {
        const id = pick(model, index);
        const permit = real.handles.get(id);
        release(model, real, [id]);
        await real.raw.command('ZREM', setOf(real.name), Buffer.from(id, 'hex'));
        await publish(real, await real.raw.command('INCRBY', real.name, 1));
        if (permit !== undefined) expect(await permit.release()).toBe(false);
      },
      (model) => hasTaken(model) && model.free !== null,
    ),
  ),
  fc.constant(
    step('another client deletes the semaphore', async (model, { raw, name, handles }) => {
      model.free = null;
      model.taken.clear();
      await raw.command('DEL', name, setOf(name));
      for (const permit of handles.values()) expect(await permit.release()).toBe(false);
      handles.clear();
    }),
  ),
  ...waitingSteps<Permit[] | null, Model, Real>(step, few, (real, by, count, { waitMs, signal }) =>
    waitMs === undefined
      ? ours(real, by).acquireMany(count, { signal })
      : ours(real, by).tryAcquireMany(count, { waitMs, signal }),
  ),
];

describe('the permit-expirable semaphore and its model', () => {
  it('agree', () =>
    agree<Model, Real>({
      steps: STEPS,
      maxCommands: 30,
      many: 60,
      begin: ({ raw, name, clients }) => {
        const semaphores = clients.map((each) => each.getPermitExpirableSemaphore(name));
        const creators = clients.map((each) => each.getPermitExpirableSemaphore(name, { permits: CREATED }));
        return {
          model: { free: null, taken: new Map(), waiters: 0 },
          real: { raw, name, semaphores, creators, waiters: [], handles: new Map() },
        };
      },
      end: async ({ raw, name, waiters, handles }) => {
        sendAway(waiters);
        await Promise.all([...handles.values()].map((permit) => permit.release()));
        await raw.command('DEL', name, setOf(name));
      },
    }));
});
