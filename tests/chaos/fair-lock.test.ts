/**
 * The fair lock under faults: replies that get lost on the way into, through and out of the queue, waiters
 * that die or are cut off, messages that nobody hears, a server that stands still.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fairChannel, fairQueueKey, fairSeenKey, fairTimeoutKey } from '../../src/keys.ts';
import { fairLockAcquire, fairLockRelease } from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import {
  arena,
  join,
  leftovers,
  SLACK_MS,
  scriptCalls,
  seen,
  subscribersOf,
  timed,
} from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { runs } from './support/requests.ts';

const CHILD = fileURLToPath(new URL('./children/fair-lock-waits.ts', import.meta.url));

const ACQUIRE = runs(fairLockAcquire);
const RELEASE = runs(fairLockRelease);

/** Polls every 0.4 to 0.6 s, and counts as dead after 1.7 s of silence. */
const IMPATIENT = { fairWaitMs: 1_500, commandTimeoutMs: 500 };
const LATEST_POLL_MS = 600;
const SILENT_MS = 1_700;

/** With the options left as they are: polls within 3 s, dead after 9. */
const DEFAULT_LATEST_POLL_MS = 3_000;
const DEFAULT_SILENT_MS = 9_000;

async function queueOn(server: TestServer, name: string): Promise<string[]> {
  return (await server.command('LRANGE', fairQueueKey(name), 0, -1)) as string[];
}

/** Resolves with the queue once this many wait and listen. */
async function queued(server: TestServer, name: string, waiters: number): Promise<string[]> {
  let queue: string[] = [];
  await eventually(
    async () => {
      queue = await queueOn(server, name);
      if (queue.length !== waiters) return false;
      for (const owner of queue) {
        if ((await subscribersOf(server, fairChannel(name, owner))) !== 1) return false;
      }
      return true;
    },
    { withinMs: 15_000 },
  );
  return queue;
}

/** What the lock left on the server, besides answers that are kept for a while. */
async function traces(server: TestServer, name: string): Promise<string[]> {
  const keys = [...(await leftovers(server)).keys()];
  return keys.filter((key) => key.includes(name) && !key.startsWith('redisson_unlock_latch:'));
}

describeWithProcess('the fair lock, with a reply lost', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('of a join: the waiter has one place, in order', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const others = await join('Holdfast.connect', server);
      const hold = await others.getFairLock(name).lock();
      const ours = (await join(way, proxy)).getFairLock(name);
      const swallowed = proxy.swallowReply(ACQUIRE);
      const first = ours.lock();
      await swallowed;
      const second = others.getFairLock(name).lock();
      const queue = await queued(server, name, 2);
      expect(await server.command('ZCARD', fairTimeoutKey(name))).toBe(2);
      await hold.unlock();
      const held = await first;
      expect(held.owner).toBe(queue[0]);
      await held.unlock();
      expect((await second).owner).toBe(queue[1]);
      await (await second).unlock();
      expect(await traces(server, name)).toEqual([]);
    });

    it('of the grant: the lock is held once and freed by one unlock', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const others = await join('Holdfast.connect', server);
      const hold = await others.getFairLock(name).lock();
      const waiting = (await join(way, proxy)).getFairLock(name).lock();
      const [owner = ''] = await queued(server, name, 1);
      // Its second try comes with the subscription; the next is the one that it is called for.
      await seen(proxy, new RegExp(`^${ACQUIRE}`));
      const swallowed = proxy.swallowReply(ACQUIRE);
      await hold.unlock();
      await swallowed;
      const held = await waiting;
      expect(await server.command('HGETALL', name)).toEqual([owner, '1']);
      expect(await held.unlock()).toBe(true);
      expect(await traces(server, name)).toEqual([]);
    });

    it('of a release: the lock is released once, and the next holder keeps it', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const hold = await (await join(way, proxy)).getFairLock(name).lock();
      const next = (await join('Holdfast.connect', server)).getFairLock(name).lock();
      await queued(server, name, 1);
      const swallowed = proxy.swallowReply(RELEASE);
      expect(await hold.unlock()).toBe(true);
      await swallowed;
      const theirs = await next;
      expect(await server.command('HGETALL', name)).toEqual([theirs.owner, '1']);
      expect(await theirs.unlock()).toBe(true);
    });

    it('of leaving the queue: the waiters behind get the wait back once', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      await (await join('Holdfast.connect', server)).getFairLock(name).lock();
      const giveUp = new AbortController();
      const client = await join(way, proxy);
      const leaving = timed(client.getFairLock(name).tryLock({ waitMs: 40_000, signal: giveUp.signal }));
      const [owner = ''] = await queued(server, name, 1);
      const last = Number(await server.command('ZSCORE', fairTimeoutKey(name), owner));
      // What was left of the wait when it was asked for, as the server noted it.
      const note = String(await server.command('HGET', fairSeenKey(name), owner));
      const waitMs = Number(note.split(' ')[2]);
      expect(waitMs).toBeGreaterThan(30_000);
      expect(waitMs).toBeLessThanOrEqual(40_000);
      await server.command('RPUSH', fairQueueKey(name), 'java:1');
      await server.command('ZADD', fairTimeoutKey(name), last + 5_000, 'java:1');
      const swallowed = proxy.swallowReply(RELEASE);
      const repeated = swallowed.then(() => seen(proxy, RELEASE));
      giveUp.abort();
      expect((await leaving).error).toBe(giveUp.signal.reason);
      await repeated;
      expect(await queueOn(server, name)).toEqual(['java:1']);
      expect(Number(await server.command('ZSCORE', fairTimeoutKey(name), 'java:1'))).toBe(
        last + 5_000 - waitMs,
      );
    });

    it('because the connection broke: an abandoned join that runs late takes no place', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const others = await join('Holdfast.connect', server);
      const hold = await others.getFairLock(name).lock();
      const client = await join(way, proxy, { commandTimeoutMs: 300 });
      const zombie = proxy.holdRequest(ACQUIRE);
      const giveUp = new AbortController();
      const given = timed(client.getFairLock(name).lock({ signal: giveUp.signal }));
      await zombie.held;
      giveUp.abort();
      expect((await given).error).toBe(giveUp.signal.reason);
      proxy.dropConnections();
      await eventually(async () =>
        [...(await leftovers(server)).keys()].some((key) => key.includes(`${client.id}:`)),
      );
      const before = await scriptCalls(server);
      zombie.release();
      await eventually(async () => (await scriptCalls(server)) > before);
      expect(await queueOn(server, name)).toEqual([]);
      await hold.unlock();
      expect(await others.getFairLock(name).tryLock()).not.toBeNull();
    });
  });
});

