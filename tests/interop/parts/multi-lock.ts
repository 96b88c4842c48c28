/** Several locks taken as one in one language, against the same locks in the other. */
import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../../src/index.ts';
import { lockChannel } from '../../../src/keys.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from '../support/context.ts';
import { javaLock, javaMultiLock } from '../support/java-objects.ts';
import { expectWokenByMessage, IN_TIME, LEASE_MS, untilHeard, wakeUpMs } from '../support/moments.ts';
import { PLAIN_AND_BRACED } from '../support/names.ts';

const LEASE = { leaseMs: LEASE_MS };
const AT_ONCE = { waitMs: 0, leaseMs: LEASE_MS };
const SHORT_WAIT_MS = 200;
/** A loss is noticed within a third of it. */
const WATCHDOG_MS = 6_000;

export function describeMultiLock(interop: Interop): void {
  const ourMulti = (names: readonly string[], client = interop.node) =>
    client.getMultiLock(...names.map((name) => client.getLock(name)));

  describe('a multi lock', () => {
    describe.each(PLAIN_AND_BRACED)('under %s', (_title, makeName) => {
      const two = () => [makeName(), makeName()] as const;

      it('of Node keeps Java out of each of its locks, and of all together', async () => {
        const names = two();
        const hold = await ourMulti(names).lock(LEASE);
        for (const name of names)
          expect(await javaLock(interop.java, 'lock', name).tryLock(AT_ONCE)).toBe(false);
        const theirs = javaMultiLock(interop.java, names);
        expect(await theirs.tryLock({ waitMs: SHORT_WAIT_MS, ...LEASE })).toBe(false);
        expect(await hold.unlock()).toBe(true);
        expect(await theirs.tryLock()).toBe(true);
        await theirs.unlock();
      });

      it('of Java keeps Node out of each of its locks, and of all together', async () => {
        const names = two();
        const theirs = javaMultiLock(interop.java, names);
        expect(await theirs.tryLock()).toBe(true);
        for (const name of names) expect(await interop.node.getLock(name).tryLock()).toBeNull();
        expect(await ourMulti(names).tryLock({ waitMs: SHORT_WAIT_MS })).toBeNull();
        await theirs.unlock();
        const hold = await ourMulti(names).tryLock(LEASE);
        expect(await hold?.unlock()).toBe(true);
      });

      it('that cannot take all locks keeps none', async () => {
        const names = two();
        const [first, second] = names;
        const theirs = javaLock(interop.java, 'lock', second);
        await theirs.lock(LEASE);
        expect(await ourMulti(names).tryLock()).toBeNull();
        expect(await interop.place.command(first, 'EXISTS', first)).toBe(0);
        await theirs.unlock();
        const hold = await interop.node.getLock(second).lock(LEASE);
        expect(await javaMultiLock(interop.java, names).tryLock()).toBe(false);
        expect(await interop.place.command(first, 'EXISTS', first)).toBe(0);
        await hold.unlock();
      });

      it('of Node wakes Java when it is unlocked, and a multi lock of Java wakes Node', () =>
        expectWokenByMessage(async () => {
          const names = two();
          const theirs = javaMultiLock(interop.java, names);
          const hold = await ourMulti(names).lock(LEASE);
          const theirTurn = theirs.lock();
          await theirs.untilAsleep();
          const javaMs = await wakeUpMs(() => hold.unlock(), theirTurn);
          const ourTurn = ourMulti(names).lock(LEASE);
          await untilHeard(interop, lockChannel([...names].sort()[0] as string));
          const nodeMs = await wakeUpMs(() => theirs.unlock(), ourTurn);
          expect(await (await ourTurn).unlock()).toBe(true);
          return Math.max(javaMs, nodeMs);
        }));

      it("Node forces Java's lock open: a Java waiter gets it, and the old holder cannot unlock", () =>
        expectWokenByMessage(async () => {
          const names = two();
          const [holder, waiter] = [javaMultiLock(interop.java, names), javaMultiLock(interop.java, names)];
          await holder.lock(LEASE);
          const waiting = waiter.lock(LEASE);
          await waiter.untilAsleep();
          const forced = ourMulti(names).forceUnlock();
          const tookMs = await wakeUpMs(() => forced, waiting);
          expect(await forced).toBe(true);
          await expect(holder.unlock()).rejects.toThrow('IllegalMonitorStateException');
          await waiter.unlock();
          expect(await ourMulti(names).forceUnlock()).toBe(false);
          return tookMs;
        }));

      it('Java cannot force a multi lock open; forcing one member ends the hold of Node', async () => {
        const names = two();
        const hold = await ourMulti(names, await interop.openNode({ watchdogMs: WATCHDOG_MS })).lock();
        const theirs = javaMultiLock(interop.java, names);
        await expect(theirs.forceUnlock()).rejects.toThrow('UnsupportedOperationException');
        hold.assertHeld();
        expect(await javaLock(interop.java, 'lock', names[1]).forceUnlock()).toBe(true);
        await eventually(() => hold.signal.aborted, IN_TIME);
        expect(hold.signal.reason).toBeInstanceOf(LeaseLostError);
        expect(await hold.unlock()).toBe(false);
        expect(await theirs.tryLock()).toBe(true);
        await theirs.unlock();
      });
    });
  });
}
