/** Who waits in one language is woken by the other: by a message, long before the lease ends. */
import { describe, expect, it } from 'vitest';
import { randomName } from '../../harness/names.ts';
import type { Interop } from '../support/context.ts';
import { javaLock } from '../support/java-objects.ts';
import { kindsOf, WRITE } from '../support/kinds.ts';
import { expectWokenByMessage, LEASE_MS, untilListening, wakeUpMs } from '../support/moments.ts';
import { PLAIN_AND_BRACED } from '../support/names.ts';

const LEASE = { leaseMs: LEASE_MS };
const LONG_WAIT = { waitMs: LEASE_MS / 2, leaseMs: LEASE_MS };

export function describeWaking(interop: Interop): void {
  describe.each(kindsOf(interop.version))('waiting for %s', (_title, kind) => {
    describe.each(PLAIN_AND_BRACED)('under %s', (_style, makeName) => {
      it("Java's unlock wakes Node", () =>
        expectWokenByMessage(async () => {
          const name = makeName();
          const theirs = javaLock(interop.java, kind.java, name);
          await theirs.lock(LEASE);
          const waiting = kind.of(interop.node, name).lock(LEASE);
          await untilListening(interop, kind, name);
          const tookMs = await wakeUpMs(() => theirs.unlock(), waiting);
          expect(await (await waiting).unlock()).toBe(true);
          return tookMs;
        }, kind));

      it("Node's unlock wakes Java", () =>
        expectWokenByMessage(async () => {
          const name = makeName();
          const theirs = javaLock(interop.java, kind.java, name);
          const hold = await kind.of(interop.node, name).lock(LEASE);
          const waiting = theirs.lock(LEASE);
          await theirs.untilAsleep();
          const tookMs = await wakeUpMs(() => hold.unlock(), waiting);
          await theirs.unlock();
          return tookMs;
        }, kind));
    });

    it('also wakes waiters with a time limit', async () => {
      await expectWokenByMessage(async () => {
        const name = randomName('interop');
        const theirs = javaLock(interop.java, kind.java, name);
        const ours = kind.of(interop.node, name);
        await theirs.lock(LEASE);
        const waiting = ours.tryLock(LONG_WAIT);
        await untilListening(interop, kind, name);
        const nodeMs = await wakeUpMs(() => theirs.unlock(), waiting);
        const hold = await waiting;
        expect(hold).not.toBeNull();
        const theirTurn = theirs.tryLock(LONG_WAIT);
        await theirs.untilAsleep();
        const javaMs = await wakeUpMs(async () => hold?.unlock(), theirTurn);
        expect(await theirTurn).toBe(true);
        await theirs.unlock();
        return Math.max(nodeMs, javaMs);
      }, kind);
    });

    it('serves three of each language, one after the other', async () => {
      const name = randomName('interop');
      const ours = kind.of(interop.node, name);
      const first = await ours.lock(LEASE);
      let inside = 0;
      const visit = async (leave: () => Promise<unknown>) => {
        inside += 1;
        expect(inside).toBe(1);
        // Both languages get a chance to come in too early.
        await interop.place.command(name, 'PING');
        inside -= 1;
        await leave();
      };
      const threads = [1, 2, 3].map(() => javaLock(interop.java, kind.java, name));
      const theirVisits = threads.map(async (lock) => {
        await lock.lock(LEASE);
        await visit(() => lock.unlock());
      });
      const ourVisits = [1, 2, 3].map(async () => {
        const hold = await ours.lock(LEASE);
        await visit(() => hold.unlock());
      });
      await Promise.all(threads.map((lock) => lock.untilAsleep()));
      await first.unlock();
      const visited = Promise.all([...theirVisits, ...ourVisits]).then(() => true);
      // A thread of Java that is just going to sleep misses the message of a writer, which wakes all who sleep and
      // leaves nothing behind. The next release wakes it; here there may be none, so there is one now and then.
      const next = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), 1_000));
      while (kind === WRITE && !(await Promise.race([visited, next()]))) {
        await (await ours.tryLock(LEASE))?.unlock();
      }
      await visited;
      expect(await ours.isLocked()).toBe(false);
    });
  });
}