describeWithProcess('the fair lock, with a dead waiter', () => {
  it('killed at the head while the lock is free: the next waiter gets the lock once the head counts as dead', async () => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server, IMPATIENT);
    const hold = await client.getFairLock(name).lock();
    const child = spawnChild(CHILD, { args: [server.url, name, '3', JSON.stringify(IMPATIENT)] });
    await queued(server, name, 3);
    const next = client.getFairLock(name).lock();
    const last = client.getFairLock(name).lock();
    const [, , , nextOwner, lastOwner] = await queued(server, name, 5);
    child.kill('SIGKILL');
    await child.exited;
    const entering = timed(next);
    await hold.unlock();
    const { tookMs } = await entering;
    expect((await next).owner).toBe(nextOwner);
    expect(tookMs).toBeLessThan(SILENT_MS + LATEST_POLL_MS + SLACK_MS);
    await (await next).unlock();
    expect((await last).owner).toBe(lastOwner);
    await (await last).unlock();
    expect(await traces(server, name)).toEqual([]);
  });

  it('killed at the head, with default settings: the next waiter gets the lock within seconds, not minutes', async () => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server);
    const hold = await client.getFairLock(name).lock();
    const child = spawnChild(CHILD, { args: [server.url, name, '1'] });
    await queued(server, name, 1);
    const next = client.getFairLock(name).lock();
    await queued(server, name, 2);
    child.kill('SIGKILL');
    await child.exited;
    const entering = timed(next);
    await hold.unlock();
    const { tookMs } = await entering;
    expect(tookMs).toBeLessThan(DEFAULT_SILENT_MS + DEFAULT_LATEST_POLL_MS + SLACK_MS);
    // A head that may still live is not passed by at once either.
    expect(tookMs).toBeGreaterThan(DEFAULT_SILENT_MS - 2 * DEFAULT_LATEST_POLL_MS);
    await (await next).unlock();
  });

  it('killed behind a living waiter of Redisson: the living waiter keeps its place', async () => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server, IMPATIENT);
    await server.command('RPUSH', fairQueueKey(name), 'java:1');
    await server.command('ZADD', fairTimeoutKey(name), Date.now() + 60_000, 'java:1');
    const child = spawnChild(CHILD, { args: [server.url, name, '1', JSON.stringify(IMPATIENT)] });
    await eventually(async () => (await queueOn(server, name)).length === 2, { withinMs: 15_000 });
    const ours = client.getFairLock(name).lock();
    await eventually(async () => (await queueOn(server, name)).length === 3);
    const [, , owner] = await queueOn(server, name);
    child.kill('SIGKILL');
    await child.exited;
    const from = performance.now();
    await eventually(() => performance.now() - from > SILENT_MS + LATEST_POLL_MS, { withinMs: 10_000 });
    expect((await queueOn(server, name))[0]).toBe('java:1');
    await server.command('LPOP', fairQueueKey(name));
    await server.command('ZREM', fairTimeoutKey(name), 'java:1');
    const { tookMs } = await timed(ours);
    expect(tookMs).toBeLessThan(LATEST_POLL_MS + SLACK_MS);
    expect((await ours).owner).toBe(owner);
    expect(await traces(server, name)).toEqual([name]);
  });

  it('cut off for longer than its allowed silence: others pass, and the waiter queues again afterwards', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const others = await join('Holdfast.connect', server, IMPATIENT);
    const hold = await others.getFairLock(name).lock();
    const cutOff = (await join('Holdfast.connect', proxy, IMPATIENT)).getFairLock(name).lock();
    await queued(server, name, 1);
    const second = others.getFairLock(name).lock();
    await queued(server, name, 2);
    proxy.blackhole();
    await hold.unlock();
    const passed = await second;
    await proxy.heal();
    await eventually(async () => (await queueOn(server, name)).length === 1, { withinMs: 10_000 });
    await passed.unlock();
    await (await cutOff).unlock();
    expect(await traces(server, name)).toEqual([]);
  });
});

