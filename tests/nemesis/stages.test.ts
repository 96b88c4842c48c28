/** Every stage serves locks, comes back from the worst that can be done to it, and leaves no process behind. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { Stage, StageName } from '../../chaos/fault.ts';
import { ClusterStage } from '../../chaos/stages/cluster.ts';
import { startStage } from '../../chaos/stages/index.ts';
import { MastersStage } from '../../chaos/stages/masters.ts';
import { OneStage } from '../../chaos/stages/one.ts';
import { FAULT_PASSWORD } from '../../chaos/stages/repair.ts';
import { ReplicasStage } from '../../chaos/stages/replicas.ts';
import { SentinelStage } from '../../chaos/stages/sentinel.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { isRunning } from '../harness/processes.ts';
import { infoOf } from '../harness/server-answers.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { serves } from './support/serving.ts';

vi.setConfig({ testTimeout: 60_000 });

const STAGES: readonly StageName[] = ['one', 'replicas', 'sentinel', 'cluster', 'masters'];

async function open(name: StageName): Promise<Stage> {
  const stage = await startStage(name, inject('serverBinary') ?? undefined);
  onTestFinished(() => stage.close());
  return stage;
}

function processesOf(stage: Stage): number[] {
  const sentinels = stage instanceof SentinelStage ? stage.watched.sentinels : [];
  return [...stage.servers, ...sentinels].map(({ pid }) => pid);
}

/** Settings and rights that no client can live with. */
async function ruin(server: TestServer): Promise<void> {
  const settings = ['maxmemory', 1, 'maxmemory-policy', 'allkeys-lru', 'min-replicas-to-write', 5] as const;
  await server.command('CONFIG', 'SET', ...settings);
  await server.command('ACL', 'SETUSER', 'default', 'resetpass', `>${FAULT_PASSWORD}`, 'resetkeys', '-info');
  await server.command('CLIENT', 'PAUSE', 60_000, 'WRITE');
}

/** What is worst depends on what there is to break. */
async function breakAll(stage: Stage): Promise<void> {
  for (const server of stage.servers) await ruin(server);
  if (stage instanceof OneStage) await stage.clock.move(60_000);
  if (stage instanceof MastersStage) await stage.forgetful[0]?.clock.move(-60_000);
  if (stage instanceof ReplicasStage) {
    for (const { link } of stage.members) link.proxy.blackhole();
    for (const { server } of stage.replicas) await server.command('REPLICAOF', 'NO', 'ONE');
  }
  if (stage instanceof SentinelStage) await stage.watched.sentinels[0]?.kill();
  for (const link of stage.links) await link.refuse();
  const [first, second, ...others] = stage.servers;
  await first?.kill();
  await second?.pause();
  if (stage instanceof ClusterStage) return;
  for (const server of others) await server.kill();
}

/** Nothing of it is left. */
async function expectWhole(stage: Stage): Promise<void> {
  for (const server of stage.servers) {
    const settings = (await server.command('CONFIG', 'GET', 'm*')) as string[];
    expect(settings[settings.indexOf('maxmemory') + 1]).toBe('0');
    expect(settings[settings.indexOf('min-replicas-to-write') + 1]).toBe('0');
    expect(String(await server.command('ACL', 'LIST'))).toContain('user default on nopass');
    const [seconds] = (await server.command('TIME')) as string[];
    expect(Math.abs(Number(seconds) * 1_000 - Date.now())).toBeLessThan(5_000);
  }
  const primaries = await stage.primaries();
  for (const server of stage.servers) {
    const role = (await infoOf(server, 'replication'))?.get('role');
    expect(role).toBe(primaries.includes(server) ? 'master' : 'slave');
  }
}

describeWithProcess('a stage', () => {
  it('that cannot heal reports its name and the reason', async () => {
    const stage = await open('one');
    const [server] = stage.servers as [TestServer];
    await server.kill();
    const stranger = createServer().listen(server.port, server.host);
    onTestFinished(() => {
      stranger.close();
    });
    await once(stranger, 'listening');
    await expect(stage.heal()).rejects.toThrow(
      /stage "one" did not recover while waiting for its servers: .*in use/s,
    );
  });

  it('with Sentinels that disagree has them agree again', async () => {
    const stage = (await open('sentinel')) as SentinelStage;
    const { watched } = stage;
    const [first] = watched.sentinels as [TestServer];
    const primary = await watched.primary();
    const other = stage.servers.find((server) => server !== primary) as TestServer;
    await first.command('SENTINEL', 'REMOVE', watched.name);
    await first.command('SENTINEL', 'MONITOR', watched.name, other.host, other.port, 3);
    expect(await watched.primary()).toBe(other);
    await stage.heal();
    expect(await watched.primary()).toBe(primary);
    await serves(stage);
  });

  it('with a slot that is half-way has it arrive', async () => {
    const stage = (await open('cluster')) as ClusterStage;
    const { cluster } = stage;
    const [name, copied] = ['{half}:way', '{half}:both'];
    const from = await cluster.primaryOf(name);
    const to = cluster.nodes.slice(0, 3).find((node) => node !== from) as TestServer;
    for (const key of [name, copied]) await from.command('SET', key, 'kept');
    const move = await cluster.beginMove(cluster.slotOf(name), to);
    await move.migrate(name, copied);
    // What no client should see, and a failover can bring about: the key is on both sides.
    await from.command('CLUSTER', 'SETSLOT', move.slot, 'STABLE');
    await from.command('SET', copied, 'newer');
    await from.command('CLUSTER', 'SETSLOT', move.slot, 'MIGRATING', cluster.idOf(to));
    await stage.heal();
    expect(await cluster.primaryOf(name)).toBe(to);
    expect([await to.command('GET', name), await to.command('GET', copied)]).toEqual(['kept', 'newer']);
  });

  describe.each(STAGES)('%s', (name) => {
    it('serves a lock, heals from the worst, and ends with all of its processes', async () => {
      const stage = await open(name);
      await serves(stage);
      await breakAll(stage);
      await stage.heal();
      await expectWhole(stage);
      await serves(stage);
      const processes = processesOf(stage);
      await stage.close();
      expect(processes.filter(isRunning)).toEqual([]);
    });

    it('is left alone by a heal that has nothing to heal', async () => {
      const stage = await open(name);
      const [processes, primaries] = [processesOf(stage), await stage.primaries()];
      await stage.heal();
      expect([processesOf(stage), await stage.primaries()]).toEqual([processes, primaries]);
    });
  });
});
