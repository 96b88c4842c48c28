/**
 * The read/write lock under faults: replies lost after execution, readers and writers that are killed, wake-ups
 * that never arrive.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Hold, Holdfast } from '../../src/index.ts';
import * as scripts from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import {
  arena,
  join,
  leftovers,
  listenTo,
  SLACK_MS,
  scriptCalls,
  seen,
  subscribersOf,
  timed,
} from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { runs } from './support/requests.ts';

const CHILD = fileURLToPath(new URL('./children/read-write-lock-holds.ts', import.meta.url));
const WATCHDOG_MS = 1_500;

const READ = {
  acquire: runs(scripts.readWriteLockReadAcquire),
  enter: runs(scripts.readWriteLockReadEnter),
  leave: runs(scripts.readWriteLockReadLeave),
  renew: runs(scripts.readWriteLockReadRenew),
  release: runs(scripts.readWriteLockReadRelease),
};
const WRITE = {
  acquire: runs(scripts.readWriteLockWriteAcquire),
  release: runs(scripts.readWriteLockWriteRelease),
};
const SWEEP = runs(scripts.readWriteLockSweep);
const FORCE = runs(scripts.readWriteLockForceRelease);
const STEAL = runs(scripts.readWriteLockSteal);

const channelOf = (name: string) => `redisson_rwlock:{${name}}`;

async function fieldsOn(server: TestServer, name: string): Promise<Record<string, string>> {
  const flat = (await server.command('HGETALL', name)) as string[];
  const fields: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) fields[flat[i] as string] = flat[i + 1] as string;
  return fields;
}

/** What is left of a lock besides the memory of answers. */
async function remains(server: TestServer): Promise<string[]> {
  return [...(await leftovers(server)).keys()].filter((key) => !key.startsWith('redisson_unlock_latch:'));
}

const holdKey = (name: string, { owner }: Hold, hold: number) => `{${name}}:${owner}:rwlock_timeout:${hold}`;

describeWithProcess('read/write lock: reply lost after execution', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('of a read acquire, a re-entry, a leave and a release: each counts once', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const client = await join(way, proxy);
      const lock = client.getReadWriteLock(name).readLock();
      const owner = client.owner();
      const acquired = proxy.swallowReply(READ.acquire);
      const first = await lock.lock({ owner });
      await acquired;
      expect(await fieldsOn(server, name)).toEqual({ mode: 'read', [first.owner]: '1' });

      const entered = proxy.swallowReply(READ.enter);
      await lock.lock({ owner });
      await entered;
      expect(await fieldsOn(server, name)).toEqual({ mode: 'read', [first.owner]: '2' });
      expect((await remains(server)).sort()).toEqual(
        [name, holdKey(name, first, 1), holdKey(name, first, 2)].sort(),
      );

      const left = proxy.swallowReply(READ.leave);
      await lock.unlock({ owner });
      await left;
      expect(await fieldsOn(server, name)).toEqual({ mode: 'read', [first.owner]: '1' });
      expect((await remains(server)).sort()).toEqual([name, holdKey(name, first, 1)].sort());

      const released = proxy.swallowReply(READ.release);
      await lock.unlock({ owner });
      await released;
      expect(await remains(server)).toEqual([]);
    });

    it('of a write acquire and its release: there is one hold, and an owner that took it in between keeps it', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const lock = (await join(way, proxy)).getReadWriteLock(name).writeLock();
      const acquired = proxy.swallowReply(WRITE.acquire);
      const hold = await lock.lock();
      await acquired;
      expect(await fieldsOn(server, name)).toEqual({ mode: 'write', [hold.owner]: '1' });
      const rival = (await join('Holdfast.connect', server)).getReadWriteLock(name).readLock().lock();
      const released = proxy.swallowReply(WRITE.release);
      expect(await hold.unlock()).toBe(true);
      await released;
      const theirs = await rival;
      expect(await fieldsOn(server, name)).toEqual({ mode: 'read', [theirs.owner]: '1' });
      expect(await theirs.unlock()).toBe(true);
    });

    it('of a downgrade: the reader keeps reading, once', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const client = await join(way, proxy);
      const lock = client.getReadWriteLock(name);
      const owner = client.owner();
      const writing = await lock.writeLock().lock({ owner });
      const reading = await lock.readLock().lock({ owner });
      const released = proxy.swallowReply(WRITE.release);
      expect(await writing.unlock()).toBe(true);
      await released;
      expect(await fieldsOn(server, name)).toEqual({ mode: 'read', [reading.owner]: '1' });
      reading.assertHeld();
      expect(await reading.unlock()).toBe(true);
      expect(await remains(server)).toEqual([]);
    });

    it('of a renewal of readers: the holds are renewed again in time and kept', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const client = await join(way, proxy, { watchdogMs: WATCHDOG_MS });
      const { lost } = listenTo(client);
      const lock = client.getReadWriteLock(name).readLock();
      const holds = [await lock.lock(), await lock.lock()];
      await proxy.swallowReply(READ.renew);
      for (let renewal = 0; renewal < 4; renewal += 1) await seen(proxy, READ.renew);
      for (const hold of holds) hold.assertHeld();
      expect(lost).toEqual([]);
      expect(await remains(server)).toHaveLength(3);
      for (const hold of holds) expect(await hold.unlock()).toBe(true);
      expect(await remains(server)).toEqual([]);
    });
  });

  it('of a sweep: the last reader frees the lock of dead readers, and the writer gets it', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const leaving = (await join('Holdfast.connect', proxy)).getReadWriteLock(name).readLock();
    const writer = (await join('Holdfast.connect', server)).getReadWriteLock(name).writeLock();
    const reading = await leaving.lock();
    await server.command('HSET', name, 'dead:1', 1);
    const writing = writer.lock();
    await eventually(async () => (await subscribersOf(server, channelOf(name))) === 1);
    const swept = proxy.swallowReply(SWEEP);
    expect(await reading.unlock()).toBe(true);
    await swept;
    const { owner } = await writing;
    expect(await fieldsOn(server, name)).toEqual({ mode: 'write', [owner]: '1' });
  });

  it('of a forced release: the lock is freed once, and an owner that took it in between keeps it', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const others = await join('Holdfast.connect', server);
    const first = await others.getReadWriteLock(name).readLock().lock();
    const swallowed = proxy.swallowReply(FORCE);
    const forced = (await join('Holdfast.connect', proxy)).getReadWriteLock(name).readLock().forceUnlock();
    await swallowed;
    const second = await others.getReadWriteLock(name).readLock().lock();
    expect(await forced).toBe(true);
    expect(await fieldsOn(server, name)).toEqual({ mode: 'read', [second.owner]: '1' });
    expect(await first.unlock()).toBe(false);
  });

  it('of a theft: there is one hold', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    await (await join('Holdfast.connect', server)).getReadWriteLock(name).readLock().lock();
    const swallowed = proxy.swallowReply(STEAL);
    const client = await join('Holdfast.connect', proxy);
    await client.locks.request(name, { steal: true }, async ({ owner }) => {
      await swallowed;
      expect(await fieldsOn(server, name)).toEqual({ mode: 'write', [owner]: '1' });
    });
    expect(await server.command('EXISTS', name)).toBe(0);
  });
});

