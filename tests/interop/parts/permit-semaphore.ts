/** Permits with ids and leases: taken in one language, released, prolonged or reclaimed in the other. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { LeaseLostError, NotHeldError } from '../../../src/index.ts';
import { permitTimeoutKey, semaphoreChannel } from '../../../src/keys.ts';
import { spawnChild } from '../../harness/child.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { PermitSettings } from '../children/permits.ts';
import type { Interop } from '../support/context.ts';
import { JavaPermits } from '../support/java-objects.ts';
import {
  expectWokenByMessage,
  givingUp,
  IN_TIME,
  LEASE_MS,
  untilHeard,
  wakeUpMs,
} from '../support/moments.ts';
import { PLAIN_AND_BRACED } from '../support/names.ts';

const LEASE = { leaseMs: LEASE_MS };
const SHORT_LEASE = { leaseMs: 800 };
/** Renewed every third of it, and long enough for a machine that is slow for a while. */
const WATCHDOG_MS = 6_000;
const PERMITS = fileURLToPath(new URL('../children/permits.ts', import.meta.url));

export function describePermitSemaphore(interop: Interop): void {
  const theirs = (name: string) => new JavaPermits(interop.java, 'permits', [name]);
  const ours = (name: string) => interop.node.getPermitExpirableSemaphore(name);

  describe.each(PLAIN_AND_BRACED)('a permit-expirable semaphore under %s', (_title, makeName) => {
    it('is one stock: set once, empty for both, with an id for each permit', async () => {
      const name = makeName();
      const [java, node] = [theirs(name), ours(name)];
      expect(await node.trySetPermits(2)).toBe(true);
      expect(await java.trySetPermits(4)).toBe(false);
      const [theirId] = await java.acquire(LEASE);
      const permit = await node.acquire(LEASE);
      expect(theirId).toMatch(/^[0-9a-f]{32}$/);
      expect(permit.id).toMatch(/^[0-9a-f]{32}$/);
      expect(await givingUp((waitMs) => node.tryAcquire({ waitMs }))).toBeNull();
      expect(await givingUp((waitMs) => java.tryAcquire({ waitMs, ...LEASE }))).toEqual([]);
      expect([await java.available(), await node.availablePermits()]).toEqual([0, 0]);
      expect(await interop.place.command(name, 'ZCARD', permitTimeoutKey(name))).toBe(2);
    });

    it("Node releases Java's permit by its id, which wakes Java", () =>
      expectWokenByMessage(async () => {
        const name = makeName();
        const java = theirs(name);
        await ours(name).trySetPermits(1);
        const [id] = await java.acquire(LEASE);
        const waiting = java.acquire(LEASE);
        await java.untilAsleep();
        const tookMs = await wakeUpMs(() => ours(name).release(id), waiting);
        await expect(theirs(name).release(id)).rejects.toThrow('IllegalArgumentException');
        return tookMs;
      }));

    it("Java releases Node's permit by its id, which wakes Node", () =>
      expectWokenByMessage(async () => {
        const name = makeName();
        const node = ours(name);
        await node.trySetPermits(1);
        const permit = await node.acquire(LEASE);
        const waiting = node.acquire(LEASE);
        await untilHeard(interop, semaphoreChannel(name));
        const tookMs = await wakeUpMs(() => theirs(name).release(permit.id), waiting);
        expect(await permit.release()).toBe(false);
        await expect(node.release(permit.id)).rejects.toThrow(NotHeldError);
        return tookMs;
      }));

    it('permits whose lease ends are free for the other language', async () => {
      const name = makeName();
      await theirs(name).trySetPermits(1);
      const [id] = await theirs(name).acquire(SHORT_LEASE);
      const permit = await ours(name).acquire(SHORT_LEASE);
      expect(await theirs(name).tryRelease(id)).toBe(false);
      const [next] = await theirs(name).acquire(LEASE);
      expect(() => permit.assertHeld()).toThrow(LeaseLostError);
      await eventually(() => permit.signal.aborted, IN_TIME);
      expect(await permit.release()).toBe(false);
      expect(await ours(name).tryRelease(next)).toBe(true);
      expect(await theirs(name).available()).toBe(1);
    });

    it('leases are extended from the other language', async () => {
      const name = makeName();
      await theirs(name).trySetPermits(2);
      const [id] = await theirs(name).acquire(LEASE);
      const permit = await ours(name).acquire(LEASE);
      expect(await ours(name).updateLease(id, 3 * LEASE_MS)).toBe(true);
      expect(await theirs(name).updateLease(permit.id, 3 * LEASE_MS)).toBe(true);
      for (const each of [id, permit.id]) {
        expect(await ours(name).getLeaseMs(each)).toBeGreaterThan(2 * LEASE_MS);
      }
    });
  });

  describe('a permit-expirable semaphore', () => {
    const make = () => randomName('interop');

    it('permits without a lease stay until they are released', async () => {
      const name = make();
      await ours(name).trySetPermits(2);
      const [id] = await theirs(name).acquire();
      const permit = await ours(name).acquire({ leaseMs: Number.POSITIVE_INFINITY });
      const [ourScore, theirScore] = await Promise.all(
        [permit.id, id].map((each) =>
          interop.place.command(name, 'ZSCORE', permitTimeoutKey(name), Buffer.from(each, 'hex')),
        ),
      );
      expect(ourScore).toBe(theirScore);
      expect(await theirs(name).tryRelease(permit.id)).toBe(true);
      expect(await ours(name).tryRelease(id)).toBe(true);
    });

    it("a permit that Node renews is released by Java: Node's signal aborts", async () => {
      const name = make();
      const node = await interop.openNode({ watchdogMs: WATCHDOG_MS });
      const permits = node.getPermitExpirableSemaphore(name);
      await permits.trySetPermits(1);
      const permit = await permits.acquire();
      expect(await theirs(name).tryRelease(permit.id)).toBe(true);
      await eventually(() => permit.signal.aborted, IN_TIME);
      expect(permit.signal.reason).toBeInstanceOf(LeaseLostError);
      expect(await permits.availablePermits()).toBe(1);
    });

    it('a permit that Node renews keeps Java out past its lease, until the process of Node is killed', async () => {
      const name = make();
      const java = theirs(name);
      await java.trySetPermits(1);
      const settings: PermitSettings = {
        target: interop.place.nodeTarget,
        kind: 'permitExpirable',
        name,
        watchdogMs: WATCHDOG_MS,
      };
      const victim = spawnChild(PERMITS, { args: [JSON.stringify(settings)] });
      await victim.next(({ ready }) => ready === true);
      // Java asks again whenever the permit would end next.
      expect(await java.tryAcquire({ waitMs: 1.5 * WATCHDOG_MS, ...LEASE })).toEqual([]);
      const waiting = java.acquire(LEASE);
      await java.untilAsleep();
      victim.kill();
      await victim.exited;
      const [id] = await waiting;
      expect(await ours(name).availablePermits()).toBe(0);
      expect(await java.tryRelease(id)).toBe(true);
      expect(await ours(name).availablePermits()).toBe(1);
    });

    it('permits that one side adds are free for the other', async () => {
      const name = make();
      await ours(name).trySetPermits(1);
      await theirs(name).addPermits(2);
      expect(await ours(name).availablePermits()).toBe(3);
      await ours(name).addPermits(-2);
      expect(await theirs(name).available()).toBe(1);
    });
  });
}

