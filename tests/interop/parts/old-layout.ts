/**
 * Before 3.17 Redisson writes the ids of permits as text, and the history of a rate in a form of its own. Each test
 * shows what the two languages then still have in common, and what not.
 */
import { describe, expect, it } from 'vitest';
import { NotHeldError } from '../../../src/index.ts';
import { permitTimeoutKey, semaphoreChannel } from '../../../src/keys.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from '../support/context.ts';
import { JavaPermits, JavaRateLimiter } from '../support/java-objects.ts';
import { expectWokenByMessage, IN_TIME, LEASE_MS, untilHeard, wakeUpMs } from '../support/moments.ts';

const LEASE = { leaseMs: LEASE_MS };
const SHORT_LEASE = { leaseMs: 800 };

/** Long enough for some calls within it. */
const INTERVAL_MS = 4_000;
const LONG_MS = 600_000;

/** What the server says when Redisson's script takes our entries apart. */
const UNREADABLE = 'data string too short';

export function describeOldPermits(interop: Interop): void {
  const theirs = (name: string) => new JavaPermits(interop.java, 'permits', [name]);
  const ours = (name: string) => interop.node.getPermitExpirableSemaphore(name);

  describe('permits of this version', () => {
    it('share one stock with those of Node, and permits whose lease ends are free for both', async () => {
      const name = randomName('interop');
      const [java, node] = [theirs(name), ours(name)];
      expect(await java.trySetPermits(2)).toBe(true);
      expect(await node.trySetPermits(5)).toBe(false);
      await java.acquire(SHORT_LEASE);
      await node.acquire(LEASE);
      expect(await theirs(name).tryAcquire(LEASE)).toEqual([]);
      const second = await node.acquire(SHORT_LEASE);
      await java.acquire(LEASE);
      expect(second.signal.aborted).toBe(true);
      expect([await java.available(), await node.availablePermits()]).toEqual([0, 0]);
      expect(await node.tryAcquire()).toBeNull();
    });

    it('are released by the language that took them, which wakes the other language', () =>
      expectWokenByMessage(async () => {
        const name = randomName('interop');
        const [java, node] = [theirs(name), ours(name)];
        await java.trySetPermits(1);
        const [theirId] = await java.acquire(LEASE);
        const ourTurn = node.acquire(LEASE);
        await untilHeard(interop, semaphoreChannel(name));
        const nodeMs = await wakeUpMs(() => java.release(theirId), ourTurn);
        const permit = await ourTurn;
        const theirTurn = java.acquire(LEASE);
        await java.untilAsleep();
        const javaMs = await wakeUpMs(() => permit.release(), theirTurn);
        return Math.max(nodeMs, javaMs);
      }));

    it('cannot be released or prolonged by the other language, which does not know their ids', async () => {
      const name = randomName('interop');
      const [java, node] = [theirs(name), ours(name)];
      const scoreOf = (id: string | Buffer) =>
        interop.place.command(name, 'ZSCORE', permitTimeoutKey(name), id);
      await java.trySetPermits(2);
      const [theirId] = await java.acquire(LEASE);
      const permit = await node.acquire(LEASE);
      expect(await scoreOf(theirId)).not.toBeNull();
      expect(await scoreOf(permit.id)).toBeNull();
      expect(await scoreOf(Buffer.from(permit.id, 'hex'))).not.toBeNull();

      expect(await java.tryRelease(permit.id)).toBe(false);
      await expect(java.release(permit.id)).rejects.toThrow('IllegalArgumentException');
      expect(await java.updateLease(permit.id, LEASE_MS)).toBe(false);
      expect(await node.tryRelease(theirId)).toBe(false);
      await expect(node.release(theirId)).rejects.toThrow(NotHeldError);
      expect(await node.updateLease(theirId, LEASE_MS)).toBe(false);

      expect([await java.available(), await node.availablePermits()]).toEqual([0, 0]);
      permit.assertHeld();
      expect(await permit.release()).toBe(true);
      expect(await java.tryRelease(theirId)).toBe(true);
      expect([await java.available(), await node.availablePermits()]).toEqual([2, 2]);
    });
  });
}

export function describeOldRates(interop: Interop): void {
  const theirs = (name: string) => new JavaRateLimiter(interop.java, 'rate', [name]);
  const ours = (name: string) => interop.node.getRateLimiter(name);

  describe('a rate of this version', () => {
    it('counts the permits of both while they are within the interval', async () => {
      const name = randomName('interop');
      const [java, node] = [theirs(name), ours(name)];
      await java.trySetRate('OVERALL', 5, LONG_MS);
      expect([await java.tryAcquire(2), await node.tryAcquire(2)]).toEqual([true, true]);
      expect([await java.available(), await node.availablePermits()]).toEqual([1, 1]);
      expect([await java.tryAcquire(2), await node.tryAcquire(2)]).toEqual([false, false]);
      expect(await node.tryAcquire()).toBe(true);
      expect(await java.tryAcquire()).toBe(false);
    });

    it("is full again for Node when the interval of Java's permits has ended", async () => {
      const name = randomName('interop');
      const [java, node] = [theirs(name), ours(name)];
      await java.trySetRate('OVERALL', 3, INTERVAL_MS);
      expect([await java.tryAcquire(), await java.tryAcquire(2)]).toEqual([true, true]);
      expect(await node.tryAcquire()).toBe(false);
      await node.acquire(3);
      expect(await node.tryAcquire()).toBe(false);
    });

    it("is broken for Java when the interval of Node's permits has ended, until Node takes a permit and cleans up", async () => {
      const name = randomName('interop');
      const [java, node] = [theirs(name), ours(name)];
      await java.trySetRate('OVERALL', 3, INTERVAL_MS);
      expect(await node.tryAcquire(3)).toBe(true);
      expect(await java.tryAcquire()).toBe(false);
      await eventually(() => expect(java.tryAcquire()).rejects.toThrow(UNREADABLE), IN_TIME);
      await expect(java.available()).rejects.toThrow(UNREADABLE);
      expect(await node.tryAcquire()).toBe(true);
      expect(await java.tryAcquire(2)).toBe(true);
      expect(await node.tryAcquire()).toBe(false);
    });
  });
}