describeWithProcess('read/write lock: a reader that arrives while another leaves', () => {
  it('counts with the others: the lock gets its lease and not that of the reader that left', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const leaving = (await join('Holdfast.connect', proxy)).getReadWriteLock(name).readLock();
    const coming = (await join('Holdfast.connect', server)).getReadWriteLock(name).readLock();
    const long = await leaving.lock({ leaseMs: 90_000 });
    await server.command('HSET', name, 'dead:1', 1);
    const sweep = proxy.holdRequest(SWEEP);
    const released = long.unlock();
    await eventually(async () => (await server.command('HEXISTS', name, long.owner)) === 0);
    const short = await coming.lock({ leaseMs: 40_000 });
    sweep.release();
    expect(await released).toBe(true);
    const endsAt = (key: string) => server.command('PEXPIRETIME', key);
    // The server looks at one and writes the other, and a millisecond may pass between.
    expect(
      Math.abs(Number(await endsAt(name)) - Number(await endsAt(holdKey(name, short, 1)))),
    ).toBeLessThanOrEqual(1);
    expect(await fieldsOn(server, name)).toEqual({ mode: 'read', 'dead:1': '1', [short.owner]: '1' });
    expect(await short.unlock()).toBe(true);
    expect(await remains(server)).toEqual([]);
  });
});

describeWithProcess('read/write lock: an acquire that is given up', () => {
  it.each(['readLock', 'writeLock'] as const)('%s: arrives late and takes nothing', async (side) => {
    const { server, proxy } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', proxy, { commandTimeoutMs: 300 });
    const zombie = proxy.holdRequest(side === 'readLock' ? READ.acquire : WRITE.acquire);
    const tried = await timed(client.getReadWriteLock(name)[side]().tryLock());
    expect(tried.error).toMatchObject({ code: 'ERR_OUTCOME_UNKNOWN' });
    proxy.dropConnections();
    // The owner is barred on another connection before what was held back is let go.
    const marker = `redisson_unlock_latch:{${name}}:`;
    await eventually(async () => [...(await leftovers(server)).keys()].some((key) => key.startsWith(marker)));
    const before = await scriptCalls(server);
    zombie.release();
    await eventually(async () => (await scriptCalls(server)) > before);
    expect(await remains(server)).toEqual([]);
    const other = await join('Holdfast.connect', server);
    const hold = await other.getReadWriteLock(name).writeLock().tryLock();
    expect(hold).not.toBeNull();
    expect(await fieldsOn(server, name)).toEqual({ mode: 'write', [(hold as Hold).owner]: '1' });
  });
});

