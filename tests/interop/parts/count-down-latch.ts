/** One gate for both languages, counted down and awaited by both. */
import { describe, expect, it } from 'vitest';
import { OptionError } from '../../../src/index.ts';
import { latchChannel } from '../../../src/keys.ts';
import { randomName } from '../../harness/names.ts';
import type { Interop } from '../support/context.ts';
import { JavaLatch } from '../support/java-objects.ts';
import {
  expectWokenByMessage,
  givingUp,
  isPending,
  keysOf,
  LEASE_MS,
  untilHeard,
  wakeUpMs,
} from '../support/moments.ts';
import { PLAIN_AND_BRACED } from '../support/names.ts';

const LONG_WAIT = { waitMs: LEASE_MS / 2 };

export function describeCountDownLatch(interop: Interop): void {
  const theirs = (name: string) => new JavaLatch(interop.java, 'latch', [name]);
  const ours = (name: string) => interop.node.getCountDownLatch(name);

  // Redisson puts the channel of a latch in braces of its own: with others it falls into another slot.
  const names = PLAIN_AND_BRACED.slice(0, interop.topology.isCluster ? 1 : 2);

  describe.each(names)('a count-down latch under %s', (_title, makeName) => {
    it.each([
      ['Java', 'Node'],
      ['Node', 'Java'],
    ])('set by %s, counted down by both, opened by %s: all waiters continue', (setter, last) =>
      expectWokenByMessage(async () => {
        const name = makeName();
        const [java, node] = [theirs(name), ours(name)];
        expect(setter === 'Java' ? await java.trySetCount(3) : await node.trySetCount(3)).toBe(true);
        expect([await java.trySetCount(9), await node.trySetCount(9)]).toEqual([false, false]);
        const threads = [theirs(name), theirs(name)] as const;
        const waits = [threads[0].await(), threads[1].await(LONG_WAIT), node.await(), node.await(LONG_WAIT)];
        await Promise.all(threads.map((thread) => thread.untilAsleep()));
        await untilHeard(interop, latchChannel(name), 2);
        await node.countDown();
        await java.countDown();
        expect(await isPending(interop, Promise.race(waits), name)).toBe(true);
        expect([await java.getCount(), await node.getCount()]).toEqual([1, 1]);
        const open = async () => (last === 'Java' ? java.countDown() : node.countDown());
        const tookMs = await wakeUpMs(open, Promise.all(waits));
        expect(await Promise.all(waits)).toEqual([true, true, true, true]);
        expect([await java.getCount(), await node.getCount()]).toEqual([0, 0]);
        return tookMs;
      }),
    );

    it.each(['Java', 'Node'])('set by %s and not opened: timed waits end without it', async (setter) => {
      const name = makeName();
      const [java, node] = [theirs(name), ours(name)];
      expect(setter === 'Java' ? await java.trySetCount(1) : await node.trySetCount(1)).toBe(true);
      expect(await givingUp((waitMs) => node.await({ waitMs }))).toBe(false);
      expect(await givingUp((waitMs) => java.await({ waitMs }))).toBe(false);
    });
  });

  it('a latch that Node deletes opens for both; either side can set it again', async () => {
    const name = randomName('interop');
    const java = theirs(name);
    await java.trySetCount(2);
    const waits = [java.await(LONG_WAIT), ours(name).await(LONG_WAIT)];
    await java.untilAsleep();
    await untilHeard(interop, latchChannel(name), 2);
    expect(await ours(name).delete()).toBe(true);
    expect(await Promise.all(waits)).toEqual([true, true]);
    expect(await ours(name).trySetCount(1)).toBe(true);
    const again = java.await(LONG_WAIT);
    await java.untilAsleep();
    await ours(name).countDown();
    expect(await again).toBe(true);
    expect(await keysOf(interop, name)).toEqual([]);
  });

  if (!interop.topology.isCluster) return;

  it('a latch whose name has braces works in no language at a Cluster', async () => {
    const name = `{${randomName('tag')}}:interop`;
    await expect(theirs(name).trySetCount(1)).rejects.toThrow('RedisException');
    expect(() => ours(name)).toThrow(OptionError);
  });
}