describeWithProcess('the fair lock, without messages', () => {
  it.each(EACH_WAY)(
    'for a head whose subscription is half open: its poll finds the free lock, with %s',
    async (way) => {
      const { server, proxy } = await arena();
      const name = randomName();
      const hold = await (await join('Holdfast.connect', server)).getFairLock(name).lock();
      const waiting = (await join(way, proxy, IMPATIENT)).getFairLock(name).lock();
      await queued(server, name, 1);
      proxy.blackholeWhere(/^SUBSCRIBE/);
      const entering = timed(waiting);
      await hold.unlock();
      const { tookMs, value } = await entering;
      expect(value).toMatchObject({ name });
      expect(tookMs).toBeLessThan(LATEST_POLL_MS + SLACK_MS);
    },
  );

  it('while the server stands still: every waiter keeps its place', async () => {
    const { server } = await arena();
    const name = randomName();
    const clients = [1, 2, 3].map(() => join('Holdfast.connect', server, IMPATIENT));
    const [first, ...others] = await Promise.all(clients);
    const hold = await first?.getFairLock(name).lock({ leaseMs: 60_000 });
    const served: string[] = [];
    const waiters: Promise<unknown>[] = [];
    for (let i = 0; i < 6; i += 1) {
      const lock = others[i % 2]?.getFairLock(name);
      waiters.push(lock?.withLock((held) => served.push(held.owner)) as Promise<unknown>);
      await queued(server, name, i + 1);
    }
    const queue = await queueOn(server, name);
    await server.pause();
    const from = performance.now();
    await eventually(() => performance.now() - from > 2 * SILENT_MS, { withinMs: 10_000 });
    await server.resume();
    await eventually(async () => (await hold?.unlock()) === true, { withinMs: 10_000 });
    await Promise.all(waiters);
    expect(served).toEqual(queue);
    expect(await traces(server, name)).toEqual([]);
  });
});

describeWithProcess('a thousand waiters of a fair lock', () => {
  it('in four processes are served in the order of their joins', { timeout: 90_000 }, async () => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server);
    const hold = await client.getFairLock(name).lock();
    const children = Array.from({ length: 4 }, () => spawnChild(CHILD, { args: [server.url, name, '250'] }));
    for (const child of children) await child.next(({ waiting }) => waiting === 250);
    await eventually(async () => (await queueOn(server, name)).length === 1_000, { withinMs: 30_000 });
    const joined = await queueOn(server, name);
    expect(new Set(joined).size).toBe(1_000);
    await hold.unlock();
    await eventually(async () => (await server.command('LLEN', `served:${name}`)) === 1_000, {
      withinMs: 60_000,
      everyMs: 100,
    });
    expect(await server.command('LRANGE', `served:${name}`, 0, -1)).toEqual(joined);
    await eventually(async () => (await server.command('EXISTS', name)) === 0);
    expect(await traces(server, name)).toEqual([`served:${name}`]);
    expect(await server.command('EXISTS', fairSeenKey(name))).toBe(0);
  });
});
