/**
 * The rate limiter against a plain model of it: a list of grants that grow old. Any sequence of taking, giving
 * back, setting rates, time passing and keys being lost, by two clients and by Redisson, leaves as many permits
 * as the list leaves of the rate.
 *
 * Time passes by making the entries older: the interval is so long that the time of the test does not count.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OptionError, type RateLimiter } from '../../src/index.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { rejection } from '../behaviour/support/moments.ts';
import { historyKey, JavaLimiter, leftKey } from '../behaviour/support/rate-limiter-by-hand.ts';
import { agree, stepsWith, who } from './support/steps.ts';

/** A grant counts for four quarters. */
const QUARTER_MS = 250_000;
const INTERVAL_MS = 4 * QUARTER_MS;

interface Grant {
  /** What the history has of it. */
  permits: number;
  /** What of it was not given back. */
  live: number;
  quarters: number;
}

/** What is counted together: everybody's grants, or those of one client. */
interface Count {
  grants: Grant[];
  /** Something grew too old since a script of ours last changed anything. */
  isUntidy: boolean;
  /** Something was lost since a script of ours last added everything up. */
  isDamaged: boolean;
}

interface Model {
  rate: number;
  mode: 'overall' | 'perClient';
  counts: [Count, Count];
}

interface Real {
  readonly raw: RawConnection;
  readonly name: string;
  readonly ids: readonly string[];
  readonly limiters: readonly RateLimiter[];
}

const empty = (): Count => ({ grants: [], isUntidy: false, isDamaged: false });

function countOf({ mode, counts }: Model, who: number): Count {
  return counts[mode === 'overall' ? 0 : who] as Count;
}

function leftOf(model: Model, who: number): number {
  return model.rate - countOf(model, who).grants.reduce((sum, { live }) => sum + live, 0);
}

function take(model: Model, who: number, permits: number): boolean {
  const count = countOf(model, who);
  count.isUntidy = false;
  if (leftOf(model, who) < permits) return false;
  count.grants.push({ permits, live: permits, quarters: 0 });
  return true;
}

/** Takes that many from the oldest grants; answers how many there were. */
function takeOut(grants: readonly Grant[], of: 'live' | 'permits', most: number): number {
  let more = most;
  for (const grant of grants) {
    const taken = Math.min(more, grant[of]);
    grant[of] -= taken;
    more -= taken;
  }
  return most - more;
}

/** Those that are given back are the oldest. */
function javaGivesBack(model: Model, who: number, permits: number): number {
  return takeOut(countOf(model, who).grants, 'live', permits);
}

/** The same, and they are in the history no more. */
function giveBack(model: Model, who: number, permits: number): void {
  takeOut(countOf(model, who).grants, 'permits', javaGivesBack(model, who, permits));
}

/** Redisson adds to what is left without a look at the history, and does not mend it. */
const suitsJava = ({ counts }: Model) => counts.every(({ isUntidy, isDamaged }) => !isUntidy && !isDamaged);

const isGivenBack = ({ permits, live }: Grant) => live < permits;

function keysOf(model: Model, real: Real, who: number): { left: string; history: string } {
  const id = model.mode === 'overall' ? undefined : real.ids[who];
  return { left: leftKey(real.name, id), history: historyKey(real.name, id) };
}

async function check(model: Model, { limiters }: Real): Promise<void> {
  for (const [who, limiter] of limiters.entries()) {
    expect(await limiter.availablePermits()).toBe(Math.max(0, leftOf(model, who)));
  }
}

const step = stepsWith(check);
const ours = (real: Real, who: number) => real.limiters[who] as RateLimiter;

const few = fc.integer({ min: 1, max: 4 });

