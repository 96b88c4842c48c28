/**
 * Sentinels make another server the primary on request, and the old primary goes on taking writes for many seconds:
 * every client follows within a second of the Sentinels' word, as fast as its library lets it.
 */
import { expect, it, onTestFinished } from 'vitest';
import { type ClientOptions, type Hold, Holdfast } from '../../src/index.ts';
import { lockChannel } from '../../src/keys.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { cutReplication } from '../harness/cut-replication.ts';
import { randomName } from '../harness/names.ts';
import { type Switch, switchPrimary } from '../harness/sentinel-switch.ts';
import type { TestSentinels } from '../harness/sentinels.ts';
import { describeWithProcess, ownProxy } from '../harness/servers.ts';
import { ownSentinels } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { listenTo } from './support/arena.ts';
import { settle, take, whenHeardAt } from './support/failover-stage.ts';
import { joinSentinels } from './support/topology-ways.ts';
import { WAYS, type Way } from './support/ways.ts';

/** How long after the Sentinel's word a client may take to follow. */
const SECOND = { withinMs: 1_000, everyMs: 10 };
/** node-redis pauses for a second itself when the Sentinel is not connected to the new primary yet. */
const SECONDS = { ...SECOND, withinMs: 3_000 };
const followed = (way: Way) => (way === 'default node-redis 6' ? SECONDS : SECOND);
/** A waiter that no message reaches asks again after four seconds at the earliest. */
const SOONER_THAN_A_POLL_MS = 2_500;
const TEST_MS = 60_000;

/** Renewed so seldom that no renewal comes by itself within a test. */
const LEASE_MS = 60_000;
const PLAIN: ClientOptions = { watchdogMs: LEASE_MS, commandTimeoutMs: 2_000, replicas: 0 };
const GUARDED: ClientOptions = { ...PLAIN, guard: { graceMs: LEASE_MS } };

async function stage(sentinels = 3): Promise<{ watched: TestSentinels; primary: TestServer }> {
  const watched = await ownSentinels({ sentinels });
  const primary = await watched.primary();
  await settle(primary);
  await whenAcknowledging(primary, 1);
  return { watched, primary };
}

/** A new lock of the client stands on that server, and not on the other. */
async function expectLocksAt(client: Holdfast, there: TestServer, notThere: TestServer): Promise<void> {
  const hold = await take(client.getLock(randomName('switched')));
  expect(await there.command('EXISTS', hold.name)).toBe(1);
  expect(await notThere.command('EXISTS', hold.name)).toBe(0);
}

/** The client no longer asks that server for locks. */
async function expectNoLocksAt(client: Holdfast, server: TestServer): Promise<void> {
  const name = randomName('left');
  await expect(client.getLock(name).tryLock()).rejects.toThrow();
  expect(await server.command('EXISTS', name)).toBe(0);
}

/** The hold was given a whole lease on that server since the switch was asked for. */
async function expectRenewedAt({ promoted, askedAt }: Switch, { name }: Hold): Promise<void> {
  const endsAt = Number(await promoted.command('PEXPIRETIME', name));
  expect(endsAt).toBeGreaterThanOrEqual(askedAt + LEASE_MS);
}

/** A waiter of the lock has subscribed on that server. */
async function expectHeardAt(server: TestServer, { name }: Hold): Promise<void> {
  expect(await server.command('PUBSUB', 'NUMSUB', lockChannel(name))).toEqual([lockChannel(name), 1]);
}

/** Whether the server still takes writes. */
async function expectInOffice(server: TestServer): Promise<void> {
  expect(await server.command('SET', randomName(), '', 'PX', 10)).toBe('OK');
}

