/**
 * The promise of the rate limiter, with more grants in the window than its scripts add up one by one: whichever
 * permits are given back or undone, those that are not never exceed the rate within an interval.
 *
 * Time passes by making the entries older: the interval is so long that the time of the test does not count.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rateKeys } from '../../src/counters/rate-acquisition.ts';
import { Holdfast, type RateLimiter } from '../../src/index.ts';
import { rateLimiterAcquire, rateLimiterUndo } from '../../src/scripts/generated.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { closedAtEnd } from '../behaviour/support/context.ts';
import { historyKey } from '../behaviour/support/rate-limiter-by-hand.ts';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { rawDriver } from '../lua/support/script-bench.ts';
import { runs } from './support/runs.ts';
import { stepsWith } from './support/steps.ts';

/** A grant counts for four quarters. */
const QUARTER_MS = 250_000;
const INTERVAL_MS = 4 * QUARTER_MS;
const RATE = 160;
const AGE =
  "for _, m in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZINCRBY', KEYS[1], -ARGV[1], m) end";

interface Grant {
  /** What of it was not given back. */
  permits: number;
  quarters: number;
}

/** The grants that count, the oldest first. */
type Model = { grants: Grant[] };

interface Real {
  readonly raw: RawConnection;
  readonly limiter: RateLimiter;
}

type Step = fc.AsyncCommand<Model, Real>;

const usedOf = ({ grants }: Model) => grants.reduce((sum, { permits }) => sum + permits, 0);

const step = stepsWith<Model, Real>(async (model, { limiter }) => {
  expect(usedOf(model)).toBeLessThanOrEqual(RATE);
  expect(await limiter.availablePermits()).toBeLessThanOrEqual(RATE - usedOf(model));
});

/** Many take so many each, as long as there are some. */
function taking(times: number, permits: number): Step {
  return step(`${times} take ${permits}`, async (model, { limiter }) => {
    const isTaken = await Promise.all(Array.from({ length: times }, () => limiter.tryAcquire(permits)));
    for (const one of isTaken) if (one) model.grants.push({ permits, quarters: 0 });
  });
}

/** Gives back permits that somebody has: as many free up at once, wherever they were granted. */
function givingBack(most: number, whose: 'oldest' | 'newest'): Step {
  return step(`${most} of the ${whose} are given back`, async (model, { limiter }) => {
    const permits = Math.min(most, usedOf(model));
    const before = await limiter.availablePermits();
    await limiter.release(permits);
    expect(await limiter.availablePermits()).toBe(before + permits);
    let more = permits;
    for (const grant of whose === 'oldest' ? model.grants : model.grants.toReversed()) {
      const returned = Math.min(more, grant.permits);
      grant.permits -= returned;
      more -= returned;
    }
  });
}

/** A request runs, and is undone because its caller gave up; meanwhile others may give back. */
function undoing(permits: number, givenBack: number): Step {
  return step(`${permits} are taken and undone, ${givenBack} given back before`, async (model, real) => {
    const { raw, limiter } = real;
    const id = Buffer.from(randomName('request-of-16').padEnd(16).slice(-16));
    const keys = {
      ...rateKeys(limiter.name, 'client'),
      answer: `redisson_unlock_latch:{${limiter.name}}:${id}`,
    };
    await rateLimiterAcquire.run(rawDriver(raw), keys, { count: permits, id, rememberMs: 0 });
    await givingBack(givenBack, 'newest').run(model, real);
    await rateLimiterUndo.run(rawDriver(raw), keys, { count: permits, id, rememberMs: 60_000 });
  });
}

function passing(quarters: number): Step {
  return step(`${quarters} quarters pass`, async (model, { raw, limiter }) => {
    await raw.command('EVAL', AGE, 1, historyKey(limiter.name), quarters * QUARTER_MS);
    for (const grant of model.grants) grant.quarters += quarters;
    model.grants = model.grants.filter((grant) => grant.quarters < 4);
    // After a whole interval nothing of what was granted before it counts.
    if (quarters === 4) expect(await limiter.availablePermits()).toBe(RATE);
  });
}

const STEPS = [
  fc.integer({ min: 20, max: RATE }).map((times) => taking(times, 1)),
  fc.integer({ min: 20, max: 90 }).map((permits) => taking(1, permits)),
  fc
    .tuple(fc.integer({ min: 1, max: RATE }), fc.constantFrom('oldest', 'newest'))
    .map((given) => givingBack(...given)),
  fc
    .tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 60 }))
    .map((given) => undoing(...given)),
  fc.integer({ min: 1, max: 4 }).map(passing),
];

describe('the rate limiter', () => {
  it('keeps its rate in every window of many grants, with releases and undone attempts', async () => {
    const raw = await openShared();
    const client = closedAtEnd(await Holdfast.connect(sharedServer().url));
    const run = async (steps: Iterable<Step>) => {
      const limiter = client.getRateLimiter(randomName('window'));
      await limiter.setRate({
        mode: 'overall',
        rate: RATE,
        intervalMs: INTERVAL_MS,
        keepAliveMs: INTERVAL_MS,
      });
      await fc.asyncModelRun(() => ({ model: { grants: [] }, real: { raw, limiter } }), steps);
    };
    await fc.assert(fc.asyncProperty(fc.commands(STEPS, { maxCommands: 15, size: 'max' }), run), {
      numRuns: runs(150),
      interruptAfterTimeLimit: 8_000,
      endOnFailure: true,
    });
  });
});
