/**
 * Connections of the replication kind that cannot acknowledge: replicas in the middle of a synchronisation, and
 * readers that never acknowledge anything. Acquisitions go on as if these connections were not there.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClientOptions, Holdfast } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import type { TestReplica } from '../harness/replicas.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { ownCluster, ownReplicas } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { join, listenTo } from './support/arena.ts';
import { CAN_SHIFT, NEEDS_GCC, shiftableServer } from './support/clock-shift.ts';
import { nameOn } from './support/cluster-stage.ts';
import { ANNOUNCED, attachReader, PLAIN } from './support/silent-reader.ts';
import { joinCluster } from './support/topology-ways.ts';
import { WAYS } from './support/ways.ts';

const REPLICA_TIMEOUT_MS = 2_000;
const TIMES: ClientOptions = { replicaTimeoutMs: REPLICA_TIMEOUT_MS };
const READERS = [
  { reader: 'a reader like redis-cli --replica', words: PLAIN },
  { reader: 'a reader that announces a port', words: ANNOUNCED },
];

/** The client takes a lock and gives it back, without waiting for a replica. */
async function grantAtOnce(client: Holdfast, name = randomName('sync')): Promise<void> {
  const from = performance.now();
  const hold = await client.getLock(name).lock();
  expect(performance.now() - from).toBeLessThan(REPLICA_TIMEOUT_MS);
  expect(await hold.unlock()).toBe(true);
}

function joinInEveryWay(primary: TestServer): Promise<Holdfast[]> {
  return Promise.all(WAYS.map((way) => join(way, primary, TIMES)));
}

function refused(acknowledged: number, required: number): object {
  return { code: 'ERR_REPLICATION', acknowledged, required };
}

/** Resolves when the only replica, or reader, is in that state for the primary. */
async function whenReplicaIs(primary: TestServer, state: string): Promise<void> {
  await eventually(
    async () => {
      expect(String(await primary.command('INFO', 'replication'))).toMatch(
        new RegExp(`connected_slaves:1\r\nslave0:[^\r]*state=${state},`),
      );
    },
    { withinMs: 10_000 },
  );
}

/** A server that has been written to, as almost every primary has. */
async function writtenServer(args: readonly string[]): Promise<TestServer> {
  const server = await ownServer({ args });
  const leave = await attachReader(server, PLAIN);
  await whenReplicaIs(server, 'online');
  await server.command('SET', randomName('written'), '', 'PX', 10);
  await leave();
  await eventually(async () => {
    expect(String(await server.command('INFO', 'replication'))).toContain('connected_slaves:0');
  });
  return server;
}

function ownReplica({ host, port }: TestServer): Promise<TestServer> {
  return ownServer({ args: ['--replicaof', `${host} ${port}`] });
}

const DISKLESS = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'];
/** The primary keeps its replicas waiting for their snapshot. */
const HELD_BACK = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '3600'];

describeWithProcess('a replica that is being synchronised', () => {
  it('auto: a replica that waits for its snapshot does not count until it is online', async () => {
    const primary = await ownServer({ args: HELD_BACK });
    const replica = await ownReplica(primary);
    await whenReplicaIs(primary, 'wait_bgsave');
    const clients = await joinInEveryWay(primary);
    for (const client of clients) {
      await grantAtOnce(client);
      expect((await client.capabilities()).replicas).toMatchObject({ connected: 0, required: 0 });
    }

    await primary.command('CONFIG', 'SET', 'repl-diskless-sync-delay', 0);
    await whenAcknowledging(primary, 1);
    for (const client of clients) {
      // A check of the health counts anew; acquisitions do so every ten seconds.
      expect(await client.health()).toMatchObject({ status: 'ok' });
      expect((await client.capabilities()).replicas).toMatchObject({ connected: 1, required: 1 });
      await grantAtOnce(client);
    }
    await replica.pause();
    onTestFinished(() => replica.resume());
    const asked = clients.map((client) => client.getLock(randomName('sync')).tryLock());
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes).toMatchObject(clients.map(() => ({ reason: refused(0, 1) })));
  });

  it('auto: a replica that stalls while it receives its snapshot does not count', async () => {
    const primary = await writtenServer([...DISKLESS, '--rdbcompression', 'no']);
    await primary.command('CONFIG', 'SET', 'repl-diskless-sync-delay', 3600);
    // Redis 8 sends the snapshot over a second connection. A replica that is stopped too early never opens it.
    const [option] = (await primary.command('CONFIG', 'GET', 'repl-rdb-channel')) as string[];
    if (option !== undefined) await primary.command('CONFIG', 'SET', option, 'no');
    // More than the buffers of the connection can take.
    for (let i = 0; i < 32; i += 1) await primary.command('SETRANGE', randomName('large'), 2 ** 20, 'x');
    const replica = await ownReplica(primary);
    await whenReplicaIs(primary, 'wait_bgsave');
    await replica.pause();
    onTestFinished(() => replica.resume());
    // By way of a file there is no delay, and the state of a transfer has a name; Redis 8 lists the replica as online.
    await primary.command('CONFIG', 'SET', 'repl-diskless-sync', 'no');
    const receiving = '(?:send_bulk|online,offset=0)';
    await whenReplicaIs(primary, receiving);
    for (const client of await joinInEveryWay(primary)) await grantAtOnce(client);
    await whenReplicaIs(primary, receiving);
  });

  it('auto: a new synchronisation of the only replica does not stop acquisitions', async () => {
    const { primary, replicas } = await ownReplicas({ replicas: 1 });
    const [{ server: replica }] = replicas as [TestReplica];
    await whenAcknowledging(primary, 1);
    const client = await join('Holdfast.connect', primary, { ...TIMES, replicaTimeoutMs: 300 });
    await grantAtOnce(client);
    await primary.command('CONFIG', 'SET', 'repl-diskless-sync-delay', 3600);
    // With writes of its own, the replica cannot just go on where it was.
    await replica.command('REPLICAOF', 'NO', 'ONE');
    await replica.command('SET', 'another', 'history');
    await replica.command('REPLICAOF', primary.host, primary.port);
    await whenReplicaIs(primary, 'wait_bgsave');
    // The first acquisition waits in vain and counts anew, the next ones do not wait.
    await grantAtOnce(client);
    await grantAtOnce(client);
  });
});

