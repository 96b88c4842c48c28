/** How long holds last: until their lease ends, or for as long as their watchdog renews them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LeaseLostError } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import type { Interop } from './context.ts';
import { javaLock } from './java-objects.ts';
import { forEachOf, kindsOf, kindsThatNoticeTheEnd } from './kinds.ts';
import { IN_TIME, LEASE_MS } from './moments.ts';

const SHORT_LEASE = { leaseMs: 800 };
const LEASE = { leaseMs: LEASE_MS };
const AT_ONCE = { waitMs: 0, leaseMs: LEASE_MS };

/** Renewed every third of it, and long enough for a machine that is slow for a while. */
const WATCHDOG_MS = 4_000;
const LOOK_EVERY_MS = 50;

export function describeLasting(interop: Interop): void {
  const kinds = kindsOf(interop.version).map(([, kind]) => kind);

  it('a lease that ends in Java lets a Node waiter in, for every kind', async () => {
    const { java, node } = interop;
    await forEachOf(kinds, async (kind) => {
      const name = randomName('interop');
      const theirs = javaLock(java, kind.java, name);
      await theirs.lock(SHORT_LEASE);
      const hold = await kind.of(node, name).lock(LEASE);
      await expect(theirs.unlock()).rejects.toThrow('IllegalMonitorStateException');
      expect(await hold.unlock()).toBe(true);
    });
  });

  it('a lease that ends in Node lets a Java waiter in, for every kind', async () => {
    const { java, node } = interop;
    await forEachOf(kindsThatNoticeTheEnd(interop.version), async (kind) => {
      const name = randomName('interop');
      const theirs = javaLock(java, kind.java, name);
      const hold = await kind.of(node, name).lock(SHORT_LEASE);
      await theirs.lock(LEASE);
      expect(hold.signal.aborted).toBe(true);
      expect(await hold.unlock()).toBe(false);
      await theirs.unlock();
    });
  });

  it('watchdogs of both languages keep every kind past its time, each against the other', async () => {
    const java = await interop.startJava({ watchdogMs: WATCHDOG_MS });
    const node = await interop.openNode({ watchdogMs: WATCHDOG_MS });
    await forEachOf(kinds, async (kind) => {
      const [theirName, ourName] = [randomName('interop'), randomName('interop')];
      const theirs = javaLock(java, kind.java, theirName);
      await theirs.lock();
      const hold = await kind.of(node, ourName).lock();
      await expectKept(interop, [theirName, ourName], 1.5 * WATCHDOG_MS);
      expect(await kind.of(node, theirName).tryLock()).toBeNull();
      expect(await javaLock(java, kind.java, ourName).tryLock(AT_ONCE)).toBe(false);
      hold.assertHeld();
      expect(await hold.unlock()).toBe(true);
      await theirs.unlock();
    });
  });

  it("Java forces a lock open that Node's watchdog renews: Node is told, for every kind", async () => {
    const node = await interop.openNode({ watchdogMs: WATCHDOG_MS });
    await forEachOf(kinds, async (kind) => {
      const name = randomName('interop');
      const hold = await kind.of(node, name).lock();
      expect(await javaLock(interop.java, kind.java, name).forceUnlock()).toBe(true);
      await eventually(() => hold.signal.aborted, IN_TIME);
      expect(hold.signal.reason).toBeInstanceOf(LeaseLostError);
      expect(await hold.unlock()).toBe(false);
    });
  });
}

/** Looks at locks for some time: they must be there all along. */
async function expectKept({ place }: Interop, names: readonly string[], ms: number): Promise<void> {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt) {
    for (const name of names) expect(await place.command(name, 'PTTL', name)).toBeGreaterThan(0);
    await sleep(LOOK_EVERY_MS);
  }
}
