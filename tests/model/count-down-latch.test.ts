/**
 * The count-down latch against a plain model of it: any sequence of closing, counting and deleting, by two
 * clients and by Redisson, leaves the count that the model has, and everybody waits exactly while it is above 0.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CountDownLatch } from '../../src/index.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { eventually } from '../harness/wait.ts';
import { agree, stepsWith, who } from './support/steps.ts';
import { sendAway } from './support/waiters.ts';

interface Model {
  count: number;
  waiters: number;
}

interface Waiter {
  readonly giveUp: AbortController;
  outcome: unknown;
}

interface Real {
  readonly raw: RawConnection;
  readonly name: string;
  readonly latches: readonly CountDownLatch[];
  readonly waiters: Waiter[];
}

const channelOf = (name: string) => `redisson_countdownlatch__channel__{${name}}`;

async function check(model: Model, real: Real): Promise<void> {
  const { raw, name, waiters } = real;
  expect(await raw.command('GET', name)).toBe(model.count === 0 ? null : String(model.count));
  if (model.count > 0) {
    expect(waiters.map(({ outcome }) => outcome)).toEqual(waiters.map(() => undefined));
  } else {
    await eventually(() => expect(waiters.map(({ outcome }) => outcome)).toEqual(waiters.map(() => true)));
    waiters.length = 0;
  }
  model.waiters = waiters.length;
}

const step = stepsWith(check);
const ours = (real: Real, who: number) => real.latches[who] as CountDownLatch;

const STEPS = [
  fc.tuple(who, fc.integer({ min: 1, max: 4 })).map(([by, count]) =>
    step(`${by} closes with ${count}`, async (model, real) => {
      const isOpen = model.count === 0;
      if (isOpen) model.count = count;
      expect(await ours(real, by).trySetCount(count)).toBe(isOpen);
    }),
  ),
  who.map((by) =>
    step(`${by} counts down`, async (model, real) => {
      model.count = Math.max(0, model.count - 1);
      await ours(real, by).countDown();
    }),
  ),
  fc.constant(
    step(
      'Java counts down',
      async (model, { raw, name }) => {
        model.count -= 1;
        if (Number(await raw.command('DECR', name)) > 0) return;
        await raw.command('DEL', name);
        await raw.command('PUBLISH', channelOf(name), '0');
      },
      (model) => model.count > 0,
    ),
  ),
  who.map((by) =>
    step(`${by} deletes`, async (model, real) => {
      const isClosed = model.count > 0;
      model.count = 0;
      expect(await ours(real, by).delete()).toBe(isClosed);
    }),
  ),
  who.map((by) =>
    step(`${by} looks`, async (model, real) => {
      expect(await ours(real, by).getCount()).toBe(model.count);
      expect(await ours(real, by).await({ waitMs: 0 })).toBe(model.count === 0);
    }),
  ),
  fc.tuple(who, fc.boolean(), fc.integer({ min: 1, max: 3 })).map(([by, limited, many]) =>
    step(`${many} of ${by} wait`, async (_model, real) => {
      for (let i = 0; i < many; i += 1) {
        const waiter: Waiter = { giveUp: new AbortController(), outcome: undefined };
        real.waiters.push(waiter);
        const { signal } = waiter.giveUp;
        const wait = ours(real, by).await(limited ? { waitMs: 60_000, signal } : { signal });
        void wait.then(
          (isOpen) => {
            waiter.outcome = isOpen;
          },
          (reason: unknown) => {
            waiter.outcome = reason;
          },
        );
      }
    }),
  ),
  fc.nat({ max: 9 }).map((index) =>
    step(
      `waiter ${index} gives up`,
      async (_model, real) => {
        const [waiter] = real.waiters.splice(index % real.waiters.length, 1) as [Waiter];
        const why = new Error('enough');
        waiter.giveUp.abort(why);
        await eventually(() => expect(waiter.outcome).toBe(why));
      },
      (model) => model.waiters > 0,
    ),
  ),
];

describe('the count-down latch and its model', () => {
  it('agree', () =>
    agree<Model, Real>({
      steps: STEPS,
      maxCommands: 30,
      many: 60,
      begin: ({ raw, name, clients }) => ({
        model: { count: 0, waiters: 0 },
        real: { raw, name, latches: clients.map((each) => each.getCountDownLatch(name)), waiters: [] },
      }),
      end: async ({ raw, name, waiters }) => {
        sendAway(waiters);
        await raw.command('DEL', name);
      },
    }));
});
