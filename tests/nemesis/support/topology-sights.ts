/** What is seen of faults of several servers: another primary, stalled replicas, open slots, a struck minority. */
import { expect } from 'vitest';
import { ClusterStage } from '../../../chaos/stages/cluster.ts';
import { MastersStage } from '../../../chaos/stages/masters.ts';
import { ReplicasStage } from '../../../chaos/stages/replicas.ts';
import { isUp } from '../../../chaos/stages/restart.ts';
import { SentinelStage } from '../../../chaos/stages/sentinel.ts';
import type { FaultProxy, TestServer } from '../../../src/testing/index.ts';
import { randomName } from '../../harness/names.ts';
import { answerOf, infoOf } from '../../harness/server-answers.ts';
import { eventually } from '../../harness/wait.ts';
import { isRefused, isSilent, type Observation, oneOf, open, type Sight } from './sight.ts';

function on<S>(
  kind: new (...args: never[]) => S,
  look: (stage: S, sight: Sight) => Promise<unknown>,
): Observation {
  return (sight) => {
    if (!(sight.stage instanceof kind)) throw new Error(`This is seen on ${kind.name} only`);
    return look(sight.stage, sight);
  };
}

const isFrozen = async (server: TestServer) => isSilent((await open(server)).command('PING'));
const roleOf = async (server: TestServer) => (await infoOf(server, 'replication'))?.get('role');

/** The port of the server that answers at the workers' address. */
async function portAt(address: FaultProxy): Promise<number> {
  const info = String(await (await open(address)).command('INFO', 'server'));
  return Number(/tcp_port:(\d+)/.exec(info)?.[1]);
}

const primaryKilled = on(ReplicasStage, async (stage, { start, stop }) => {
  const old = stage.primary;
  await start();
  expect(isUp(old.server)).toBe(false);
  expect(stage.primary).not.toBe(old);
  expect(await portAt(stage.links[0])).toBe(stage.primary.server.port);
  expect(await roleOf(stage.primary.server)).toBe('master');
  await stop();
  await eventually(async () => (await roleOf(old.server)) === 'slave');
});

/** A write that the old primary has acknowledged is not on the new one. */
const unreplicated = on(ReplicasStage, async (stage, sight) => {
  const { server } = stage.primary;
  const name = randomName('written');
  let written = 0;
  const starting = primaryKilled(sight);
  for (; isUp(server); written += 1) if ((await answerOf(server, 'INCR', name)) === undefined) break;
  await starting;
  expect(Number(await stage.primary.server.command('GET', name))).toBeLessThan(written);
});

const splitBrain = on(ReplicasStage, async (stage, { start }) => {
  const old = stage.primary;
  await start();
  expect(stage.primary).not.toBe(old);
  expect([await roleOf(old.server), await roleOf(stage.primary.server)]).toEqual(['master', 'master']);
  expect(await isRefused(old.server, /^NOREPLICAS/, 'SET', 'a', 'b')).toBe(true);
  expect(await stage.primary.server.command('SET', 'a', 'b')).toBe('OK');
});

const demoted = on(ReplicasStage, async (stage, { start }) => {
  const [address] = stage.links;
  const connection = await open(address);
  await connection.command('SET', 'a', 'b');
  await start();
  expect(await isRefused(connection, /^READONLY/, 'SET', 'a', 'b')).toBe(true);
  expect(await portAt(address)).toBe(stage.primary.server.port);
});

const replicasFrozen = on(ReplicasStage, async (stage, { start }) => {
  const { server } = stage.primary;
  await start();
  await server.command('SET', 'a', 'b');
  expect(await server.command('WAIT', 1, 300)).toBe(0);
});

const syncing = on(ReplicasStage, async (stage, { start }) => {
  await start();
  await eventually(async () => {
    expect(String(await stage.primary.server.command('INFO', 'replication'))).toContain('state=wait_bgsave');
  });
});

/** All Sentinels agree on another primary. */
const switched = on(SentinelStage, async ({ watched }, { start }) => {
  const from = await watched.primary();
  await start();
  expect(await watched.whenFailedOver(from)).not.toBe(from);
});

