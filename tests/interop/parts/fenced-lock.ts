/** Fencing tokens rise across languages. */
import { describe, expect, it } from 'vitest';
import { lockChannel, tokenKey } from '../../../src/keys.ts';
import type { Interop } from '../support/context.ts';
import { JavaFencedLock } from '../support/java-objects.ts';
import { LEASE_MS, untilHeard } from '../support/moments.ts';
import { PLAIN_AND_BRACED } from '../support/names.ts';

const LEASE = { leaseMs: LEASE_MS };

function expectRising(tokens: readonly number[]): void {
  expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
}

export function describeFencedLock(interop: Interop): void {
  describe.each(PLAIN_AND_BRACED)('fencing tokens under %s', (_title, makeName) => {
    it('rise from hold to hold in both languages, and both read the same token', async () => {
      const name = makeName();
      const theirs = new JavaFencedLock(interop.java, 'fenced', [name]);
      const ours = interop.node.getFencedLock(name);
      const tokens: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        tokens.push(await theirs.lockToken());
        expect(await ours.getToken()).toBe(tokens.at(-1));
        await theirs.unlock();
        const hold = await ours.lock(LEASE);
        tokens.push(hold.token);
        expect(await theirs.token()).toBe(hold.token);
        await hold.unlock();
        await theirs.lock(LEASE);
        tokens.push(await theirs.token());
        await theirs.unlock();
      }
      expect(tokens).toHaveLength(9);
      expectRising(tokens);
      expect(await interop.place.command(name, 'PTTL', tokenKey(name))).toBe(-1);
    });

    it('rise when Java waits for Node and Node for Java', async () => {
      const name = makeName();
      const theirs = new JavaFencedLock(interop.java, 'fenced', [name]);
      const ours = interop.node.getFencedLock(name);
      const first = await ours.lock(LEASE);
      const theirTurn = theirs.lockToken();
      // The one call that waits without putting its thread to sleep.
      await untilHeard(interop, lockChannel(name));
      await first.unlock();
      const second = await theirTurn;
      const ourTurn = ours.lock(LEASE);
      await untilHeard(interop, lockChannel(name));
      await theirs.unlock();
      const third = await ourTurn;
      expect(await theirs.tryLockToken({ waitMs: 100, ...LEASE })).toBeNull();
      await third.unlock();
      const fourth = (await theirs.tryLockToken({ waitMs: 100, ...LEASE })) as number;
      expectRising([first.token, second, third.token, fourth]);
    });

    it('rise when leases end, and after a lock was forced open', async () => {
      const name = makeName();
      const theirs = new JavaFencedLock(interop.java, 'fenced', [name]);
      const ours = interop.node.getFencedLock(name);
      const first = (await theirs.tryLockToken({ waitMs: 100, leaseMs: 300 })) as number;
      const second = await ours.lock(LEASE);
      expect(await theirs.forceUnlock()).toBe(true);
      const third = await theirs.lockToken();
      expect(await ours.forceUnlock()).toBe(true);
      const fourth = await ours.lock(LEASE);
      expectRising([first, second.token, third, fourth.token]);
      expect(await second.unlock()).toBe(false);
      expect(await fourth.unlock()).toBe(true);
    });
  });
}
