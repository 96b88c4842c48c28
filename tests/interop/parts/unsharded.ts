/**
 * Before 3.22 Redisson knows no sharded channels: at a Cluster of Redis 7 it speaks on plain ones, which Node does
 * only when it is told to. Whoever holds keeps the others out all the same.
 */
import { describe, expect, it } from 'vitest';
import { semaphoreChannel } from '../../../src/keys.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from '../support/context.ts';
import { JavaSemaphore, javaLock } from '../support/java-objects.ts';
import { kindsOf } from '../support/kinds.ts';
import {
  expectFoundByAsking,
  expectWokenByMessage,
  IN_TIME,
  LEASE_MS,
  wakeUpMs,
} from '../support/moments.ts';

const LEASE = { leaseMs: LEASE_MS };
/** Long enough for Java to fall asleep behind it on a slow machine. */
const SHORT_LEASE_MS = 10_000;
/** Clocks of milliseconds may end a wait within the one before. */
const ROUNDING_MS = 2;

/** Where both are left at their defaults. */
export function describeChannelsApart(interop: Interop): void {
  const theirSemaphore = (name: string) => new JavaSemaphore(interop.java, 'semaphore', [name]);

  /** Java wakes itself: what could be heard earlier has been heard then. */
  async function wakeItself(name: string): Promise<void> {
    const java = theirSemaphore(name);
    const waiting = java.acquire();
    await java.untilAsleep();
    await theirSemaphore(name).release();
    await waiting;
  }

  describe('with sharded channels in Node only', () => {
    it("Java's unlock does not wake Node, which gets the lock at its poll", () =>
      expectFoundByAsking(interop, 'lock'));

    it("Node's unlock does not wake Java, which sleeps until the lease it saw ends", async () => {
      const name = randomName('interop');
      const theirs = javaLock(interop.java, 'lock', name);
      const lockedAt = performance.now();
      const hold = await interop.node.getLock(name).lock({ leaseMs: SHORT_LEASE_MS });
      const waiting = theirs.lock(LEASE);
      await theirs.untilAsleep();
      expect(await hold.unlock()).toBe(true);
      await waiting;
      expect(performance.now() - lockedAt).toBeGreaterThanOrEqual(SHORT_LEASE_MS - ROUNDING_MS);
      await theirs.unlock();
    });

    it("Node's release of a semaphore does not wake Java, which sleeps until Java releases", async () => {
      const name = randomName('interop');
      const java = theirSemaphore(name);
      const node = interop.node.getSemaphore(name);
      await node.trySetPermits(0);
      let isAwake = false;
      const waiting = java.acquire().then(() => {
        isAwake = true;
      });
      await java.untilAsleep();
      await node.release();
      await wakeItself(`{${name}}:turn`);
      expect(isAwake).toBe(false);
      expect(await node.availablePermits()).toBe(1);
      await theirSemaphore(name).release();
      await waiting;
      expect(await node.availablePermits()).toBe(1);
    });
  });
}

/** Where Node is told to do as Java does. */
export function describeCommonChannels(interop: Interop): void {
  /** Resolves when somebody listens to plain channels whose names start so. */
  const untilHeardPlainly = (name: string, channel: string) =>
    eventually(async () => {
      const channels = await interop.place.command(name, 'PUBSUB', 'CHANNELS', `${channel}*`);
      return (channels as string[]).length > 0;
    }, IN_TIME);

  describe('with plain channels on both sides', () => {
    const openNode = () => interop.openNode({ shardedPubSub: false });
    const told = kindsOf(interop.version).filter(([, { channel }]) => channel !== null);

    it.each(told)("%s: Java's unlock wakes Node, and Node's wakes Java", async (_title, kind) => {
      const node = await openNode();
      await expectWokenByMessage(async () => {
        const name = randomName('interop');
        const theirs = javaLock(interop.java, kind.java, name);
        await theirs.lock(LEASE);
        const ourTurn = kind.of(node, name).lock(LEASE);
        await untilHeardPlainly(name, kind.channel?.(name) ?? '');
        const nodeMs = await wakeUpMs(() => theirs.unlock(), ourTurn);
        const theirTurn = theirs.lock(LEASE);
        await theirs.untilAsleep();
        const hold = await ourTurn;
        const javaMs = await wakeUpMs(() => hold.unlock(), theirTurn);
        await theirs.unlock();
        return Math.max(nodeMs, javaMs);
      });
    });

    it("a semaphore: Java's release wakes Node, and Node's wakes Java", async () => {
      const node = await openNode();
      await expectWokenByMessage(async () => {
        const name = randomName('interop');
        const theirs = new JavaSemaphore(interop.java, 'semaphore', [name]);
        const ours = node.getSemaphore(name);
        await ours.trySetPermits(0);
        const ourTurn = ours.acquire();
        await untilHeardPlainly(name, semaphoreChannel(name));
        const nodeMs = await wakeUpMs(() => theirs.release(), ourTurn);
        const theirTurn = theirs.acquire();
        await theirs.untilAsleep();
        const javaMs = await wakeUpMs(() => ours.release(), theirTurn);
        return Math.max(nodeMs, javaMs);
      });
    });
  });
}