describeWithProcess('a reader that never acknowledges', () => {
  describe.each(READERS)('$reader', ({ words }) => {
    it('auto: never counts as a replica', async () => {
      const primary = await writtenServer(DISKLESS);
      const early = await joinInEveryWay(primary);
      await primary.command('CONFIG', 'SET', 'repl-diskless-sync-delay', 3600);
      await attachReader(primary, words);
      await whenReplicaIs(primary, 'wait_bgsave');
      const late = await joinInEveryWay(primary);
      for (const client of [...early, ...late]) await grantAtOnce(client);
      await primary.command('CONFIG', 'SET', 'repl-diskless-sync-delay', 0);
      await whenReplicaIs(primary, 'online');
      for (const client of [...early, ...late, ...(await joinInEveryWay(primary))]) {
        await grantAtOnce(client);
        expect(await client.health()).toMatchObject({ status: 'ok', problems: [] });
        expect((await client.capabilities()).replicas).toMatchObject({ connected: 0, required: 0 });
      }
    });

    it('majority: is never required', async () => {
      const { primary, replicas } = await ownReplicas({ replicas: 2 });
      await whenAcknowledging(primary, 2);
      await attachReader(primary, words);
      await eventually(async () => {
        const info = String(await primary.command('INFO', 'replication'));
        expect(info.match(/state=online/g)).toHaveLength(3);
      });
      const client = await join('Holdfast.connect', primary, { ...TIMES, replicas: 'majority' });
      expect((await client.capabilities()).replicas).toMatchObject({ connected: 2, required: 1 });
      await (replicas[0] as TestReplica).server.kill();
      // Of the primary and two replicas, two are a majority; of four servers they would not be.
      await grantAtOnce(client);
    });

    it('a number: does not replace a replica', async () => {
      const primary = await writtenServer(DISKLESS);
      await attachReader(primary, words);
      await whenReplicaIs(primary, 'online');
      const client = await join('Holdfast.connect', primary, { replicaTimeoutMs: 100, replicas: 1 });
      client.on('warning', () => {});
      const lock = client.getLock(randomName('sync'));
      await expect(lock.tryLock()).rejects.toMatchObject(refused(0, 1));
      expect((await client.health()).problems).toMatchObject([{ code: 'HOLDFAST_FEW_REPLICAS' }]);
    });
  });

  it('auto: a primary without writes counts its replica, and no reader', async () => {
    const primary = await ownServer({ args: DISKLESS });
    const leave = await attachReader(primary, PLAIN);
    await whenReplicaIs(primary, 'online');
    expect((await (await join('Holdfast.connect', primary)).capabilities()).replicas.connected).toBe(0);
    await leave();
    const another = await ownServer({ args: DISKLESS });
    await ownReplica(another);
    await whenReplicaIs(another, 'online');
    expect((await (await join('Holdfast.connect', another)).capabilities()).replicas.connected).toBe(1);
  });

  it('auto: does not count in a Cluster', async () => {
    const cluster = await ownCluster({ primaries: 2, replicasEach: 0, args: DISKLESS });
    const [primary] = cluster.nodes as [TestServer];
    await attachReader(primary, PLAIN);
    await whenReplicaIs(primary, 'online');
    for (const way of WAYS) {
      const client = await joinCluster(way, cluster, TIMES);
      await grantAtOnce(client, await nameOn(cluster, primary));
      expect((await client.capabilities()).replicas).toMatchObject({ connected: 0, required: 0 });
    }
  });
});

describeWithProcess('a replica that has fallen silent', () => {
  describe.skipIf(!CAN_SHIFT)(`on a primary whose clock is moved${NEEDS_GCC}`, () => {
    it('auto: is required for a minute only, though the primary keeps its connection; a majority still requires it', async () => {
      const { server: primary, shift } = await shiftableServer();
      await primary.command('CONFIG', 'SET', 'repl-diskless-sync-delay', 0);
      await primary.command('CONFIG', 'SET', 'repl-timeout', 86_400);
      const replica = await ownReplica(primary);
      await whenReplicaIs(primary, 'online');
      await whenAcknowledging(primary, 1);
      const times = { replicaTimeoutMs: 100 };
      const client = await join('Holdfast.connect', primary, times);
      const majority = await join('Holdfast.connect', primary, { ...times, replicas: 'majority' });
      const { warning } = listenTo(majority);
      const take = (by: Holdfast) => by.getLock(randomName('silent')).tryLock();
      await replica.pause();
      onTestFinished(() => replica.resume());
      await expect(take(client)).rejects.toMatchObject(refused(0, 1));
      await shift(50_000);
      await expect(take(client)).rejects.toMatchObject(refused(0, 1));
      await shift(70_000);
      expect(await take(client)).not.toBeNull();
      await whenReplicaIs(primary, 'online');
      await client.health();
      expect((await client.capabilities()).replicas).toMatchObject({ connected: 0, required: 0 });

      await expect(take(majority)).rejects.toMatchObject(refused(0, 1));
      await majority.health();
      expect(warning.map(({ code }) => code)).toContain('HOLDFAST_FEW_REPLICAS');
    });
  });
});
