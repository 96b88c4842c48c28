/** Visits to what is counted rather than held alone: permits, latches, rates. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DriverError, type Permit, type Semaphore } from '../../../src/index.ts';
import type { Holdable } from '../../../src/testing/history/recorder.ts';
import { holdMs, leaseOf, nameOf, pause, type Visit, waitOf } from './visit.ts';

export const PERMITS = 5;
export const RATE = { mode: 'overall', rate: 40, intervalMs: 400 } as const;
const COUNT = 3;
const REPEAT_MS = 50;

/** What a plain semaphore and a rate limiter give has no handle, cannot be lost and does not end. */
const WITHOUT_END: Holdable = {};

/** Permits without a lease: a process that dies keeps what it had. */
export const semaphore: Visit = async (context) => {
  const { client, recorder, random, worker } = context;
  const key = nameOf(context, 'semaphore', 2);
  const permits = random.integer(1, 2);
  const shared = client.getSemaphore(key);
  const waitMs = waitOf(context);
  const recorded = await recorder.acquire({ worker, key, kind: 'semaphore', permits, waitMs }, async () =>
    (await shared.tryAcquire(permits, { waitMs })) ? WITHOUT_END : null,
  );
  if (recorded === null) return;
  await pause(holdMs(context, 50));
  await recorded.release(() => giveBack(shared, permits));
};

/** A release that certainly did not run is the caller's to repeat; one of unknown outcome goes on by itself. */
async function giveBack(semaphore: Semaphore, permits: number): Promise<boolean> {
  for (;;) {
    try {
      await semaphore.release(permits);
      return true;
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      await pause(REPEAT_MS);
    }
  }
}

/** Permits with a lease, each known by its id. */
export const permit: Visit = async (context) => {
  const { client, recorder, worker } = context;
  const key = nameOf(context, 'permit', 2);
  const shared = client.getPermitExpirableSemaphore(key);
  const leaseMs = leaseOf(context);
  const lease = leaseMs === undefined ? {} : { leaseMs };
  const waitMs = waitOf(context);
  const request = { worker, key, kind: 'permit', ...lease, waitMs } as const;
  const recorded = await recorder.acquire<Permit>(request, () => shared.tryAcquire({ ...lease, waitMs }));
  if (recorded === null) return;
  await pause(holdMs(context, recorded.hold.remainingMs));
  await recorded.release(() => recorded.hold.release());
};

/** A rate is used up as fast as it comes; a call that waits gets its turn in the next interval. */
export const rate: Visit = async (context) => {
  const { client, recorder, random, worker } = context;
  const key = nameOf(context, 'rate', 2);
  const permits = random.integer(1, 3);
  const limiter = client.getRateLimiter(key);
  const waitMs = random.chance(0.5) ? 0 : Math.round(random.between(0, RATE.intervalMs));
  await recorder.acquire({ worker, key, kind: 'rate', permits }, async () =>
    (await limiter.tryAcquire(permits, { waitMs })) ? WITHOUT_END : null,
  );
};

/** A latch for each visit: some count down, others wait for it, all at once. */
export const latch: Visit = async (context) => {
  const { client, recorder, random, worker, prefix, watchdogMs } = context;
  const key = `${prefix}:latch:${recorder.proc}:${worker}:${random.integer(0, 2 ** 31)}`;
  const gate = client.getCountDownLatch(key);
  if (!(await gate.trySetCount(COUNT))) return;
  recorder.record({ worker, key, kind: 'latch', op: 'set', type: 'info', count: COUNT });
  const countDown = async (index: number) => {
    await sleep(random.between(0, 5));
    const request = { worker: `${worker}c${index}`, key, kind: 'latch' } as const;
    await recorder.call('countDown', request, () => gate.countDown());
  };
  const wait = (index: number) => {
    const request = { worker: `${worker}a${index}`, key, kind: 'latch' } as const;
    return recorder.call('await', request, () => gate.await({ waitMs: watchdogMs }), Boolean);
  };
  const calls = [wait(0), wait(1), ...Array.from({ length: COUNT }, (_, index) => countDown(index))];
  for (const call of await Promise.allSettled(calls)) if (call.status === 'rejected') throw call.reason;
};
