/** One stock of permits for both languages. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { semaphoreChannel } from '../../../src/keys.ts';
import { spawnChild } from '../../harness/child.ts';
import { randomName } from '../../harness/names.ts';
import type { PermitSettings } from '../children/permits.ts';
import type { Interop } from '../support/context.ts';
import { JavaSemaphore } from '../support/java-objects.ts';
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

const LONG_WAIT_MS = LEASE_MS / 2;
const PERMITS = fileURLToPath(new URL('../children/permits.ts', import.meta.url));

export function describeSemaphore(interop: Interop): void {
  const theirs = (name: string) => new JavaSemaphore(interop.java, 'semaphore', [name]);
  const ours = (name: string) => interop.node.getSemaphore(name);

  describe.each(PLAIN_AND_BRACED)('a semaphore under %s', (_title, makeName) => {
    it('is one stock: set once, counted by both, empty for both', async () => {
      const name = makeName();
      const [java, node] = [theirs(name), ours(name)];
      expect(await java.trySetPermits(3)).toBe(true);
      expect(await node.trySetPermits(5)).toBe(false);
      expect(await node.tryAcquire(2)).toBe(true);
      expect(await java.available()).toBe(1);
      expect(await java.tryAcquire(2)).toBe(false);
      expect(await givingUp((waitMs) => java.tryAcquire(2, waitMs))).toBe(false);
      expect(await java.tryAcquire()).toBe(true);
      expect(await node.availablePermits()).toBe(0);
      expect(await node.tryAcquire()).toBe(false);
      expect(await givingUp((waitMs) => node.tryAcquire(1, { waitMs }))).toBe(false);
    });

    it('one that Node creates, Java counts; one that Java created keeps its number', async () => {
      const name = makeName();
      const created = interop.node.getSemaphore(name, { permits: 3 });
      expect(await theirs(name).available()).toBe(0);
      expect(await created.tryAcquire()).toBe(true);
      expect(await theirs(name).available()).toBe(2);
      expect(await theirs(name).trySetPermits(9)).toBe(false);
      expect(await theirs(name).tryAcquire(2)).toBe(true);
      expect(await created.tryAcquire()).toBe(false);
      await theirs(name).release(2);
      await created.release();
      expect([await theirs(name).available(), await created.availablePermits()]).toEqual([3, 3]);

      const other = makeName();
      expect(await theirs(other).trySetPermits(5)).toBe(true);
      const met = await interop.openNode();
      const differs = new Promise((resolve) => met.on('warning', ({ code }) => resolve(code)));
      const kept = met.getSemaphore(other, { permits: 2 });
      expect(await kept.tryAcquire()).toBe(true);
      expect(await differs).toBe('HOLDFAST_PERMITS_DIFFER');
      expect(await theirs(other).available()).toBe(4);
      await kept.release();
      expect(await theirs(other).available()).toBe(5);
    });

    it("Java's release wakes Node", () =>
      expectWokenByMessage(async () => {
        const name = makeName();
        await theirs(name).trySetPermits(1);
        await theirs(name).acquire();
        const waiting = ours(name).acquire();
        await untilHeard(interop, semaphoreChannel(name));
        return wakeUpMs(() => theirs(name).release(), waiting);
      }));

    it("Node's release wakes Java", () =>
      expectWokenByMessage(async () => {
        const name = makeName();
        const java = theirs(name);
        await ours(name).trySetPermits(1);
        await ours(name).acquire();
        const waiting = java.acquire();
        await java.untilAsleep();
        return wakeUpMs(() => ours(name).release(), waiting);
      }));

    it('setting the permits wakes waiters, in both directions', () =>
      expectWokenByMessage(async () => {
        const [first, second] = [makeName(), makeName()];
        const java = theirs(first);
        const theirTurn = java.acquire();
        await java.untilAsleep();
        const javaMs = await wakeUpMs(() => ours(first).trySetPermits(1), theirTurn);
        const ourTurn = ours(second).acquire();
        await untilHeard(interop, semaphoreChannel(second));
        const nodeMs = await wakeUpMs(() => theirs(second).trySetPermits(1), ourTurn);
        return Math.max(javaMs, nodeMs);
      }));
  });

  describe('a semaphore', () => {
    const make = () => randomName('interop');

    it('many permits at once serve many waiters of the other language', () =>
      expectWokenByMessage(async () => {
        const name = make();
        const threads = [theirs(name), theirs(name), theirs(name)];
        await ours(name).trySetPermits(0);
        const theirTurns = threads.map((java) => java.acquire());
        await Promise.all(threads.map((java) => java.untilAsleep()));
        const javaMs = await wakeUpMs(() => ours(name).release(3), Promise.all(theirTurns));
        const ourTurns = [1, 2, 3].map(() => ours(name).acquire());
        await untilHeard(interop, semaphoreChannel(name));
        const nodeMs = await wakeUpMs(() => theirs(name).release(3), Promise.all(ourTurns));
        expect(await ours(name).availablePermits()).toBe(0);
        return Math.max(javaMs, nodeMs);
      }));

    it('permits added by either side serve waiters of both for one or two permits', async () => {
      for (const adder of ['Java', 'Node'] as const) {
        const name = make();
        const [one, two] = [theirs(name), theirs(name)];
        await ours(name).trySetPermits(0);
        const turns = [one.acquire(), two.acquire(2), ours(name).acquire(), ours(name).acquire(2)];
        await Promise.all([one.untilAsleep(), two.untilAsleep()]);
        await untilHeard(interop, semaphoreChannel(name), 2);
        if (adder === 'Java') await theirs(name).addPermits(6);
        else await ours(name).addPermits(6);
        await Promise.all(turns);
        expect(await theirs(name).available()).toBe(0);
      }
    });

    it('a waiter for three permits waits until the other side has released three, one by one', async () => {
      const name = make();
      const java = theirs(name);
      await ours(name).trySetPermits(0);
      const ourTurn = ours(name).tryAcquire(3, { waitMs: LONG_WAIT_MS });
      await untilHeard(interop, semaphoreChannel(name));
      for (let released = 0; released < 3; released += 1) {
        expect(await isPending(interop, ourTurn, name)).toBe(true);
        expect(await ours(name).availablePermits()).toBe(released);
        await theirs(name).release();
      }
      expect(await ourTurn).toBe(true);
      const theirTurn = java.tryAcquire(3, LONG_WAIT_MS);
      await java.untilAsleep();
      for (let released = 0; released < 3; released += 1) {
        expect(await isPending(interop, theirTurn, name)).toBe(true);
        expect(await ours(name).availablePermits()).toBe(released);
        await ours(name).release();
      }
      expect(await theirTurn).toBe(true);
    });

    it('is drained by either side, and goes below zero for both', async () => {
      const name = make();
      const [java, node] = [theirs(name), ours(name)];
      await node.trySetPermits(4);
      expect(await java.drainPermits()).toBe(4);
      await java.release(4);
      expect(await node.drainPermits()).toBe(4);
      await node.addPermits(-2);
      expect(await java.available()).toBe(-2);
      expect(await java.tryAcquire()).toBe(false);
      await java.addPermits(3);
      expect(await node.availablePermits()).toBe(1);
    });

    /** A process of that language takes a permit and dies. */
    async function takeAndDie(language: 'Java' | 'Node', name: string): Promise<void> {
      if (language === 'Java') {
        const victim = await interop.startJava();
        await new JavaSemaphore(victim, 'semaphore', [name]).acquire();
        await victim.kill();
        return;
      }
      const settings: PermitSettings = { target: interop.place.nodeTarget, kind: 'semaphore', name };
      const victim = spawnChild(PERMITS, { args: [JSON.stringify(settings)] });
      await victim.next(({ ready }) => ready === true);
      victim.kill();
      await victim.exited;
    }

    it.each<['Java' | 'Node']>([['Java'], ['Node']])(
      'the permit of a killed process of %s stays taken for both until it is released',
      async (language) => {
        const name = make();
        const [java, node] = [theirs(name), ours(name)];
        await node.trySetPermits(2);
        await takeAndDie(language, name);
        // A number that never ends is all there is: nothing could bring the permit back by itself.
        expect(await keysOf(interop, name)).toEqual([name]);
        expect(await interop.place.command(name, 'PTTL', name)).toBe(-1);
        expect([await java.available(), await node.availablePermits()]).toEqual([1, 1]);
        expect(await java.tryAcquire(2)).toBe(false);
        expect(await node.tryAcquire(2)).toBe(false);
        if (language === 'Java') await node.release();
        else await java.release();
        expect(language === 'Java' ? await java.tryAcquire(2) : await node.tryAcquire(2)).toBe(true);
      },
    );
  });
}

/** Since 4.0. */
export function describeReleaseIfExists(interop: Interop): void {
  it('a semaphore is released by either side only if it exists', async () => {
    const name = randomName('interop');
    const theirs = new JavaSemaphore(interop.java, 'semaphore', [name]);
    const ours = interop.node.getSemaphore(name);
    expect([await theirs.releaseIfExists(), await ours.releaseIfExists()]).toEqual([false, false]);
    await ours.trySetPermits(1);
    expect([await theirs.releaseIfExists(), await ours.releaseIfExists()]).toEqual([true, true]);
    expect([await theirs.available(), await ours.availablePermits()]).toEqual([3, 3]);
  });
}
