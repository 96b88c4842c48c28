/**
 * The red lock over simple locks shares its keys with the published implementations of the algorithm: on the
 * same three servers, each keeps the other out.
 */
import { createRequire } from 'node:module';
import { Redlock } from '@sesamecare-oss/redlock';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast, type Lock } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { closedAtEnd } from './support/context.ts';
import { Room, rejection } from './support/moments.ts';
import { LEASE_MS, serversForAll, whereHeld } from './support/red-lock-servers.ts';

interface PeerLock {
  extend(leaseMs: number): Promise<unknown>;
  release(): Promise<unknown>;
}

interface Peer {
  /** Rejects when the lock cannot be had by so many attempts. */
  acquire(name: string, leaseMs: number, attempts: number): Promise<PeerLock>;
}

/** What is used of `redlock` 4, which comes without types. */
interface Redlock4 {
  acquire(name: string, leaseMs: number): Promise<PeerLock & { unlock(): Promise<unknown> }>;
}
type Redlock4Class = new (
  clients: unknown[],
  options: { retryCount: number; retryDelay: number },
) => Redlock4;

const RETRY_MS = 20;

function openRedlock4(servers: readonly TestServer[]): Peer {
  const RedlockClass = createRequire(import.meta.url)('redlock') as Redlock4Class;
  const clients = servers.map(({ host, port }) => new Redis5({ host, port }));
  onTestFinished(() => clients.forEach((client) => void client.disconnect()));
  return {
    async acquire(name, leaseMs, attempts) {
      const redlock = new RedlockClass(clients, { retryCount: attempts - 1, retryDelay: RETRY_MS });
      const lock = await redlock.acquire(name, leaseMs);
      return { extend: (ms) => lock.extend(ms), release: () => lock.unlock() };
    },
  };
}

function openSesamecare(servers: readonly TestServer[]): Peer {
  const clients = servers.map(({ host, port }) => new Redis({ host, port }));
  onTestFinished(() => clients.forEach((client) => void client.disconnect()));
  const redlock = new Redlock(clients);
  return {
    async acquire(name, leaseMs, attempts) {
      let lock = await redlock.acquire([name], leaseMs, { retryCount: attempts - 1, retryDelay: RETRY_MS });
      return {
        extend: async (ms) => {
          lock = await lock.extend(ms);
        },
        release: () => lock.release(),
      };
    },
  };
}

async function openOurs(servers: readonly TestServer[]): Promise<(name: string) => Lock> {
  const clients = await Promise.all(
    servers.map(async ({ url }) => closedAtEnd(await Holdfast.connect(url, { watchdogMs: LEASE_MS }))),
  );
  const [first] = clients as [Holdfast, ...Holdfast[]];
  return (name) => first.getRedLock(...clients.map((client) => client.getSimpleLock(name)));
}

describeWithProcess('red lock over simple locks, beside', () => {
  const servers = serversForAll(3);

  describe.each([
    ['redlock 4', openRedlock4],
    ['@sesamecare-oss/redlock', openSesamecare],
  ])('%s', (_, openPeer) => {
    it('keeps the library out, while the lock is held and renewed', async () => {
      const peer = openPeer(servers);
      const lock = (await openOurs(servers))(randomName());
      const hold = await lock.lock();
      await rejection(peer.acquire(lock.name, LEASE_MS, 2));
      const from = performance.now();
      await eventually(() => performance.now() - from > LEASE_MS + 500, { withinMs: 2 * LEASE_MS });
      await rejection(peer.acquire(lock.name, LEASE_MS, 2));
      hold.assertHeld();
      // A member that answered too late is given up: the lock promises a majority.
      expect((await whereHeld(servers, lock)).length).toBeGreaterThanOrEqual(2);
      expect(await hold.unlock()).toBe(true);
      const theirs = await peer.acquire(lock.name, LEASE_MS, 10);
      expect(await lock.tryLock()).toBeNull();
      await theirs.release();
    });

    it('is kept out by the library, while its lock is held and extended', async () => {
      const peer = openPeer(servers);
      const lock = (await openOurs(servers))(randomName());
      const theirs = await peer.acquire(lock.name, 2_000, 1);
      expect(await lock.tryLock()).toBeNull();
      await theirs.extend(30_000);
      expect(await lock.tryLock({ waitMs: 2_500 })).toBeNull();
      expect(await lock.isLocked()).toBe(true);
      const waiting = lock.lock();
      await theirs.release();
      const hold = await waiting;
      await rejection(peer.acquire(lock.name, LEASE_MS, 1));
      expect(await hold.unlock()).toBe(true);
      await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([]));
    });

    it("does not touch the library's lock, and takes the lock once its lease has ended", async () => {
      const peer = openPeer(servers);
      const lock = (await openOurs(servers))(randomName());
      const hold = await lock.lock({ leaseMs: 600 });
      await eventually(() => hold.signal.aborted);
      await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([]));
      await peer.acquire(lock.name, 3_000, 1);
      expect(await hold.unlock()).toBe(false);
      await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([0, 1, 2]));
      // It goes without a word; its keys expire.
      expect(await (await lock.lock()).unlock()).toBe(true);
    });

    it('excludes the library, one holder at a time', async () => {
      const peer = openPeer(servers);
      const ours = await openOurs(servers);
      const name = randomName();
      const room = new Room();
      const stay = () => new Promise<void>((resolve) => setImmediate(resolve));
      const theirTurns = async () => {
        for (let turn = 0; turn < 5; turn += 1) {
          const held = await peer.acquire(name, LEASE_MS, 500);
          await room.visit('theirs', stay);
          await held.release();
        }
      };
      const ourTurns = async () => {
        for (let turn = 0; turn < 5; turn += 1) await ours(name).withLock(() => room.visit('ours', stay));
      };
      await Promise.all([theirTurns(), ourTurns()]);
      expect(room.visitors).toHaveLength(10);
      expect(room.most).toBe(1);
    });
  });
});
