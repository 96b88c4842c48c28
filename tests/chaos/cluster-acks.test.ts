/**
 * Acknowledgements in a Cluster: each shard has replicas of its own, and a slot may move on before it is asked.
 */
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import type { ClientOptions } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { startCluster, type TestCluster } from '../harness/cluster.ts';
import { describeWithProcess, openRaw } from '../harness/servers.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { SLACK_MS, timed } from './support/arena.ts';
import { nameOn } from './support/cluster-stage.ts';
import { EACH_WAY } from './support/each-way.ts';
import { joinCluster } from './support/topology-ways.ts';

const REPLICA_TIMEOUT_MS = 800;
const OPTIONS: ClientOptions = { replicaTimeoutMs: REPLICA_TIMEOUT_MS };

/** In every way, with what is asked by default and with a number. */
const CASES = EACH_WAY.flatMap((way) => [[way, 'auto'] as const, [way, 1] as const]);

describeWithProcess('acknowledgements in a Cluster', () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    const binary = inject('serverBinary');
    cluster = await startCluster({ primaries: 2, ...(binary !== null && { binary }) });
    for (const primary of cluster.nodes.slice(0, 2)) await whenAcknowledging(primary, 1);
  });

  afterAll(() => cluster.close());

  it.each(CASES)(
    '%s, replicas: %s: a frozen replica stops acquisitions in its own shard only',
    async (way, replicas) => {
      const client = await joinCluster(way, cluster, { ...OPTIONS, replicas });
      const [here, there] = cluster.nodes as [TestServer, TestServer];
      const [replica] = (await cluster.replicasOf(here)) as [TestServer];
      const [frozen, healthy] = [await nameOn(cluster, here), await nameOn(cluster, there)];
      // Connections are there, and it is known how many replicas there are.
      for (const name of [frozen, healthy]) await (await client.getLock(name).lock()).unlock();
      await replica.pause();
      onTestFinished(() => replica.resume());

      const missed = timed(client.getLock(frozen).tryLock());
      const { value, tookMs } = await timed(client.getLock(healthy).tryLock());
      expect(value).not.toBeNull();
      expect(tookMs).toBeLessThan(REPLICA_TIMEOUT_MS);
      const failed = await missed;
      expect(failed.error).toMatchObject({ code: 'ERR_REPLICATION', acknowledged: 0, required: 1 });
      expect(failed.tookMs).toBeLessThan(REPLICA_TIMEOUT_MS + SLACK_MS);
      await replica.resume();
      expect(await client.getLock(frozen).tryLock({ waitMs: 5_000 })).not.toBeNull();
    },
  );

  it.each(EACH_WAY)(
    '%s: the client finds a slot that has moved, and gets the acknowledgement there',
    async (way) => {
      const client = await joinCluster(way, cluster, { ...OPTIONS, replicas: 1 });
      const [here, there] = cluster.nodes as [TestServer, TestServer];
      const name = await nameOn(cluster, here);
      const slot = cluster.slotOf(name);
      const lock = client.getLock(name);
      await (await lock.lock()).unlock();
      await cluster.moveSlot(slot, there);
      onTestFinished(() => cluster.moveSlot(slot, here));
      const [replica] = (await cluster.replicasOf(there)) as [TestServer];

      const hold = await lock.lock();
      expect(await there.command('HGETALL', name)).toEqual([hold.owner, '1']);
      const reader = await openRaw(replica.host, replica.port);
      await reader.command('READONLY');
      expect(await reader.command('HGETALL', name)).toEqual([hold.owner, '1']);
      expect(await hold.unlock()).toBe(true);

      // And missed there.
      await replica.pause();
      onTestFinished(() => replica.resume());
      await expect(lock.tryLock()).rejects.toMatchObject({ code: 'ERR_REPLICATION' });
      await replica.resume();
    },
  );

  it.each(CASES)(
    '%s, replicas: %s: a lock whose slot moves during the request is granted once',
    async (way, replicas) => {
      const client = await joinCluster(way, cluster, { ...OPTIONS, replicas, commandTimeoutMs: 10_000 });
      const [here, there] = cluster.nodes as [TestServer, TestServer];
      const name = await nameOn(cluster, here);
      const slot = cluster.slotOf(name);
      const move = await cluster.beginMove(slot, there);
      onTestFinished(() => cluster.moveSlot(slot, here));
      // Half-way, whoever asks for a lock that is not there is sent to and fro.
      const asked = Array.from({ length: 5 }, () => client.getLock(name).tryLock({ waitMs: 100 }));
      await move.finish();
      const outcomes = await Promise.allSettled(asked);
      expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
      const holds = outcomes.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
      expect(holds).toHaveLength(1);
      expect(await there.command('HGETALL', name)).toEqual([holds[0]?.owner, '1']);
    },
  );
});
