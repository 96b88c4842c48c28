/** Readers of both languages at one lock, whose watchdogs know nothing of each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { randomName } from '../../harness/names.ts';
import type { Interop } from '../support/context.ts';
import { javaLock } from '../support/java-objects.ts';
import { LEASE_MS } from '../support/moments.ts';

const LEASE = { leaseMs: LEASE_MS };
const AT_ONCE = { waitMs: 0, leaseMs: LEASE_MS };
/**
 * The same for both, so that every third of ours is well below Redisson's. A process may stand still for the other two
 * thirds, on a machine that runs many tests at once.
 */
const WATCHDOG_MS = 6_000;

/** Whoever is not renewed is gone after this. */
const pastTheWatchdogs = () => sleep(WATCHDOG_MS + 500);

export function describeReadWriteWatchdogs(interop: Interop): void {
  const startJava = () => interop.startJava({ watchdogMs: WATCHDOG_MS });
  const openNode = () => interop.openNode({ watchdogMs: WATCHDOG_MS });

  async function expectNoWriterGetsIn(name: string): Promise<void> {
    expect(await interop.node.getReadWriteLock(name).writeLock().tryLock()).toBeNull();
    expect(await javaLock(interop.java, 'write', name).tryLock(AT_ONCE)).toBe(false);
  }

  describe('readers that a watchdog renews', () => {
    it('of Java keep writers out past their lease: with one lock, with several, with one entered twice', async () => {
      const [alone, together] = await Promise.all([startJava(), startJava()]);
      const names = [1, 2, 3, 4].map(() => randomName('interop')) as [string, string, string, string];
      const [single, first, second, twice] = names;
      await javaLock(alone, 'read', single).lock();
      const one = javaLock(together, 'read', first);
      await one.lock();
      await javaLock(together, 'read', second, one.thread).lock();
      for (let entry = 0; entry < 2; entry += 1) await javaLock(together, 'read', twice, one.thread).lock();
      await pastTheWatchdogs();
      for (const name of names) await expectNoWriterGetsIn(name);
    });

    it('of Node keep their lease beside readers of Java that leave, renew and die', async () => {
      const [java, node] = await Promise.all([startJava(), openNode()]);
      const names = [1, 2, 3].map(() => randomName('interop')) as [string, string, string];
      const [leased, renewed, left] = names;
      const holds = [
        await node.getReadWriteLock(leased).readLock().lock(LEASE),
        await node.getReadWriteLock(renewed).readLock().lock(),
        await node.getReadWriteLock(left).readLock().lock(),
      ];
      const leaving = javaLock(java, 'read', left);
      await leaving.lock();
      await leaving.unlock();
      for (const name of [leased, renewed]) await javaLock(java, 'read', name).lock();
      await pastTheWatchdogs();
      await java.kill();
      await pastTheWatchdogs();
      for (const name of names) await expectNoWriterGetsIn(name);
      for (const hold of holds) {
        hold.assertHeld();
        expect(await hold.unlock()).toBe(true);
      }
    });
  });
}