describeWithProcess('Sentinels switch to another primary while the old one takes writes', () => {
  it.each(WAYS)(
    '%s: new locks, holds and waiters follow at once',
    async (way) => {
      const { watched, primary } = await stage();
      const [client, waiter] = [
        await joinSentinels(way, watched, PLAIN),
        await joinSentinels(way, watched, PLAIN),
      ];
      const hold = await take(client.getLock(randomName('held')));
      const leased = await client.getLock(randomName('leased')).lock({ leaseMs: LEASE_MS });
      const entering = waiter.getLock(hold.name).lock();
      entering.catch(() => undefined);
      await whenHeardAt(primary, hold.name);
      await whenAcknowledging(primary, 1);

      const change = await switchPrimary(watched);
      const { promoted } = change;
      await Promise.all([
        eventually(() => expectLocksAt(client, promoted, primary), followed(way)),
        eventually(() => expectRenewedAt(change, hold), followed(way)),
        eventually(() => expectHeardAt(promoted, hold), followed(way)),
      ]);
      await expectInOffice(primary);

      leased.assertHeld();
      const releasedAt = performance.now();
      expect(await hold.unlock()).toBe(true);
      await (await entering).unlock();
      expect(performance.now() - releasedAt).toBeLessThan(SOONER_THAN_A_POLL_MS);
    },
    TEST_MS,
  );

  it.each(WAYS)(
    '%s: the guard reclaims a hold that no replica has, and without it the hold is lost',
    async (way) => {
      const { watched, primary } = await stage();
      const [plain, guarded] = [
        await joinSentinels(way, watched, PLAIN),
        await joinSentinels(way, watched, GUARDED),
      ];
      const kept = await take(guarded.getLock(randomName('kept')));
      await cutReplication(primary);
      const again = await take(guarded.getLock(randomName('again')));
      const gone = await take(plain.getLock(randomName('gone')));
      const leased = await plain.getLock(randomName('leased')).lock({ leaseMs: LEASE_MS });

      const change = await switchPrimary(watched);
      await Promise.all([
        eventually(() => expectRenewedAt(change, kept), followed(way)),
        eventually(() => expectRenewedAt(change, again), followed(way)),
        eventually(
          () => expect([gone.signal.aborted, leased.signal.aborted]).toEqual([true, true]),
          followed(way),
        ),
      ]);
      for (const hold of [kept, again]) hold.assertHeld();
      await expectInOffice(primary);
    },
    TEST_MS,
  );

  it.each(WAYS)(
    '%s: the first listed Sentinel is dead: the client still follows the switch',
    async (way) => {
      const { watched, primary } = await stage();
      const client = await joinSentinels(way, watched, PLAIN);
      const hold = await take(client.getLock(randomName('held')));
      await whenAcknowledging(primary, 1);
      const [first, ...others] = watched.sentinels;
      await first?.kill();

      const change = await switchPrimary(watched, others);
      const { promoted } = change;
      await Promise.all([
        eventually(() => expectLocksAt(client, promoted, primary), followed(way)),
        eventually(() => expectRenewedAt(change, hold), followed(way)),
      ]);
      await expectInOffice(primary);
    },
    TEST_MS,
  );

  it(
    'the only Sentinel is unreachable when it announces the switch: the client asks once the Sentinel is back',
    async () => {
      const { watched, primary } = await stage(1);
      const [sentinel] = watched.sentinels as [TestServer];
      const proxy = await ownProxy(sentinel);
      const sentinels = [{ host: sentinel.host, port: proxy.port }];
      await using client = await Holdfast.connect({ sentinels, name: watched.name }, PLAIN);
      const hold = await take(client.getLock(randomName('held')));
      await whenAcknowledging(primary, 1);
      await proxy.refuse();
      const change = await switchPrimary(watched);
      const { promoted } = change;
      await expectLocksAt(client, primary, promoted);
      await proxy.heal();
      await Promise.all([
        eventually(() => expectLocksAt(client, promoted, primary), { withinMs: 2_000 }),
        eventually(() => expectRenewedAt(change, hold), { withinMs: 2_000 }),
      ]);
      await expectInOffice(primary);
    },
    TEST_MS,
  );

  it(
    'node-redis asks a Sentinel that does not answer: its locks leave the old primary all the same',
    async () => {
      const { watched, primary } = await stage();
      const { createSentinel } = await import('redis');
      const [first, second] = watched.sentinels as [TestServer, TestServer];
      // The library asks one Sentinel after the other.
      const proxy = await ownProxy(second);
      const sentinelRootNodes = [proxy, first].map(({ port }) => ({ host: first.host, port }));
      const redis = createSentinel({ name: watched.name, sentinelRootNodes });
      redis.on('error', () => {});
      onTestFinished(() => redis.destroy());
      await redis.connect();
      await using client = Holdfast.from(redis, { ...PLAIN, commandTimeoutMs: 300 });
      await take(client.getLock(randomName('held')));
      await whenAcknowledging(primary, 1);
      proxy.blackhole();
      const { promoted } = await switchPrimary(watched);
      await eventually(() => expectNoLocksAt(client, primary), SECOND);
      expect(redis.getMasterNode()).toMatchObject({ port: primary.port });
      await expectInOffice(primary);
      await proxy.heal();
      await eventually(() => expectLocksAt(client, promoted, primary), { withinMs: 10_000 });
    },
    TEST_MS,
  );

  it(
    "a user's client that stays with the old primary: its locks follow, and a warning names the option",
    async () => {
      const { watched, primary } = await stage();
      const { Redis } = await import('ioredis');
      const brought = [false, true].map(
        (failoverDetector) =>
          new Redis({ sentinels: watched.addresses, name: watched.name, failoverDetector }),
      );
      const heard = await Promise.all(
        brought.map(async (redis) => {
          redis.on('error', () => {});
          await redis.ping();
          const client = Holdfast.from(redis, PLAIN);
          const events = listenTo(client);
          await take(client.getLock(randomName('held')));
          return { client, events, redis };
        }),
      );
      const { promoted } = await switchPrimary(watched);
      for (const { client } of heard)
        await eventually(() => expectLocksAt(client, promoted, primary), SECOND);
      const stale = heard.map(({ events }) =>
        events.warning.filter(({ code }) => code === 'HOLDFAST_STALE_PRIMARY'),
      );
      expect(stale).toMatchObject([[{ message: expect.stringContaining('failoverDetector: true') }], []]);
      expect(heard[0]?.redis.status).toBe('ready');
      expect(await heard[0]?.redis.info('server')).toContain(`tcp_port:${primary.port}`);
      for (const { client, redis } of heard) {
        await client.close();
        redis.disconnect();
      }
    },
    TEST_MS,
  );
});
