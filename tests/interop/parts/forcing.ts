/** A lock that one language holds is forced open by the other: whoever waits comes in, the old holder is told. */
import { describe, expect, it } from 'vitest';
import type { Interop } from '../support/context.ts';
import { javaLock } from '../support/java-objects.ts';
import { kindsOf } from '../support/kinds.ts';
import { expectWokenByMessage, LEASE_MS, untilListening, wakeUpMs } from '../support/moments.ts';
import { PLAIN_AND_BRACED } from '../support/names.ts';

const LEASE = { leaseMs: LEASE_MS };

export function describeForcing(interop: Interop): void {
  describe.each(kindsOf(interop.version))('forcing %s open', (_title, kind) => {
    describe.each(PLAIN_AND_BRACED)('under %s', (_style, makeName) => {
      it("Java forces Node's lock open: a Node waiter gets it, and the old hold is lost", () =>
        expectWokenByMessage(async () => {
          const { java, node } = interop;
          const name = makeName();
          const theirs = javaLock(java, kind.java, name);
          const ours = kind.of(node, name);
          const hold = await ours.lock(LEASE);
          const waiting = kind.of(await interop.openNode(), name).lock(LEASE);
          await untilListening(interop, kind, name);
          const forced = theirs.forceUnlock();
          const tookMs = await wakeUpMs(() => forced, waiting);
          expect(await forced).toBe(true);
          expect(await hold.unlock()).toBe(false);
          expect(await (await waiting).unlock()).toBe(true);
          expect(await theirs.forceUnlock()).toBe(false);
          return tookMs;
        }, kind));

      it("Node forces Java's lock open: a Java waiter gets it, and the old holder cannot unlock", () =>
        expectWokenByMessage(async () => {
          const { java, node } = interop;
          const name = makeName();
          const [holder, waiter] = [javaLock(java, kind.java, name), javaLock(java, kind.java, name)];
          const ours = kind.of(node, name);
          await holder.lock(LEASE);
          const waiting = waiter.lock(LEASE);
          await waiter.untilAsleep();
          const forced = ours.forceUnlock();
          const tookMs = await wakeUpMs(() => forced, waiting);
          expect(await forced).toBe(true);
          await expect(holder.unlock()).rejects.toThrow('IllegalMonitorStateException');
          await waiter.unlock();
          expect(await ours.forceUnlock()).toBe(false);
          return tookMs;
        }, kind));
    });
  });
}