/** Several permits at once, and what can be asked of a semaphore: since 3.41. */
export function describeManyPermits(interop: Interop): void {
  const theirs = (name: string) => new JavaPermits(interop.java, 'permits', [name]);
  const ours = (name: string) => interop.node.getPermitExpirableSemaphore(name);
  const make = () => randomName('interop');

  describe('several permits at once', () => {
    it('are taken by one side and released together by the other, whose waiters are woken', () =>
      expectWokenByMessage(async () => {
        const name = make();
        const java = theirs(name);
        await ours(name).trySetPermits(2);
        const permits = await ours(name).acquireMany(2, LEASE);
        const theirTurn = java.acquire(LEASE, 2);
        await java.untilAsleep();
        const ids = permits.map(({ id }) => id);
        const javaMs = await wakeUpMs(() => ours(name).tryRelease(ids), theirTurn);
        const ourTurn = ours(name).acquireMany(2, LEASE);
        await untilHeard(interop, semaphoreChannel(name));
        const theirIds = await theirTurn;
        const nodeMs = await wakeUpMs(() => theirs(name).tryReleaseAll(theirIds), ourTurn);
        expect(await theirs(name).tryReleaseAll((await ourTurn).map(({ id }) => id))).toBe(2);
        return Math.max(javaMs, nodeMs);
      }));

    it('both sides give the same answers about them', async () => {
      const name = make();
      await ours(name).trySetPermits(3);
      const [id] = await theirs(name).acquire(LEASE);
      const permit = await ours(name).acquire(LEASE);
      const asked = await Promise.all([
        theirs(name).available(),
        theirs(name).acquired(),
        theirs(name).permits(),
      ]);
      expect(asked).toEqual([1, 2, 3]);
      const node = ours(name);
      expect([await node.availablePermits(), await node.acquiredPermits(), await node.getPermits()]).toEqual(
        asked,
      );
      for (const each of [id, permit.id]) {
        expect(Math.abs((await theirs(name).leaseMs(each)) - (await node.getLeaseMs(each)))).toBeLessThan(
          5_000,
        );
      }
      await theirs(name).setPermits(5);
      expect(await node.getPermits()).toBe(5);
      await node.setPermits(2);
      expect(await theirs(name).permits()).toBe(2);
    });
  });
}
