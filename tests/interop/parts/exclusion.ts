/** One language holds, the other is kept out, sees who holds, and gets in once it is over. */
import { describe, expect, it } from 'vitest';
import type { Interop } from '../support/context.ts';
import { javaLock, javaOwner } from '../support/java-objects.ts';
import { kindsOf } from '../support/kinds.ts';
import { givingUp, keysOf, LEASE_MS } from '../support/moments.ts';
import { ALL_NAMES } from '../support/names.ts';

export function describeExclusion(interop: Interop): void {
  describe.each(kindsOf(interop.version))('%s', (_title, kind) => {
    const { java: javaKind, keeps } = kind;
    const fieldOf = (owner: string) => (javaKind === 'write' ? `${owner}:write` : owner);
    const leftOf = (name: string) => (keeps === undefined ? [] : [keeps(name)]);

    describe.each(ALL_NAMES)('under %s', (_title, makeName) => {
      it('Java holds the lock: Node waits until Java unlocks', async () => {
        const { node, java, place } = interop;
        const name = makeName();
        const theirs = javaLock(java, javaKind, name);
        const ours = kind.of(node, name);
        expect(await theirs.tryLock({ leaseMs: LEASE_MS })).toBe(true);
        const field = fieldOf(await javaOwner(java, theirs.thread));
        expect(await place.command(name, 'HGET', name, field)).toBe('1');

        expect(await ours.tryLock()).toBeNull();
        expect(await givingUp((waitMs) => ours.tryLock({ waitMs }))).toBeNull();
        expect(await ours.isLocked()).toBe(true);
        expect(await ours.getRemainingMs()).toBeGreaterThan(LEASE_MS / 2);
        expect(await theirs.holdCount()).toBe(1);

        await theirs.unlock();
        expect(await ours.isLocked()).toBe(false);
        expect(await keysOf(interop, name)).toEqual(leftOf(name));
        const hold = await ours.tryLock({ leaseMs: LEASE_MS });
        expect(await hold?.unlock()).toBe(true);
      });

      it('Node holds the lock: Java waits until Node unlocks', async () => {
        const { node, java } = interop;
        const name = makeName();
        const theirs = javaLock(java, javaKind, name);
        const hold = await kind.of(node, name).lock({ leaseMs: LEASE_MS });

        expect(await theirs.tryLock({ waitMs: 0, leaseMs: LEASE_MS })).toBe(false);
        expect(await givingUp((waitMs) => theirs.tryLock({ waitMs, leaseMs: LEASE_MS }))).toBe(false);
        expect(await theirs.isLocked()).toBe(true);
        expect(await theirs.holdCount()).toBe(0);
        expect(await theirs.remainingMs()).toBeGreaterThan(LEASE_MS / 2);
        await expect(theirs.unlock()).rejects.toThrow('IllegalMonitorStateException');

        hold.assertHeld();
        expect(await hold.unlock()).toBe(true);
        expect(await theirs.isLocked()).toBe(false);
        expect(await keysOf(interop, name)).toEqual(leftOf(name));
        expect(await theirs.tryLock({ leaseMs: LEASE_MS })).toBe(true);
        await theirs.unlock();
      });
    });
  });
}
