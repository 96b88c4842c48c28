/**
 * What Java and Node do not share, or do differently: each test shows what then happens. Messages that Redisson does
 * not send cost a waiter of ours one poll; nobody ever comes in who should not.
 */
import { describe, expect, it } from 'vitest';
import { latchChannel, readWriteChannel } from '../../../src/keys.ts';
import { randomName } from '../../harness/names.ts';
import type { Interop } from '../support/context.ts';
import { JavaLatch, javaLock } from '../support/java-objects.ts';
import { expectFoundByAsking, isPending, LEASE_MS, untilHeard } from '../support/moments.ts';

const LEASE = { leaseMs: LEASE_MS };
const LONG_WAIT = { waitMs: LEASE_MS / 2 };

export function describeDifferences(interop: Interop): void {
  describe('differences', () => {
    it("Java's spin unlock sends no message: a Node waiter at the same key gets the lock at its poll", () =>
      expectFoundByAsking(interop, 'spin'));

    it("Node's spin unlock sends a message: a Java waiter at the same key is woken", async () => {
      const name = randomName('interop');
      const theirs = javaLock(interop.java, 'lock', name);
      const hold = await interop.node.getSpinLock(name).lock(LEASE);
      const waiting = theirs.lock(LEASE);
      await theirs.untilAsleep();
      await hold.unlock();
      expect(await waiting).toBe(true);
    });

    it("Java's downgrade sends no message: a Node reader gets the lock at its poll", async () => {
      const name = randomName('interop');
      const heard = await interop.place.hear(readWriteChannel(name));
      const theirWriter = javaLock(interop.java, 'write', name);
      const theirReader = javaLock(interop.java, 'read', name, theirWriter.thread);
      await theirWriter.lock(LEASE);
      await theirReader.lock(LEASE);
      const waiting = interop.node.getReadWriteLock(name).readLock().lock(LEASE);
      await untilHeard(interop, readWriteChannel(name), 2);
      await theirWriter.unlock();
      const hold = await waiting;
      expect(heard).toEqual([]);
      await theirReader.unlock();
      hold.assertHeld();
      expect(await hold.unlock()).toBe(true);
    });

    it('a latch that Java deletes opens for Node only: Java sleeps until the latch is opened again', async () => {
      const name = randomName('interop');
      const [waiter, other] = [1, 2].map(() => new JavaLatch(interop.java, 'latch', [name])) as [
        JavaLatch,
        JavaLatch,
      ];
      const ours = interop.node.getCountDownLatch(name);
      await other.trySetCount(2);
      const theirWait = waiter.await();
      const ourWait = ours.await(LONG_WAIT);
      await waiter.untilAsleep();
      await untilHeard(interop, latchChannel(name), 2);
      expect(await other.delete()).toBe(true);
      expect(await ourWait).toBe(true);
      await waiter.untilAsleep();
      expect(await isPending(interop, theirWait, name)).toBe(true);
      await ours.trySetCount(1);
      await ours.countDown();
      expect(await theirWait).toBe(true);
    });

    it('readers of Java do not wait for a preferred writer of Node', async () => {
      const name = randomName('interop');
      const [first, second] = [javaLock(interop.java, 'read', name), javaLock(interop.java, 'read', name)];
      await first.lock(LEASE);
      const preferred = interop.node.getReadWriteLock(name, { prefer: 'writer' });
      const waiting = preferred.writeLock().lock(LEASE);
      await untilHeard(interop, readWriteChannel(name));
      expect(await preferred.readLock().tryLock()).toBeNull();
      expect(await second.tryLock({ waitMs: 0, ...LEASE })).toBe(true);
      await first.unlock();
      await second.unlock();
      expect(await (await waiting).unlock()).toBe(true);
    });
  });
}
