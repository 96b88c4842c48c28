/**
 * From 3.44 to 3.52 Redisson's watchdog renews a lock that somebody reads, but loses the keys that stand for the holds
 * of a reader who entered twice. Nobody can tell such a reader from a dead one when the last other reader leaves.
 */
import { expect, it } from 'vitest';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from '../support/context.ts';
import { javaLock } from '../support/java-objects.ts';
import { IN_TIME, keysOf, LEASE_MS } from '../support/moments.ts';

const WATCHDOG_MS = 3_000;
const LEASE = { leaseMs: LEASE_MS };
const AT_ONCE = { waitMs: 0, leaseMs: LEASE_MS };

export function describeForgottenReaders(interop: Interop): void {
  it.each<['Java' | 'Node']>([['Java'], ['Node']])(
    'a reader of this version that entered twice is forgotten when a reader of %s leaves: a writer gets the lock',
    async (language) => {
      const name = randomName('interop');
      const alive = await interop.startJava({ watchdogMs: WATCHDOG_MS });
      const reader = javaLock(alive, 'read', name);
      for (let entry = 0; entry < 2; entry += 1) await reader.lock();
      const writer = javaLock(interop.java, 'write', name);
      // Its holds are gone, and only the lock itself is there, with the time that the watchdog gives it.
      await eventually(async () => expect(await keysOf(interop, name)).toEqual([name]), IN_TIME);
      expect(await writer.tryLock(AT_ONCE)).toBe(false);
      expect(await interop.node.getReadWriteLock(name).writeLock().tryLock()).toBeNull();

      if (language === 'Java') {
        const other = javaLock(interop.java, 'read', name);
        await other.lock(LEASE);
        expect(await reader.holdCount()).toBe(2);
        await other.unlock();
      } else {
        const hold = await interop.node.getReadWriteLock(name).readLock().lock(LEASE);
        expect(await reader.holdCount()).toBe(2);
        expect(await hold.unlock()).toBe(true);
      }
      expect(await writer.tryLock(AT_ONCE)).toBe(true);
      await expect(reader.unlock()).rejects.toThrow('IllegalMonitorStateException');
    },
  );
}
