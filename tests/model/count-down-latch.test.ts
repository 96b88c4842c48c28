/**
 * The count-down latch against a plain model of it: any sequence of closing, counting and deleting, by two
 * clients and by Redisson, leaves the count that the model has, and everybody waits exactly while it is above 0.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CountDownLatch, Holdfast } from '../../src/index.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { closedAtEnd } from '../behaviour/support/context.ts';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { runs } from './support/runs.ts';

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

type Step = fc.AsyncCommand<Model, Real>;

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

const ours = (real: Real, who: number) => real.latches[who] as CountDownLatch;
const who = fc.integer({ min: 0, max: 1 });

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
  it('agree', async () => {
    const raw = await openShared();
    const { url } = sharedServer();
    const clients = [closedAtEnd(await Holdfast.connect(url)), closedAtEnd(await Holdfast.connect(url))];
    const run = async (steps: Iterable<Step>) => {
      const name = randomName('model');
      const latches = clients.map((each) => each.getCountDownLatch(name));
      const real: Real = { raw, name, latches, waiters: [] };
      try {
        await fc.asyncModelRun(() => ({ model: { count: 0, waiters: 0 }, real }), steps);
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
