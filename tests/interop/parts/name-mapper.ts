/** Both languages put the same prefix before every name: what they share is found under the mapped keys. */
import { describe, expect, it } from 'vitest';
import { fairQueueKey } from '../../../src/keys.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from '../support/context.ts';
import { javaLock } from '../support/java-objects.ts';
import type { JavaPeer } from '../support/java-peer.ts';
import { forEachOf, kindsOf } from '../support/kinds.ts';
import { IN_TIME, LEASE_MS } from '../support/moments.ts';

const LEASE = { leaseMs: LEASE_MS };
const AT_ONCE = { waitMs: 0, leaseMs: LEASE_MS };
const PREFIX = 'app:';
const mapName = (name: string) => `${PREFIX}${name}`;

export function describeNameMapper(interop: Interop): void {
  const { habits } = interop;
  const exists = (key: string) => interop.place.command(key, 'EXISTS', key);
  /** Who stands in the queue of that key. */
  const queue = (key: string) => interop.place.command(key, 'LLEN', fairQueueKey(key));
  const untilQueued = (key: string) => eventually(async () => (await queue(key)) === 1, IN_TIME);

  /** Lets Java and then Node wait for a fair lock that Node holds; resolves with the number in each queue. */
  async function queuesOf(java: JavaPeer, javaKey: string, name: string) {
    const node = await interop.openNode({ mapName });
    const hold = await node.getFairLock(name).lock(LEASE);
    const theirs = javaLock(java, 'fair', name);
    const theirTurn = theirs.lock(LEASE);
    await untilQueued(javaKey);
    await theirs.untilAsleep();
    const before = [await queue(mapName(name)), await queue(name)];
    await hold.unlock();
    return { before, theirs, theirTurn };
  }

  describe('a name mapper in both languages', () => {
    it('every kind of lock excludes the other language under the mapped name', async () => {
      const java = await interop.startJava({ namePrefix: PREFIX });
      const node = await interop.openNode({ mapName });
      const kinds = kindsOf(interop.version).map(([, kind]) => kind);
      const shared = kinds.filter(({ java }) => java !== 'write' || !habits.mapsReadWriteNamesTwice);
      await forEachOf(shared, async (kind) => {
        const name = randomName('interop');
        const theirs = javaLock(java, kind.java, name);
        const hold = await kind.of(node, name).lock(LEASE);
        expect(await exists(mapName(name))).toBe(1);
        expect(await theirs.tryLock(AT_ONCE)).toBe(false);
        expect(await hold.unlock()).toBe(true);
        expect(await theirs.tryLock(AT_ONCE)).toBe(true);
        expect(await kind.of(node, name).tryLock()).toBeNull();
      });
    });

    if (habits.mapsReadWriteNamesTwice) {
      it('this version maps the name of a read/write lock twice: its lock is not that of Node', async () => {
        const java = await interop.startJava({ namePrefix: PREFIX });
        const name = randomName('interop');
        expect(await javaLock(java, 'write', name).tryLock(AT_ONCE)).toBe(true);
        expect(await exists(mapName(name))).toBe(0);
        expect(await exists(mapName(mapName(name)))).toBe(1);
      });
    }

    if (!habits.mapsFairQueues) {
      it('this version queues for a fair lock under the unmapped name: there is no common queue', async () => {
        const java = await interop.startJava({ namePrefix: PREFIX });
        const name = randomName('interop');
        const { before, theirs, theirTurn } = await queuesOf(java, name, name);
        expect(before).toEqual([0, 1]);
        // Nobody calls it. Unless it was just about to look, its own time wakes it, or another of its kind.
        const hasSeen = await Promise.race([
          theirTurn,
          theirs.untilAsleep().then(
            () => false,
            () => true,
          ),
        ]);
        if (hasSeen === false) expect(await javaLock(java, 'fair', name).unlock()).toBe(true);
        expect(await theirTurn).toBe(true);
      });
    } else {
      it('both languages share one fair queue under the mapped name', async () => {
        const java = await interop.startJava({ namePrefix: PREFIX });
        const name = randomName('interop');
        const { before, theirTurn } = await queuesOf(java, mapName(name), name);
        expect(before).toEqual([1, 0]);
        expect(await theirTurn).toBe(true);
      });
    }
  });
}
