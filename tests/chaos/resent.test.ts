/**
 * What a client library keeps and sends again behind our back. A request takes effect once, however long the outage,
 * and whenever the bytes of a broken connection arrive.
 */
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast, OutcomeUnknownError } from '../../src/index.ts';
import { tombstoneKey } from '../../src/keys.ts';
import * as scripts from '../../src/scripts/generated.ts';
import type { FaultProxy, TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { arena, join, leftovers, scriptCalls, timed } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { LAYOUTS } from './support/kinds.ts';
import { runs } from './support/requests.ts';

const COMMAND_TIMEOUT_MS = 300;
const HOUR_MS = 3_600_000;

/** A client of ioredis that is set to keep a command until the server answers, as BullMQ wants it. */
async function patient(proxy: FaultProxy): Promise<{ redis: Redis; client: Holdfast }> {
  const redis = new Redis(proxy.port, proxy.host, { maxRetriesPerRequest: null });
  redis.on('error', () => {});
  await redis.ping();
  const client = Holdfast.from(redis, { commandTimeoutMs: COMMAND_TIMEOUT_MS, replicas: 0 });
  onTestFinished(async () => {
    await client.close();
    redis.disconnect();
  });
  return { redis, client };
}

/** The keys of what the server remembers about a name, and for how long. */
async function remembered(server: TestServer, name: string): Promise<Map<string, number>> {
  const prefix = tombstoneKey(name, '');
  return new Map([...(await leftovers(server))].filter(([key]) => key.startsWith(prefix)));
}

describeWithProcess('an outage that is longer than the memory of the server', () => {
  it('a change that ran and was not answered does not run again when ioredis reconnects', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const { redis, client } = await patient(proxy);
    const swallowed = proxy.swallowReply(runs(scripts.semaphoreAddPermits));
    const added = timed(client.getSemaphore(name).addPermits(5));
    await swallowed;
    await proxy.refuse();
    expect((await added).error).toBeInstanceOf(OutcomeUnknownError);
    const [answer] = (await remembered(server, name)).keys();
    await server.command('DEL', answer as string);
    await proxy.heal();
    // Behind everything that ioredis has kept.
    await redis.ping();
    expect(await server.command('GET', name)).toBe('5');
  });

  it.each(LAYOUTS)('an acquisition that was not sent does not run late: $title', async (kind) => {
    const { server, proxy } = await arena();
    const name = randomName();
    const { redis, client } = await patient(proxy);
    const closed = new Promise((resolve) => redis.once('close', resolve));
    await proxy.refuse();
    await closed;
    const tried = await timed(kind.get(client, name).tryLock());
    expect(tried.error).toBeInstanceOf(OutcomeUnknownError);
    const acquisitions = proxy.holdRequest(kind.requests.acquire);
    const sent = acquisitions.held.then(() => 'sent');
    await proxy.heal();
    expect(await Promise.race([sent, redis.ping()])).toBe('PONG');
    expect(await server.command('EXISTS', name)).toBe(0);
  });
});

describeWithProcess('a change whose reply was lost is remembered for more than an hour', () => {
  const permitId = 'ab'.repeat(16);
  const rate = { mode: 'overall', rate: 5, intervalMs: 60_000 } as const;

  it.each<[string, { sha1: string }, (client: Holdfast, name: string) => Promise<unknown>]>([
    [
      'trySetPermits',
      scripts.semaphoreTrySetPermits,
      (client, name) => client.getSemaphore(name).trySetPermits(5),
    ],
    ['addPermits', scripts.semaphoreAddPermits, (client, name) => client.getSemaphore(name).addPermits(5)],
    [
      'drainPermits',
      scripts.semaphoreDrainPermits,
      (client, name) => client.getSemaphore(name).drainPermits(),
    ],
    ['release', scripts.semaphoreRelease, (client, name) => client.getSemaphore(name).release()],
    [
      'trySetCount',
      scripts.countDownLatchTrySetCount,
      (client, name) => client.getCountDownLatch(name).trySetCount(2),
    ],
    [
      'countDown',
      scripts.countDownLatchCountDown,
      (client, name) => client.getCountDownLatch(name).countDown(),
    ],
    [
      'delete of a latch',
      scripts.countDownLatchDelete,
      (client, name) => client.getCountDownLatch(name).delete(),
    ],
    [
      'trySetRate',
      scripts.rateLimiterTrySetRate,
      (client, name) => client.getRateLimiter(name).trySetRate(rate),
    ],
    ['setRate', scripts.rateLimiterSetRate, (client, name) => client.getRateLimiter(name).setRate(rate)],
    [
      'setPermits',
      scripts.permitSemaphoreSetPermits,
      (client, name) => client.getPermitExpirableSemaphore(name).setPermits(5),
    ],
    [
      'updateLease',
      scripts.permitSemaphoreUpdateLease,
      (client, name) => client.getPermitExpirableSemaphore(name).updateLease(permitId, 60_000),
    ],
  ])('%s', async (_, script, change) => {
    const { server, proxy } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', proxy);
    const swallowed = proxy.swallowReply(runs(script));
    const changed = change(client, name);
    await swallowed;
    const [forMs] = (await remembered(server, name)).values();
    expect(forMs).toBeGreaterThan(HOUR_MS);
    await changed;
  });
});

describeWithProcess('bytes of a broken connection, arriving after the call was answered on the next', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('of a change: the change counts once, even after remembered answers are forgotten', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const client = await join(way, proxy, { commandTimeoutMs: 2_000 });
      const semaphore = client.getSemaphore(name);
      const zombie = proxy.holdRequest(runs(scripts.semaphoreRelease));
      const released = semaphore.release();
      await zombie.held;
      proxy.dropConnections();
      await released;
      const [first = ''] = (await remembered(server, name)).keys();
      await semaphore.release();
      // What arrived at the first try is shortened in the background; the other one is not.
      await eventually(async () => [...(await remembered(server, name)).values()].some((ms) => ms < 5_000));
      expect((await remembered(server, name)).get(first)).toBeGreaterThan(HOUR_MS);
      const before = await scriptCalls(server);
      zombie.release();
      await eventually(async () => (await scriptCalls(server)) > before);
      expect(await server.command('GET', name)).toBe('2');
    });

    it.each(LAYOUTS)('of an acquisition: $title stays free after its release', async (kind) => {
      const { server, proxy } = await arena();
      const name = randomName();
      const client = await join(way, proxy, { commandTimeoutMs: 2_000 });
      const zombie = proxy.holdRequest(kind.requests.acquire);
      const locked = kind.get(client, name).lock();
      await zombie.held;
      proxy.dropConnections();
      const hold = await locked;
      expect(await hold.unlock()).toBe(true);
      // As long as what the copy could take, and more.
      expect(await server.command('PTTL', tombstoneKey(name, hold.owner))).toBeGreaterThan(60_000);
      const before = await scriptCalls(server);
      zombie.release();
      await eventually(async () => (await scriptCalls(server)) > before);
      expect(await server.command('EXISTS', name)).toBe(0);
    });
  });
});