describeWithProcess('read/write lock: holders that are killed', () => {
  it('a killed reader keeps a writer out for its own lease, though others keep reading for longer', async () => {
    const { server } = await arena();
    const name = randomName();
    const child = spawnChild(CHILD, { args: [server.url, name, 'read', '1200'] });
    const { owner } = await child.next(({ state }) => state === 'held');
    const client = await join('Holdfast.connect', server);
    const living = await client.getReadWriteLock(name).readLock().lock({ leaseMs: 60_000 });
    const writing = client.getReadWriteLock(name).writeLock().lock();
    await eventually(async () => (await subscribersOf(server, channelOf(name))) >= 1);
    child.kill('SIGKILL');
    await child.exited;
    expect(await fieldsOn(server, name)).toMatchObject({ mode: 'read', [String(owner)]: '1' });
    const settled = await timed(living.unlock().then(() => writing));
    // Its lease and not the minute that the other reader had asked for; nor a poll, which takes 4 s at least.
    expect(settled.tookMs).toBeLessThan(1_200 + SLACK_MS);
    expect(await fieldsOn(server, name)).toEqual({ mode: 'write', [(settled.value as Hold).owner]: '1' });
  });

  it('a killed writer keeps readers out for its lease', async () => {
    const { server } = await arena();
    const name = randomName();
    const child = spawnChild(CHILD, { args: [server.url, name, 'write', '1000'] });
    await child.next(({ state }) => state === 'held');
    const lock = (await join('Holdfast.connect', server)).getReadWriteLock(name).readLock();
    expect(await lock.tryLock()).toBeNull();
    child.kill('SIGKILL');
    await child.exited;
    const settled = await timed(Promise.all([lock.lock(), lock.lock()]));
    expect(settled.error).toBeUndefined();
    expect(settled.tookMs).toBeLessThan(1_000 + SLACK_MS);
  });

  it('a killed preferred writer that waited keeps readers out for seconds only', async () => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server);
    await client.getReadWriteLock(name).readLock().lock();
    const child = spawnChild(CHILD, { args: [server.url, name, 'prefer', '30000'] });
    await child.next(({ state }) => state === 'waiting');
    await eventually(async () => (await server.command('EXISTS', `holdfast_rwlock_waiting:{${name}}`)) === 1);
    expect(await client.getReadWriteLock(name).readLock().tryLock()).toBeNull();
    child.kill('SIGKILL');
    await child.exited;
    const settled = await timed(client.getReadWriteLock(name).readLock().lock());
    expect(settled.error).toBeUndefined();
    expect(settled.tookMs).toBeLessThan(3_000 + SLACK_MS);
  });
});

describeWithProcess('read/write lock: wake-ups that never arrive', () => {
  async function mute(server: TestServer): Promise<Holdfast> {
    await server.command(
      'ACL',
      'SETUSER',
      'mute',
      'on',
      '>secret',
      '~*',
      '+@all',
      '-publish',
      'resetchannels',
    );
    const { host, port } = server;
    return Holdfast.connect({ host, port, username: 'mute', password: 'secret' });
  }

  it('readers and writers get the lock at their poll', async () => {
    const { server } = await arena();
    const name = randomName();
    const waiters = await join('Holdfast.connect', server);
    await using holder = await mute(server);
    const lock = waiters.getReadWriteLock(name);
    const writing = await holder.getReadWriteLock(name).writeLock().lock();
    const readers = [lock.readLock().lock(), lock.readLock().lock()];
    await eventually(async () => (await subscribersOf(server, channelOf(name))) === 1);
    const read = timed(Promise.all(readers));
    await writing.unlock();
    expect((await read).tookMs).toBeLessThan(6_000 + SLACK_MS);
    for (const reader of (await read).value as Hold[]) await reader.unlock();

    const reading = await holder.getReadWriteLock(name).readLock().lock();
    const written = timed(lock.writeLock().lock());
    await eventually(async () => (await subscribersOf(server, channelOf(name))) === 1);
    await reading.unlock();
    expect((await written).error).toBeUndefined();
    expect((await written).tookMs).toBeLessThan(6_000 + SLACK_MS);
  });
});
