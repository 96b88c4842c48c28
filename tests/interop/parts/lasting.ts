/** How long holds last: until their lease ends, or for as long as their watchdog renews them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LeaseLostError } from '../../../src/index.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from '../support/context.ts';
import {
  forEachOf,
  javaLockOf,
  keysHeldBy,
  kindsOf,
  kindsThatNoticeTheEnd,
  MULTI,
  READ,
} from '../support/kinds.ts';
import { IN_TIME, LEASE_MS } from '../support/moments.ts';

const SHORT_LEASE = { leaseMs: 800 };
const LEASE = { leaseMs: LEASE_MS };
const AT_ONCE = { waitMs: 0, leaseMs: LEASE_MS };

/** Renewed every third of it: a process may stand still for the rest, on a machine that runs many tests at once. */
const WATCHDOG_MS = 8_000;
const LOOK_EVERY_MS = 50;

export function describeLasting(interop: Interop): void {
  const kinds = kindsOf(interop.version).map(([, kind]) => kind);

  it('a lease that ends in Java gives a Node waiter the lock, for every kind', async () => {
    const { java, node } = interop;
    await forEachOf([...kinds, MULTI], async (kind, makeName) => {
      const name = makeName();
      const theirs = javaLockOf(java, kind, name);
      await theirs.lock(SHORT_LEASE);
      const hold = await kind.of(node, name).lock(LEASE);
      await expect(theirs.unlock()).rejects.toThrow('IllegalMonitorStateException');
      expect(await hold.unlock()).toBe(true);
    });
  });

  it('a lease that ends in Node gives a Java waiter the lock, for every kind', async () => {
    const { java, node } = interop;
    await forEachOf([...kindsThatNoticeTheEnd(interop.version), MULTI], async (kind, makeName) => {
      const name = makeName();
      const theirs = javaLockOf(java, kind, name);
      const hold = await kind.of(node, name).lock(SHORT_LEASE);
      await theirs.lock(LEASE);
      expect(() => hold.assertHeld()).toThrow(LeaseLostError);
      expect(await hold.unlock()).toBe(false);
      await theirs.unlock();
    });
  });

  it('watchdogs of both languages keep every kind past its lease, against the other language', async () => {
    const java = await interop.startJava({ watchdogMs: WATCHDOG_MS });
    const node = await interop.openNode({ watchdogMs: WATCHDOG_MS });
    await forEachOf([...kinds, MULTI], async (kind, makeName) => {
      const [theirName, ourName] = [makeName(), makeName()];
      const theirs = javaLockOf(java, kind, theirName);
      await theirs.lock();
      const hold = await kind.of(node, ourName).lock();
      const keys = [...keysHeldBy(kind, theirName), ...keysHeldBy(kind, ourName)];
      await expectKept(interop, keys, 1.25 * WATCHDOG_MS);
      expect(await kind.of(node, theirName).tryLock()).toBeNull();
      expect(await javaLockOf(java, kind, ourName).tryLock(AT_ONCE)).toBe(false);
      hold.assertHeld();
      expect(await hold.unlock()).toBe(true);
      await theirs.unlock();
    });
  });

  it("Java forces a lock open that Node's watchdog renews: Node's signal aborts, for every kind", async () => {
    const node = await interop.openNode({ watchdogMs: WATCHDOG_MS });
    // Redisson cannot force a multi lock open.
    await forEachOf([...kinds, READ], async (kind, makeName) => {
      const name = makeName();
      const hold = await kind.of(node, name).lock();
      expect(await javaLockOf(interop.java, kind, name).forceUnlock()).toBe(true);
      await eventually(() => hold.signal.aborted, IN_TIME);
      expect(hold.signal.reason).toBeInstanceOf(LeaseLostError);
      expect(await hold.unlock()).toBe(false);
    });
  });

  it("Node forces a lock open that Java's watchdog renews: the next holder keeps it, for every kind", async () => {
    const java = await interop.startJava({ watchdogMs: WATCHDOG_MS });
    await forEachOf([...kinds, READ, MULTI], async (kind, makeName) => {
      const [name, other] = [makeName(), makeName()];
      const theirs = javaLockOf(java, kind, name);
      await theirs.lock();
      const ours = kind.of(interop.node, name);
      expect(await ours.forceUnlock()).toBe(true);
      const hold = await ours.lock(LEASE);
      // What the watchdog does for another lock of the same kind, it has by then tried for this one.
      await javaLockOf(java, kind, other).lock();
      await untilRenewedTwice(interop, keysHeldBy(kind, other));
      for (const key of keysHeldBy(kind, name))
        expect(await interop.place.command(key, 'PTTL', key)).toBeGreaterThan(WATCHDOG_MS);
      await expect(theirs.unlock()).rejects.toThrow('IllegalMonitorStateException');
      hold.assertHeld();
      expect(await hold.unlock()).toBe(true);
    });
  });
}

/** Looks at locks for some time: they must be there all along. */
async function expectKept({ place }: Interop, keys: readonly string[], ms: number): Promise<void> {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt) {
    for (const key of keys) expect(await place.command(key, 'PTTL', key)).toBeGreaterThan(0);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Resolves when what is left of each lock's time has gone up twice. */
async function untilRenewedTwice({ place }: Interop, keys: readonly string[]): Promise<void> {
  await Promise.all(
    keys.map(async (key) => {
      let [leftMs, renewals] = [Number.POSITIVE_INFINITY, 0];
      const look = async () => {
        const beforeMs = leftMs;
        leftMs = Number(await place.command(key, 'PTTL', key));
        if (leftMs > beforeMs) renewals += 1;
        return renewals === 2;
      };
      await eventually(look, { ...IN_TIME, everyMs: LOOK_EVERY_MS });
    }),
  );
}
