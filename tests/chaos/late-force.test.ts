/**
 * A forced release, or a theft, that arrives late or once more: it ends the holders that were there when it was asked
 * for, and none that came after them.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Holdfast, type Lock, OutcomeUnknownError } from '../../src/index.ts';
import * as scripts from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { arena, join, leftovers, scriptCalls } from './support/arena.ts';
import { runs } from './support/requests.ts';

interface Forced {
  readonly title: string;
  get(client: Holdfast, name: string): Lock;
  readonly script: { readonly sha1: string };
}

const FORCED: readonly Forced[] = [
  { title: 'getLock', get: (client, name) => client.getLock(name), script: scripts.lockForceRelease },
  {
    title: 'getNonReentrantLock',
    get: (client, name) => client.getNonReentrantLock(name),
    script: scripts.lockForceRelease,
  },
  { title: 'getSpinLock', get: (client, name) => client.getSpinLock(name), script: scripts.lockForceRelease },
  {
    title: 'getFencedLock',
    get: (client, name) => client.getFencedLock(name),
    script: scripts.lockForceRelease,
  },
  {
    title: 'getFairLock',
    get: (client, name) => client.getFairLock(name),
    script: scripts.fairLockForceRelease,
  },
  {
    title: 'getSimpleLock',
    get: (client, name) => client.getSimpleLock(name),
    script: scripts.simpleLockForceRelease,
  },
  {
    title: 'readLock',
    get: (client, name) => client.getReadWriteLock(name).readLock(),
    script: scripts.readWriteLockForceRelease,
  },
  {
    title: 'writeLock',
    get: (client, name) => client.getReadWriteLock(name).writeLock(),
    script: scripts.readWriteLockForceRelease,
  },
];

/** As if the time for which the server remembers answers and ended owners had passed. */
async function forgetAnswers(server: TestServer, name: string): Promise<void> {
  const keys = [...(await leftovers(server)).keys()];
  const answers = keys.filter((key) => key.startsWith(`redisson_unlock_latch:{${name}}:`));
  if (answers.length > 0) await server.command('DEL', ...answers);
}

describeWithProcess('forceUnlock', () => {
  it.each(FORCED)(
    'of $title reaches the server after its holder has left: the next holder keeps the lock',
    async ({ get, script }) => {
      const { server, proxy } = await arena();
      const name = randomName();
      const lock = get(await join('Holdfast.connect', server), name);
      const first = await lock.lock();
      const late = proxy.holdRequest(runs(script));
      const forced = get(await join('Holdfast.connect', proxy), name).forceUnlock();
      await late.held;
      expect(await first.unlock()).toBe(true);
      const second = await lock.lock();
      late.release();
      expect(await forced).toBe(true);
      expect(await second.unlock()).toBe(true);
    },
  );

  it.each(FORCED)(
    'of $title is repeated after the server has forgotten its answer: the next holder keeps the lock',
    async ({ get, script }) => {
      const { server, proxy } = await arena();
      const name = randomName();
      const lock = get(await join('Holdfast.connect', server), name);
      const first = await lock.lock();
      const swallowed = proxy.swallowReply(runs(script));
      const forced = get(await join('default ioredis 6', proxy), name).forceUnlock();
      await swallowed;
      const repeat = proxy.holdRequest(runs(script));
      await repeat.held;
      const second = await lock.lock();
      await forgetAnswers(server, name);
      repeat.release();
      expect(await forced).toBe(true);
      expect(await first.unlock()).toBe(false);
      expect(await second.unlock()).toBe(true);
    },
  );

  it('is repeated after a Redisson thread took the lock again under the same field: its second hold stays', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const owner = `${randomUUID()}:37`;
    const lockInJava = async () => {
      expect(await server.command('HSET', name, owner, 1)).toBe(1);
      await server.command('PEXPIRE', name, 60_000);
    };
    await lockInJava();
    const swallowed = proxy.swallowReply(runs(scripts.lockForceRelease));
    const forced = (await join('default ioredis 6', proxy)).getLock(name).forceUnlock();
    await swallowed;
    await lockInJava();
    expect(await forced).toBe(true);
    expect(await server.command('HGETALL', name)).toEqual([owner, '1']);
  });

  it('of the read lock: a reader that joined after the call keeps its hold', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const lock = (await join('Holdfast.connect', server)).getReadWriteLock(name).readLock();
    const first = await lock.lock({ leaseMs: 90_000 });
    const late = proxy.holdRequest(runs(scripts.readWriteLockForceRelease));
    const forced = (await join('Holdfast.connect', proxy)).getReadWriteLock(name).readLock().forceUnlock();
    await late.held;
    const joined = await lock.lock({ leaseMs: 40_000 });
    late.release();
    expect(await forced).toBe(true);
    expect(await server.command('HGETALL', name)).toEqual(['mode', 'read', joined.owner, '1']);
    // The lock lasts as long as its last reader, not as long as the one that was ended.
    expect(await server.command('PTTL', name)).toBeLessThanOrEqual(40_000);
    expect(await first.unlock()).toBe(false);
    expect(await joined.unlock()).toBe(true);
    expect(await server.command('EXISTS', name)).toBe(0);
  });
});

describeWithProcess('a theft', () => {
  describe.each(['exclusive', 'shared'] as const)('of a lock held in mode %s', (mode) => {
    it('that runs after its caller gave up and its owner is forgotten takes no lock', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const both = (await join('Holdfast.connect', server)).getReadWriteLock(name);
      const lock = mode === 'shared' ? both.readLock() : both.writeLock();
      const first = await lock.lock();
      const zombie = proxy.holdRequest(runs(scripts.readWriteLockSteal));
      const thief = await join('Holdfast.connect', proxy, { commandTimeoutMs: 300 });
      const theft = thief.locks.request(name, { steal: true }, () => expect.unreachable('it has the lock'));
      await expect(theft).rejects.toBeInstanceOf(OutcomeUnknownError);
      proxy.dropConnections();
      const marker = `redisson_unlock_latch:{${name}}:${thief.id}`;
      await eventually(async () =>
        [...(await leftovers(server)).keys()].some((key) => key.startsWith(marker)),
      );
      expect(await first.unlock()).toBe(true);
      const second = await lock.lock();
      await forgetAnswers(server, name);
      const before = await scriptCalls(server);
      zombie.release();
      await eventually(async () => (await scriptCalls(server)) > before);
      expect(await second.unlock()).toBe(true);
    });

    it('whose victim left while it was in flight takes the lock from the next holder', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const both = (await join('Holdfast.connect', server)).getReadWriteLock(name);
      const lock = mode === 'shared' ? both.readLock() : both.writeLock();
      const first = await lock.lock();
      const late = proxy.holdRequest(runs(scripts.readWriteLockSteal));
      const thief = await join('Holdfast.connect', proxy);
      const theft = thief.locks.request(name, { steal: true }, async ({ owner }) => {
        expect(await server.command('HGETALL', name)).toEqual(['mode', 'write', owner, '1']);
        return 'stolen';
      });
      await late.held;
      expect(await first.unlock()).toBe(true);
      const second = await lock.lock();
      late.release();
      expect(await theft).toBe('stolen');
      expect(await second.unlock()).toBe(false);
    });
  });
});
