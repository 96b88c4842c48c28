/**
 * Refusals on a server without memory to spare. They are final as on any other: a copy of the request that arrives
 * when there is memory again gets the same answer, and changes nothing.
 */
import { expect, it } from 'vitest';
import {
  countDownLatchDelete,
  countDownLatchTrySetCount,
  lockAcquire,
  lockEnd,
  permitSemaphoreReleaseAll,
  permitSemaphoreSetPermits,
  permitSemaphoreUpdateLease,
  rateLimiterAcquire,
  rateLimiterRelease,
  rateLimiterTrySetRate,
  semaphoreAcquire,
  semaphoreDrainPermits,
  semaphoreTrySetPermits,
  simpleLockAcquire,
  simpleLockEnd,
} from '../../src/scripts/generated.ts';
import type { RawArgument, RawConnection } from '../../src/testing/index.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { rawDriver } from './support/script-bench.ts';

type Driver = ReturnType<typeof rawDriver>;

const wake = { publish: 'PUBLISH', channel: 'channel' };
const loud = { ...wake, rememberMs: 40_000 };
const rate = { mode: '0', rate: 5, intervalMs: 60_000, keepAliveMs: 0, rememberMs: 40_000 };
const rateKeys = {
  config: 'key',
  overallValue: 'value',
  overallHistory: 'history',
  clientValue: 'client value',
  clientHistory: 'client history',
  answer: 'answer',
};
const permit = Buffer.alloc(16, 'p');
const permits = { permits: 'key', timeouts: 'timeouts', answer: 'answer' };

interface Case {
  readonly title: string;
  /** What makes the server refuse. */
  readonly before?: RawArgument[];
  /** What would have the request succeed. */
  readonly after: [RawArgument, ...RawArgument[]];
  readonly refusal: object;
  run(driver: Driver): Promise<object>;
}

const CASES: Case[] = [
  {
    title: 'semaphore/acquire finds no semaphore',
    after: ['SET', 'key', 5],
    refusal: { status: 'missing' },
    run: (driver) =>
      semaphoreAcquire.run(
        driver,
        { permits: 'key', answer: 'answer' },
        { count: 1, takenMs: 40_000, shortMs: 40_000 },
      ),
  },
  {
    title: 'semaphore/drain-permits finds none',
    after: ['SET', 'key', 5],
    refusal: { status: 'drained', count: 0 },
    run: (driver) =>
      semaphoreDrainPermits.run(driver, { permits: 'key', answer: 'answer' }, { rememberMs: 40_000 }),
  },
  {
    title: 'semaphore/try-set-permits finds a semaphore',
    before: ['SET', 'key', 5],
    after: ['DEL', 'key'],
    refusal: { status: 'kept' },
    run: (driver) =>
      semaphoreTrySetPermits.run(
        driver,
        { permits: 'key', answer: 'answer' },
        { count: 3, ttlMs: 0, ...loud },
      ),
  },
  {
    title: 'count-down-latch/try-set-count finds a latch',
    before: ['SET', 'key', 5],
    after: ['DEL', 'key'],
    refusal: { status: 'kept' },
    run: (driver) =>
      countDownLatchTrySetCount.run(driver, { latch: 'key', answer: 'answer' }, { count: 3, ...loud }),
  },
  {
    title: 'count-down-latch/delete finds no latch',
    after: ['SET', 'key', 5],
    refusal: { status: 'missing' },
    run: (driver) => countDownLatchDelete.run(driver, { latch: 'key', answer: 'answer' }, loud),
  },
  {
    title: 'rate-limiter/try-set-rate finds a rate',
    before: ['HSET', 'key', 'rate', 1, 'interval', 1_000, 'type', '0'],
    after: ['DEL', 'key'],
    refusal: { status: 'kept' },
    run: (driver) => rateLimiterTrySetRate.run(driver, rateKeys, rate),
  },
  {
    title: 'rate-limiter/release finds no limiter',
    after: ['HSET', 'key', 'rate', 1, 'interval', 1_000, 'type', '0'],
    refusal: { status: 'unset' },
    run: (driver) => rateLimiterRelease.run(driver, rateKeys, { count: 1, rememberMs: 40_000 }),
  },
  {
    title: 'permit-semaphore/set-permits finds that many',
    before: ['SET', 'key', 5],
    after: ['SET', 'key', 9],
    refusal: { status: 'kept' },
    run: (driver) => permitSemaphoreSetPermits.run(driver, permits, { count: 5, ...loud }),
  },
  {
    title: 'permit-semaphore/update-lease finds no permit',
    after: ['ZADD', 'timeouts', 922337203685477, permit],
    refusal: { status: 'missing' },
    run: (driver) =>
      permitSemaphoreUpdateLease.run(driver, permits, { leaseMs: 60_000, id: permit, ...loud }),
  },
  {
    title: 'permit-semaphore/release-all misses a permit',
    after: ['ZADD', 'timeouts', 922337203685477, permit],
    refusal: { status: 'refused' },
    run: (driver) =>
      permitSemaphoreReleaseAll.run(
        driver,
        { ...permits, ended: ['ended'] },
        { tombstoneMs: 40_000, ids: [permit], ...loud },
      ),
  },
];

async function fullServer(...before: RawArgument[]): Promise<{ raw: RawConnection; driver: Driver }> {
  const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] });
  const raw = await openRaw(server.host, server.port);
  const [name, ...args] = before;
  if (name !== undefined) await raw.command(name, ...args);
  await raw.command('CONFIG', 'SET', 'maxmemory', '1');
  return { raw, driver: rawDriver(raw) };
}

describeWithProcess('a refusal on a server without memory to spare', () => {
  it.each(CASES)('is final: $title', async ({ before = [], after, refusal, run }) => {
    const { raw, driver } = await fullServer(...before);
    expect(await run(driver)).toEqual(refusal);
    await raw.command('CONFIG', 'SET', 'maxmemory', '0');
    await raw.command(...after);
    expect(await run(driver)).toEqual(refusal);
    expect(await raw.command('PTTL', 'answer')).toBeGreaterThan(30_000);
  });

  it.each([
    ['lock', lockAcquire, lockEnd],
    ['simple-lock', simpleLockAcquire, simpleLockEnd],
  ] as const)('%s/release bars an owner that holds nothing', async (_, acquire, release) => {
    const { raw, driver } = await fullServer();
    const keys = { lock: 'key', ended: 'ended' };
    expect(await release.run(driver, keys, { owner: 'c:1', ...loud })).toEqual({ status: 'lost' });
    await raw.command('CONFIG', 'SET', 'maxmemory', '0');
    expect(await acquire.run(driver, keys, { owner: 'c:1', leaseMs: 60_000 })).toEqual({ status: 'ended' });
    expect(await raw.command('EXISTS', 'key')).toBe(0);
  });

  it('does not stop rate-limiter/acquire from repeating its grant', async () => {
    const { raw, driver } = await fullServer('HSET', 'key', 'rate', 5, 'interval', 60_000, 'type', '0');
    await raw.command('CONFIG', 'SET', 'maxmemory', '0');
    const acquire = (rememberMs: number) =>
      rateLimiterAcquire.run(driver, rateKeys, { count: 1, id: permit, rememberMs });
    expect(await acquire(0)).toEqual({ status: 'granted', left: 4 });
    await raw.command('CONFIG', 'SET', 'maxmemory', '1');
    expect(await acquire(40_000)).toEqual({ status: 'granted', left: 4 });
  });
});
