/** Every call of every primitive while its client drains: acquisitions and waits are refused, all others work. */
import { describe, expect, it } from 'vitest';
import { ClosedError, type Holdfast } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { Context } from '../support/context.ts';
import { KINDS } from '../support/kinds.ts';
import { rejection, timed } from '../support/moments.ts';

const DRAIN_MS = 60_000;
const SOON_MS = 10_000;

const neverRuns = () => expect.unreachable('the work ran');

/** Every call that takes something or waits for something. */
function refusedCalls(client: Holdfast, name: string): [string, () => Promise<unknown>][] {
  const semaphore = client.getSemaphore(name);
  const permits = client.getPermitExpirableSemaphore(name);
  const latch = client.getCountDownLatch(name);
  const limiter = client.getRateLimiter(name);
  const both = client.getReadWriteLock(name);
  const locks = KINDS.flatMap((kind): [string, () => Promise<unknown>][] => {
    const lock = kind.of(client, name);
    return [
      [`${kind.title} lock`, () => lock.lock()],
      [`${kind.title} tryLock`, () => lock.tryLock()],
      [`${kind.title} tryLock for a while`, () => lock.tryLock({ waitMs: 1_000 })],
      [`${kind.title} tryLock of an owner`, () => lock.tryLock({ owner: client.owner() })],
      [`${kind.title} withLock`, () => lock.withLock(neverRuns)],
    ];
  });
  return [
    ...locks,
    ['fair', () => client.getFairLock(name).lock()],
    ['read', () => both.readLock().lock()],
    ['write', () => both.writeLock().lock()],
    ['multi', () => client.getMultiLock(client.getLock(name)).lock()],
    ['web lock', () => client.locks.request(name, neverRuns)],
    ['web lock, if available', () => client.locks.request(name, { ifAvailable: true }, neverRuns)],
    ['web lock, stolen', () => client.locks.request(name, { steal: true }, neverRuns)],
    ['semaphore acquire', () => semaphore.acquire()],
    ['semaphore acquire none', () => semaphore.acquire(0)],
    ['semaphore tryAcquire', () => semaphore.tryAcquire()],
    ['semaphore withPermit', () => semaphore.withPermit(neverRuns)],
    ['semaphore drainPermits', () => semaphore.drainPermits()],
    ['permit acquire', () => permits.acquire()],
    ['permit tryAcquire', () => permits.tryAcquire()],
    ['permit acquireMany', () => permits.acquireMany(2)],
    ['permit tryAcquireMany', () => permits.tryAcquireMany(2)],
    ['latch await', () => latch.await()],
    ['latch await once', () => latch.await({ waitMs: 0 })],
    ['rate acquire', () => limiter.acquire()],
    ['rate acquire none', () => limiter.acquire(0)],
    ['rate tryAcquire', () => limiter.tryAcquire()],
  ];
}

