/**
 * Replicas of a Cluster take over while locks are held and waited for: by agreement, by force, and because the
 * primary is dead; or a primary restarts and has forgotten them. With the libraries' own settings and with ours, with
 * the guard and without it.
 *
 * All tests of replicas use one Cluster, one shard after the other failing over, back and forth.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ClientOptions } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { type FailoverKind, startCluster, type TestCluster } from '../harness/cluster.ts';
import { cutReplication } from '../harness/cut-replication.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { ownCluster } from '../harness/topologies.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { nameOn, settleSlot } from './support/cluster-stage.ts';
import { assertDoubled, assertKept, Duel, type Duelists } from './support/duel.ts';
import { take, whenHeardAt } from './support/failover-stage.ts';
import { joinCluster } from './support/topology-ways.ts';
import { WAYS, type Way } from './support/ways.ts';

const GRACE_MS = 3_000;
/** A waiter that no message reaches asks again after this at the latest. */
const POLL_MS = 6_000;
/** And after four seconds at the earliest. */
const SOONER_THAN_A_POLL_MS = 2_500;
const TEST_MS = 60_000;

/** Where the client library makes no difference. */
const OURS: readonly Way[] = ['Holdfast.connect'];

const UNGUARDED: ClientOptions = { watchdogMs: GRACE_MS, commandTimeoutMs: 2_000, replicas: 0 };
const GUARDED: ClientOptions = { ...UNGUARDED, guard: { graceMs: GRACE_MS } };

/** Renewed so seldom that a holder does not learn of what happened before somebody else is in. */
const UNAWARE: ClientOptions = { ...UNGUARDED, watchdogMs: 30_000 };

/** A dead primary is replaced after three seconds or more, which holds have to outlast. */
const PATIENT_MS = 8_000;
const PATIENT: ClientOptions = { ...GUARDED, watchdogMs: PATIENT_MS, guard: { graceMs: PATIENT_MS } };

/** For each way two clients and a lock that has its home on that primary. */
function pairsIn(
  cluster: TestCluster,
  primary: TestServer,
  options: ClientOptions,
  ways: readonly Way[] = WAYS,
): Promise<Duelists[]> {
  return Promise.all(
    ways.map(async (title) => {
      const name = await nameOn(cluster, primary);
      if (options.guard !== undefined) await settleSlot(primary, name);
      const client = () => joinCluster(title, cluster, options);
      return { title, name, holder: await client(), waiter: await client() };
    }),
  );
}

const begin = (who: readonly Duelists[], primary: TestServer) =>
  Promise.all(who.map((one) => Duel.begin(one, primary)));

describeWithProcess('a replica of a Cluster takes over', () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    const binary = inject('serverBinary');
    cluster = await startCluster({ ...(binary !== null && { binary }) });
  });

  afterAll(() => cluster.close());

  const pairs = (primary: TestServer, options: ClientOptions, ways?: readonly Way[]) =>
    pairsIn(cluster, primary, options, ways);

  describe.each<FailoverKind>(['graceful', 'force', 'takeover'])('%s', (kind) => {
    it(
      'replicated locks stay with their holders, in every mode, with the guard and without',
      async () => {
        const primary = await cluster.primaryOf(0);
        await whenAcknowledging(primary, 1);
        // Their leases are so long that nobody looks when they end.
        const plain = await pairs(primary, UNAWARE);
        const guarded = await pairs(primary, GUARDED);
        const acknowledged = [
          ...(await pairs(primary, { ...UNAWARE, replicas: 'auto' }, OURS)),
          ...(await pairs(primary, { ...UNAWARE, replicas: 1 }, OURS)),
        ];
        const free = await begin([...plain, ...acknowledged], primary);
        const kept = await begin(guarded, primary);
        await whenAcknowledging(primary, 1);
        const next = await cluster.failover(0, kind);
        await whenAcknowledging(next, 1);

        // A waiter may be told of the switch before the node that it asks who is in charge.
        await Promise.all(free.map(({ name }) => whenHeardAt([next, primary], name)));
        await Promise.all(free.map((duel) => assertKept(duel, SOONER_THAN_A_POLL_MS)));
        for (const duel of kept) await assertKept(duel, GRACE_MS + POLL_MS);
        expect(await cluster.primaryOf(0)).toBe(next);
      },
      TEST_MS,
    );
  });

  describe.each<FailoverKind>(['force', 'takeover'])('%s, before the lock was replicated', (kind) => {
    it(
      'without the guard the lock is granted twice, by default too if no replica was left, and with it the lock stays with its holder',
      async () => {
        const primary = await cluster.primaryOf(0);
        const [plain, guarded] = [await pairs(primary, UNAWARE), await pairs(primary, GUARDED)];
        const [byDefault] = (await pairs(primary, { ...UNAWARE, replicas: 'auto' }, OURS)) as [Duelists];
        const restore = await cutReplication(primary);
        const free = await begin(plain, primary);
        const kept = await begin(guarded, primary);
        const hold = await take(byDefault.holder.getLock(byDefault.name));
        const [replica] = (await cluster.replicasOf(primary)) as [TestServer];
        await replica.command('CLUSTER', 'FAILOVER', kind.toUpperCase());
        await cluster.whenFailedOver(0, primary);
        await restore();

        // Whoever is heard at the new primary looks there at once.
        for (const duel of free) await assertDoubled(duel, SOONER_THAN_A_POLL_MS);
        // The old primary is a replica by now, and asked.
        await whenAcknowledging(await cluster.primaryOf(0), 1);
        const second = await take(byDefault.waiter.getLock(byDefault.name));
        hold.assertHeld();
        second.assertHeld();
        // Longer than the lease: they came back and were renewed.
        await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
        for (const duel of kept) await assertKept(duel, POLL_MS);
      },
      TEST_MS,
    );
  });

  it(
    'killed before the lock was replicated: the lock is granted twice without the guard, and kept with it',
    async () => {
      const primary = await cluster.primaryOf(0);
      const [plain, guarded] = [await pairs(primary, UNAWARE), await pairs(primary, PATIENT)];
      await cutReplication(primary);
      const free = await begin(plain, primary);
      const kept = await begin(guarded, primary);
      await primary.kill();

      for (const duel of free) await assertDoubled(duel, PATIENT_MS + POLL_MS);
      for (const duel of kept) await assertKept(duel, PATIENT_MS + POLL_MS);
    },
    TEST_MS,
  );
});

describeWithProcess('a primary of a Cluster restarts without its data', () => {
  it(
    'the lock is granted twice without the guard, by default too, and kept with it',
    async () => {
      // No replica is there to take over before it is back.
      const cluster = await ownCluster({ replicasEach: 0 });
      const primary = await cluster.primaryOf(0);
      const plain = [
        ...(await pairsIn(cluster, primary, UNAWARE)),
        ...(await pairsIn(cluster, primary, { ...UNAWARE, replicas: 'auto' }, OURS)),
      ];
      const guarded = await pairsIn(cluster, primary, PATIENT);
      const free = await begin(plain, primary);
      const kept = await begin(guarded, primary);
      await primary.restart();
      await cluster.whenSettled();

      for (const duel of free) await assertDoubled(duel, POLL_MS);
      // Longer than the lease: they came back and were renewed.
      await new Promise((resolve) => setTimeout(resolve, PATIENT_MS));
      for (const duel of kept) await assertKept(duel, POLL_MS);
    },
    TEST_MS,
  );
});