const oldStays = on(SentinelStage, async ({ watched }, { start }) => {
  const from = await watched.primary();
  await start();
  const next = await watched.whenFailedOver(from);
  expect([await roleOf(from), await roleOf(next)]).toEqual(['master', 'master']);
  expect(await from.command('SET', 'a', 'b')).toBe('OK');
});

const replaced = on(ClusterStage, async (stage, { start }) => {
  const before = await stage.primaries();
  await start();
  await eventually(async () => expect(await stage.primaries()).not.toEqual(before), { withinMs: 15_000 });
});

const slotOpen = on(ClusterStage, async (stage, { start, stop }) => {
  for (const server of await stage.primaries()) {
    for (let key = 0; key < 20; key += 1) {
      await server.command('SET', randomName(), 'x', 'PX', 60_000).catch(() => undefined);
    }
  }
  await start();
  const isOpen = async (server: TestServer) =>
    /\[\d+->-/.test(String(await server.command('CLUSTER', 'NODES')));
  await oneOf(stage.servers, isOpen);
  await stop();
  for (const server of stage.servers) expect(await isOpen(server)).toBe(false);
});

/** One of five looks like this, and the others do not. */
function minority(looks: (server: TestServer, link: FaultProxy) => Promise<boolean>): Observation {
  return on(MastersStage, async ({ members }, { start }) => {
    await start();
    const answers = await Promise.all(members.map(({ server, proxy }) => looks(server, proxy)));
    const struck = answers.filter(Boolean).length;
    expect(struck).toBeGreaterThanOrEqual(1);
    expect(struck).toBeLessThanOrEqual(2);
  });
}

/** One of those that may forget has another process. */
const restarted = on(MastersStage, async (stage, { start }) => {
  const before = stage.servers.map(({ pid }) => pid);
  const asking = stage.forgetful.map(async ({ proxy }) => (await open(proxy)).command('EVAL', 'return 1', 0));
  for (const asked of asking) asked.catch(() => undefined);
  await start();
  expect(stage.servers.filter(({ pid }, index) => pid !== before[index])).toHaveLength(1);
  expect(stage.servers.slice(2).map(({ pid }) => pid)).toEqual(before.slice(2));
});

function clockIsOff(sign: 1 | -1): Observation {
  return minority(async (server) => {
    const [seconds, micros] = (await server.command('TIME')) as string[];
    return (Number(seconds) * 1_000 + Number(micros) / 1_000 - Date.now()) * sign > 900;
  });
}

export const TOPOLOGY_SIGHTS: Readonly<Record<string, Observation>> = {
  'primary-killed': primaryKilled,
  'primary-killed-unreplicated': unreplicated,
  'split-brain': splitBrain,
  'primary-demoted': demoted,
  'replicas-frozen': replicasFrozen,
  'replicas-syncing': syncing,
  'sentinel-failover': switched,
  'sentinel-failover-unreplicated': switched,
  'sentinel-old-primary-stays': oldStays,
  'sentinel-primary-killed': switched,
  'sentinel-primary-killed-unreplicated': switched,
  'sentinel-primary-stopped': switched,
  'cluster-failover-graceful': replaced,
  'cluster-failover-force': replaced,
  'cluster-failover-takeover': replaced,
  'cluster-takeover-unreplicated': replaced,
  'cluster-primary-killed': replaced,
  'cluster-primary-killed-unreplicated': replaced,
  'slot-moved': slotOpen,
  'cluster-replicas-frozen': on(ClusterStage, async (stage, { start }) => {
    await start();
    await oneOf(stage.servers, isFrozen);
  }),
  'minority-killed': minority(async (server) => !isUp(server)),
  'minority-frozen': minority(isFrozen),
  'minority-cut': minority(async (_, link) => isSilent((await open(link)).command('PING'))),
  'member-restarted-empty': restarted,
  'member-restarted-while-asked': restarted,
  'member-clock-ahead': clockIsOff(1),
  'member-clock-behind': clockIsOff(-1),
};