export function describeDrainCalls(context: Context): void {
  describe('while a client drains', () => {
    it('every acquisition and every wait is refused, and nothing is sent for it', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const hold = await client.getLock(randomName()).lock();
      const closing = client.close({ drainMs: DRAIN_MS });
      for (const [title, call] of refusedCalls(client, name)) {
        expect(await rejection(call()), title).toBeInstanceOf(ClosedError);
      }
      expect(await raw.command('EXISTS', name)).toBe(0);
      await hold.unlock();
      await closing;
    });

    it('waiters of every primitive are turned away at once', async () => {
      const [client, other] = [await context.client(), await context.client()];
      const names = { lock: randomName(), permits: randomName(), seats: randomName(), latch: randomName() };
      const rateName = randomName();
      await other.getReadWriteLock(names.lock).writeLock().lock();
      const fair = await other.getFairLock(`${names.lock}:fair`).lock();
      await other.getSemaphore(names.permits).trySetPermits(0);
      await other.getPermitExpirableSemaphore(names.seats).trySetPermits(0);
      await other.getCountDownLatch(names.latch).trySetCount(1);
      const limiter = client.getRateLimiter(rateName);
      await limiter.trySetRate({ mode: 'overall', rate: 1, intervalMs: 60_000 });
      await limiter.acquire();
      const hold = await client.getLock(randomName()).lock();
      const waiting = [
        client.getReadWriteLock(names.lock).readLock().lock(),
        client.getReadWriteLock(names.lock).writeLock().withLock(neverRuns),
        client.getFairLock(fair.name).lock(),
        client.getMultiLock(client.getLock(randomName()), client.getFairLock(fair.name)).lock(),
        client.getSemaphore(names.permits).acquire(),
        client.getSemaphore(names.permits).withPermit(neverRuns),
        client.getPermitExpirableSemaphore(names.seats).acquire(),
        client.getCountDownLatch(names.latch).await(),
        limiter.acquire(),
        client.locks.request(names.lock, neverRuns),
      ].map(rejection);
      await eventually(async () => (await client.locks.query()).pending.length === 1);
      const { result, tookMs } = await timed(() => {
        void client.close({ drainMs: DRAIN_MS });
        return Promise.all(waiting);
      });
      for (const error of result) expect(error).toBeInstanceOf(ClosedError);
      expect(tookMs).toBeLessThan(SOON_MS);
      hold.assertHeld();
      await hold.unlock();
      await client.close({ drainMs: DRAIN_MS });
    });

    it('what a section needs to finish works: releases, reads, changes, fenced writes', async () => {
      const [client, other] = [await context.client(), await context.client()];
      const name = randomName();
      const semaphore = client.getSemaphore(randomName());
      const permits = client.getPermitExpirableSemaphore(randomName());
      const latch = client.getCountDownLatch(randomName());
      const limiter = client.getRateLimiter(randomName());
      await semaphore.trySetPermits(2);
      await semaphore.acquire(2);
      await permits.trySetPermits(2);
      const [kept, given] = await permits.acquireMany(2);
      await latch.trySetCount(2);
      await limiter.trySetRate({ mode: 'overall', rate: 3, intervalMs: 60_000 });
      await limiter.acquire(2);
      const stuck = await other.getLock(randomName()).lock();
      let closing: Promise<void> | undefined;
      await client.getFencedLock(name).withLock(async (hold) => {
        closing = client.close({ drainMs: DRAIN_MS });
        await hold.extend(60_000);
        hold.assertHeld();
        const register = client.getFencedRegister(name);
        await register.write('written while draining', hold.token);
        expect((await register.read(hold.token))?.value).toBe('written while draining');
        const lock = client.getFencedLock(name);
        expect([await lock.isLocked(), await lock.isHeld(), await lock.getToken()]).toEqual([
          true,
          true,
          hold.token,
        ]);
        expect(await lock.getRemainingMs()).toBeGreaterThan(30_000);
        expect(await client.getLock(stuck.name).forceUnlock()).toBe(true);

        await semaphore.release();
        expect(await semaphore.releaseIfExists()).toBe(true);
        await semaphore.addPermits(1);
        expect(await semaphore.trySetPermits(9)).toBe(false);
        expect(await semaphore.availablePermits()).toBe(3);

        expect(await permits.updateLease(kept?.id ?? '', 50_000)).toBe(true);
        expect(await permits.getLeaseMs(kept?.id ?? '')).toBeGreaterThan(30_000);
        expect(await permits.tryRelease(given?.id ?? '')).toBe(true);
        expect(await kept?.release()).toBe(true);
        expect(await permits.acquiredPermits()).toBe(0);

        await latch.countDown();
        expect(await latch.getCount()).toBe(1);
        expect(await latch.delete()).toBe(true);

        await limiter.release();
        expect(await limiter.availablePermits()).toBe(2);
        expect(await limiter.getConfig()).toMatchObject({ rate: 3 });

        expect(await client.inspect(name)).toMatchObject({ kind: 'fenced', holders: [{ holdCount: 1 }] });
        expect((await client.locks.query()).held).toEqual([]);
        expect((await client.capabilities()).library).toBe(context.library);
      });
      await closing;
    });

    it('health() says so, for a readiness probe', async () => {
      const client = await context.client();
      const hold = await client.getLock(randomName()).lock();
      const closing = client.close({ drainMs: DRAIN_MS });
      const health = await client.health();
      expect(health.status).toBe('down');
      expect(health.problems).toEqual([{ code: 'ERR_CLOSED', message: expect.stringContaining('closing') }]);
      await hold.unlock();
      await closing;
      expect((await client.health()).problems[0]?.message).toContain('closed');
    });
  });
}