const STEPS = [
  fc.tuple(who, fc.integer({ min: 1, max: 9 }), fc.boolean()).map(([by, permits, waits]) =>
    step(`${by} tries to take ${permits}`, async (model, real) => {
      const taking = () => ours(real, by).tryAcquire(permits, waits ? { waitMs: 1 } : {});
      if (permits > model.rate) expect(await rejection(taking())).toBeInstanceOf(OptionError);
      else expect(await taking()).toBe(take(model, by, permits));
    }),
  ),
  fc.tuple(who, fc.integer({ min: 1, max: 9 })).map(([by, permits]) =>
    step(`${by} asks for ${permits} and for what is left`, async (model, real) => {
      const { isDamaged } = countOf(model, by);
      const asking = ours(real, by).take(permits);
      if (permits > model.rate) {
        expect(await rejection(asking)).toBeInstanceOf(OptionError);
        return;
      }
      const granted = take(model, by, permits);
      const { remaining, retryAfterMs, ...answer } = await asking;
      expect(answer).toEqual({ granted });
      expect(retryAfterMs > 0).toBe(!granted);
      // Nobody adds a damaged history up while there is enough.
      if (!isDamaged) expect(remaining).toBe(Math.max(0, leftOf(model, by)));
    }),
  ),
  fc.tuple(who, few).map(([by, permits]) =>
    step(`${by} gives back ${permits}`, async (model, real) => {
      await ours(real, by).release(permits);
      giveBack(model, by, permits);
      Object.assign(countOf(model, by), { isUntidy: false, isDamaged: false });
    }),
  ),
  fc.tuple(who, few, few, fc.boolean()).map(([by, wanted, returned, givesUp]) =>
    step(
      `${by} waits for ${wanted}, ${returned} are given back, ${givesUp ? 'it gives up' : 'it gets them'}`,
      async (model, real) => {
        const giveUp = new AbortController();
        const waiting = ours(real, by).acquire(wanted, { signal: giveUp.signal });
        void waiting.catch(() => {});
        const isServed = take(model, by, wanted);
        if (isServed) return waiting;
        await ours(real, by).release(returned);
        giveBack(model, by, returned);
        if (take(model, by, wanted)) return waiting;
        giveUp.abort(new Error('enough'));
        expect(await rejection(waiting)).toBe(giveUp.signal.reason);
      },
      (model) => wanted <= model.rate,
    ),
  ),
  fc.integer({ min: 1, max: 3 }).map((quarters) =>
    step(`${quarters} quarters pass`, async (model, { raw, name, ids }) => {
      const source =
        "for _, k in ipairs(KEYS) do for _, m in ipairs(redis.call('ZRANGE', k, 0, -1)) do redis.call('ZINCRBY', k, -ARGV[1], m) end end";
      const keys = [historyKey(name), ...ids.map((id) => historyKey(name, id))];
      await raw.command('EVAL', source, keys.length, ...keys, quarters * QUARTER_MS);
      for (const count of model.counts) {
        for (const grant of count.grants) grant.quarters += quarters;
        const young = count.grants.filter((grant) => grant.quarters < 4);
        count.isUntidy ||= young.length < count.grants.length;
        count.grants = young;
      }
    }),
  ),
  fc
    .tuple(who, fc.integer({ min: 1, max: 8 }), fc.constantFrom('overall', 'perClient'))
    .map(([by, rate, mode]) =>
      step(`${by} sets ${rate} ${mode}`, async (model, real) => {
        // A limit of its own is the other client's, and outlives the rate.
        await real.raw.command(
          'DEL',
          ...real.ids.flatMap((id) => [leftKey(real.name, id), historyKey(real.name, id)]),
        );
        await ours(real, by).setRate({ mode, rate, intervalMs: INTERVAL_MS });
        Object.assign(model, { rate, mode, counts: [empty(), empty()] });
      }),
    ),
  who.map((by) =>
    step(`${by} finds that there is a rate`, async (model, real) => {
      expect(await ours(real, by).trySetRate({ mode: 'overall', rate: 99, intervalMs: 1 })).toBe(false);
      const config = { mode: model.mode, rate: model.rate, intervalMs: INTERVAL_MS, keepAliveMs: 0 };
      expect(await ours(real, by).getConfig()).toEqual(config);
    }),
  ),
  fc.tuple(who, few).map(([by, permits]) =>
    step(
      `Java tries to take ${permits} beside ${by}`,
      async (model, { raw, name, ids }) => {
        const java = new JavaLimiter(raw, name, { clientId: ids[by] as string });
        const granted = (await java.tryAcquire(permits)) === null;
        expect(granted).toBe(take(model, by, permits));
      },
      // By Redisson's rules, what was given back comes back once more with its time.
      (model) =>
        permits <= model.rate &&
        suitsJava(model) &&
        !model.counts.some(({ grants }) => grants.some(isGivenBack)),
    ),
  ),
  fc.tuple(who, few).map(([by, permits]) =>
    step(
      `Java gives back ${permits} beside ${by}`,
      async (model, { raw, name, ids }) => {
        await new JavaLimiter(raw, name, { clientId: ids[by] as string }).release(permits);
        javaGivesBack(model, by, permits);
      },
      suitsJava,
    ),
  ),
  who.map((by) =>
    step(`the history beside ${by} is lost`, async (model, real) => {
      await real.raw.command('DEL', keysOf(model, real, by).history);
      Object.assign(countOf(model, by), { grants: [], isDamaged: true });
    }),
  ),
  who.map((by) =>
    step(`what is left beside ${by} is lost`, async (model, real) => {
      await real.raw.command('DEL', keysOf(model, real, by).left);
      // What Redisson gave back stood nowhere else.
      for (const grant of countOf(model, by).grants) grant.live = grant.permits;
      countOf(model, by).isDamaged = true;
    }),
  ),
];

describe('the rate limiter and its model', () => {
  it('agree', () =>
    agree<Model, Real>({
      steps: STEPS,
      maxCommands: 40,
      size: 'max',
      many: 100,
      begin: async ({ raw, name, clients }) => {
        const limiters = clients.map((each) => each.getRateLimiter(name));
        await limiters[0]?.trySetRate({ mode: 'overall', rate: 5, intervalMs: INTERVAL_MS });
        return {
          model: { rate: 5, mode: 'overall', counts: [empty(), empty()] },
          real: { raw, name, ids: clients.map(({ id }) => id), limiters },
        };
      },
      end: async ({ raw, name }) => {
        const keys = (await raw.command('KEYS', `*${name}*`)) as string[];
        if (keys.length > 0) await raw.command('DEL', ...keys);
      },
    }));
});
