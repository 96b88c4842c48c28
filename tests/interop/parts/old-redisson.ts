/** What older versions of Redisson lack, and where they fall short among themselves. */
import { describe, expect, it } from 'vitest';
import { fairQueueKey } from '../../../src/keys.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from '../support/context.ts';
import { JavaPermits, JavaRateLimiter, JavaSemaphore, javaLock } from '../support/java-objects.ts';
import { UnsupportedError } from '../support/java-peer.ts';
import { kindsMissingIn } from '../support/kinds.ts';
import { IN_TIME, LEASE_MS } from '../support/moments.ts';

const LEASE = { leaseMs: LEASE_MS };
/** What a waiter is told, and sleeps for before it looks again. */
const WATCHDOG_MS = 6_000;
const LATER_MS = 1_000;

/** What each old version has not. */
export function describeMissing(interop: Interop): void {
  describe('missing in this version', () => {
    it.each(kindsMissingIn(interop.version))('%s', async (_title, { java }) => {
      const theirs = javaLock(interop.java, java, randomName('interop'));
      await expect(theirs.tryLock()).rejects.toThrow(UnsupportedError);
    });

    it('releaseIfExists', async () => {
      const theirs = new JavaSemaphore(interop.java, 'semaphore', [randomName('interop')]);
      await expect(theirs.releaseIfExists()).rejects.toThrow(UnsupportedError);
    });
  });
}

/** Before 3.52. */
export function describeMissingRateRelease(interop: Interop): void {
  it('this version cannot release permits of a rate limiter', async () => {
    const theirs = new JavaRateLimiter(interop.java, 'rate', [randomName('interop')]);
    await expect(theirs.release(1)).rejects.toThrow(UnsupportedError);
  });
}

/** Before 3.23.4. */
export function describeMissingManyPermits(interop: Interop): void {
  it('this version takes permits one at a time only', async () => {
    const theirs = new JavaPermits(interop.java, 'permits', [randomName('interop')]);
    await theirs.trySetPermits(2);
    await expect(theirs.acquire(LEASE, 2)).rejects.toThrow(UnsupportedError);
    expect(await theirs.available()).toBe(2);
  });
}

/** Before 3.32. */
export function describeOldFairWaiters(interop: Interop): void {
  it('a fair waiter of this version behind a renewed holder that died sleeps until another client wakes it', async () => {
    const { java, node, place } = interop;
    const name = randomName('interop');
    const victim = await interop.startJava({ watchdogMs: WATCHDOG_MS });
    await javaLock(victim, 'fair', name).lock();
    const theirs = javaLock(java, 'fair', name);
    const waiting = theirs.lock(LEASE);
    const queued = () => place.command(name, 'LLEN', fairQueueKey(name));
    await eventually(async () => (await queued()) === 1, IN_TIME);
    await victim.kill();
    // As if it had been renewed once more before that.
    await place.command(name, 'PEXPIRE', name, 2 * WATCHDOG_MS);
    // A waiter of another kind in the same JVM, which wakes up by itself when a later lease has ended.
    const later = randomName('interop');
    await node.getLock(later).lock({ leaseMs: 2 * WATCHDOG_MS + LATER_MS });
    const witness = javaLock(java, 'lock', later);
    const witnessed = witness.lock(LEASE);
    await Promise.all([theirs.untilAsleep(), witness.untilAsleep()]);
    // Nobody else runs scripts now: the waiter looks when the time that it was told is over, and finds the lock held.
    const before = await place.scriptRuns();
    await eventually(async () => (await place.scriptRuns()) > before, IN_TIME);
    await witnessed;
    expect(await place.command(name, 'EXISTS', name)).toBe(0);
    expect(await queued()).toBe(1);
    // A waiter of Node that gives up calls the head of a queue that nobody holds.
    expect(await node.getFairLock(name).tryLock({ waitMs: 200, ...LEASE })).toBeNull();
    expect(await waiting).toBe(true);
    await theirs.unlock();
  });
}
