/** A process dies with what it holds or waits for: the other language goes on when its time is over. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fairQueueKey, fairTimeoutKey } from '../../../src/keys.ts';
import { spawnChild } from '../../harness/child.ts';
import type { TestChild } from '../../harness/child-process.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { HoldSettings } from '../children/holds.ts';
import type { Interop } from '../support/context.ts';
import { JavaPermits, javaLock } from '../support/java-objects.ts';
import {
  javaLockOf,
  type Kind,
  kindsOf,
  kindsThatNoticeTheEnd,
  MULTI,
  nameMakerAt,
  READ,
  WRITE,
} from '../support/kinds.ts';
import { IN_TIME, isPending, LEASE_MS, untilListening } from '../support/moments.ts';

const LEASE = { leaseMs: LEASE_MS };
/** Renewed every third of it: a process may stand still for the rest, on a machine that runs many tests at once. */
const WATCHDOG_MS = 8_000;
const FAIR_WAIT_MS = 3_000;
const HOLDS = fileURLToPath(new URL('../children/holds.ts', import.meta.url));

interface Loss {
  /** What the process that dies holds. */
  readonly held: Kind;
  /** What somebody of the other language waits for meanwhile. */
  readonly wanted: Kind;
  readonly name: string;
}

/** One of every kind, a multi lock, and a reader that keeps a writer waiting; every other name has braces. */
function losses(kinds: readonly Kind[]): Loss[] {
  const exclusive = [...kinds, MULTI].map((kind) => ({ held: kind, wanted: kind }));
  const all = [...exclusive, { held: READ, wanted: WRITE }];
  return all.map((pair, index) => ({ ...pair, name: nameMakerAt(index)() }));
}

async function nodeThatHolds(interop: Interop, settings: Partial<HoldSettings>): Promise<TestChild> {
  const all: HoldSettings = {
    target: interop.place.nodeTarget,
    watchdogMs: WATCHDOG_MS,
    fairWaitMs: FAIR_WAIT_MS,
    holds: [],
    ...settings,
  };
  const child = spawnChild(HOLDS, { args: [JSON.stringify(all)] });
  await child.next(({ ready }) => ready === true);
  return child;
}

export function describeCrashes(interop: Interop): void {
  const kinds = kindsOf(interop.version).map(([, kind]) => kind);
  const queued = (name: string) => interop.place.command(name, 'LLEN', fairQueueKey(name));

  describe('crashes', () => {
    it('the JVM is killed: Node gets every lock that the JVM held', async () => {
      const victim = await interop.startJava({ watchdogMs: WATCHDOG_MS });
      const all = losses(kinds);
      await Promise.all(all.map(({ held, name }) => javaLockOf(victim, held, name).lock()));
      const waiting = all.map(({ wanted, name }) => wanted.of(interop.node, name).lock(LEASE));
      await Promise.all(all.map(({ wanted, name }) => untilListening(interop, wanted, name)));
      expect(await isPending(interop, Promise.race(waiting))).toBe(true);
      await victim.kill();
      for (const hold of await Promise.all(waiting)) expect(await hold.unlock()).toBe(true);
    });

    it('a Node process is killed: Java gets every lock that the process held', async () => {
      const all = losses(kindsThatNoticeTheEnd(interop.version));
      const victim = await nodeThatHolds(interop, { holds: all.map(({ held, name }) => [held.java, name]) });
      const locks = all.map(({ wanted, name }) => javaLockOf(interop.java, wanted, name));
      const waiting = locks.map((lock) => lock.lock(LEASE));
      await Promise.all(locks.map((lock) => lock.untilAsleep()));
      expect(await isPending(interop, Promise.race(waiting))).toBe(true);
      victim.kill();
      await Promise.all(waiting);
      await Promise.all(locks.map((lock) => lock.unlock()));
    });

    it('the JVM is killed in a fair queue: the waiters behind it get their turn', async () => {
      const { place } = interop;
      const victim = await interop.startJava();
      const name = `{${randomName('tag')}}:interop`;
      const [dying, behind] = [javaLock(victim, 'fair', name), javaLock(interop.java, 'fair', name)];
      const ours = interop.node.getFairLock(name);
      const hold = await ours.lock(LEASE);
      void dying.lock(LEASE);
      await eventually(async () => (await queued(name)) === 1, IN_TIME);
      const second = ours.lock(LEASE);
      await eventually(async () => (await queued(name)) === 2, IN_TIME);
      const third = behind.lock(LEASE);
      await eventually(async () => (await queued(name)) === 3, IN_TIME);
      await victim.kill();
      // Minutes pass: by Redisson's rule the head of the queue is dead now.
      const head = await place.command(name, 'LINDEX', fairQueueKey(name), 0);
      await place.command(name, 'ZADD', fairTimeoutKey(name), 1, String(head));
      expect(await hold.unlock()).toBe(true);
      expect(await (await second).unlock()).toBe(true);
      await third;
      await behind.unlock();
      expect(await queued(name)).toBe(0);
    });

    it('a Node process is killed in a fair queue: the waiters behind it get their turn', async () => {
      const name = randomName('interop');
      const behind = javaLock(interop.java, 'fair', name);
      const ours = interop.node.getFairLock(name);
      const hold = await ours.lock(LEASE);
      const victim = await nodeThatHolds(interop, { waitsFor: name });
      await eventually(async () => (await queued(name)) === 1, IN_TIME);
      const second = behind.lock(LEASE);
      await eventually(async () => (await queued(name)) === 2, IN_TIME);
      const third = ours.lock(LEASE);
      await eventually(async () => (await queued(name)) === 3, IN_TIME);
      victim.kill();
      await victim.exited;
      expect(await hold.unlock()).toBe(true);
      await second;
      await behind.unlock();
      expect(await (await third).unlock()).toBe(true);
      expect(await queued(name)).toBe(0);
    });

    it('the JVM is killed with leased permits: Node gets the permits', async () => {
      const victim = await interop.startJava();
      const name = randomName('interop');
      const permits = interop.node.getPermitExpirableSemaphore(name);
      await permits.trySetPermits(1);
      await new JavaPermits(victim, 'permits', [name]).acquire({ leaseMs: 1_500 });
      const waiting = permits.acquire(LEASE);
      await victim.kill();
      expect(await (await waiting).release()).toBe(true);
      expect(await permits.availablePermits()).toBe(1);
    });
  });
}
