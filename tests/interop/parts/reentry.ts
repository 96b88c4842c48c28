/** Who enters several times in one language keeps the other out until the last exit. */
import { describe, expect, it } from 'vitest';
import { ReentryError } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import type { Interop } from '../support/context.ts';
import { javaLock } from '../support/java-objects.ts';
import { kindsOf } from '../support/kinds.ts';
import { LEASE_MS } from '../support/moments.ts';

const LEASE = { leaseMs: LEASE_MS };
const AT_ONCE = { waitMs: 0, leaseMs: LEASE_MS };

export function describeReentry(interop: Interop): void {
  const kinds = kindsOf(interop.version);

  it.each(kinds.filter(([, { isReentrant }]) => isReentrant))(
    '%s entered three times in Java is free after three exits',
    async (_title, kind) => {
      const name = randomName('interop');
      const theirs = javaLock(interop.java, kind.java, name);
      const ours = kind.of(interop.node, name);
      for (let entry = 1; entry <= 3; entry += 1) {
        await theirs.lock(LEASE);
        expect(await theirs.holdCount()).toBe(entry);
      }
      for (let exit = 1; exit <= 3; exit += 1) {
        expect(await ours.tryLock()).toBeNull();
        await theirs.unlock();
      }
      const hold = await ours.tryLock(LEASE);
      expect(await hold?.unlock()).toBe(true);
    },
  );

  it.each(kinds.filter(([, { isReentrant }]) => isReentrant))(
    '%s entered three times in Node is free after three exits',
    async (_title, kind) => {
      const name = randomName('interop');
      const theirs = javaLock(interop.java, kind.java, name);
      const ours = kind.of(interop.node, name);
      const owner = interop.node.owner();
      const holds = [];
      for (let entry = 1; entry <= 3; entry += 1) {
        holds.push(await ours.lock({ ...LEASE, owner }));
        expect(await ours.getHoldCount({ owner })).toBe(entry);
      }
      for (const hold of holds) {
        expect(await theirs.tryLock(AT_ONCE)).toBe(false);
        expect(await hold.unlock()).toBe(true);
      }
      expect(await theirs.tryLock(AT_ONCE)).toBe(true);
      await theirs.unlock();
    },
  );

  const strict = kinds.filter(([, { isReentrant }]) => !isReentrant);
  if (strict.length === 0) return;

  describe.each(strict)('%s', (_title, kind) => {
    it('refuses to be entered twice in either language, and stays held', async () => {
      const name = randomName('interop');
      const theirs = javaLock(interop.java, kind.java, name);
      const ours = kind.of(interop.node, name);
      await theirs.lock(LEASE);
      await expect(theirs.lock(LEASE)).rejects.toThrow('IllegalMonitorStateException');
      expect(await ours.tryLock()).toBeNull();
      await theirs.unlock();
      const owner = interop.node.owner();
      const hold = await ours.lock({ ...LEASE, owner });
      await expect(ours.lock({ ...LEASE, owner })).rejects.toThrow(ReentryError);
      expect(await theirs.tryLock(AT_ONCE)).toBe(false);
      expect(await hold.unlock()).toBe(true);
    });
  });
}
