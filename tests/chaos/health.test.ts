/** What a readiness probe hears, whatever happens to the server; and that it hears it in time. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { ownCluster } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { arena, join, listenTo, scriptCalls, timed } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';

const commandTimeoutMs = 600;
/** Far below what a health check without a bound of its own would take, on a busy machine too. */
const IN_TIME_MS = 2_500;
/** Several servers on one machine, one of which has just been killed, may be slow to answer. */
const CLUSTER_TIMEOUT_MS = 2_000;

async function clusterClient({ addresses }: { addresses: { host: string; port: number }[] }) {
  const { createCluster } = await import('redis');
  const rootNodes = addresses.map(({ host, port }) => ({ socket: { host, port } }));
  const cluster = createCluster({ rootNodes });
  cluster.on('error', () => {});
  await cluster.connect();
  onTestFinished(() => cluster.destroy());
  const client = Holdfast.from(cluster, { commandTimeoutMs: CLUSTER_TIMEOUT_MS });
  onTestFinished(() => client.close());
  return client;
}

describeWithProcess('health', () => {
  describe.each(EACH_WAY)('of one server with %s', (way) => {
    it('is ok, and costs one round trip', async () => {
      const { server } = await arena();
      const client = await join(way, server);
      const first = await client.health();
      expect(first).toEqual({
        status: 'ok',
        latencyMs: expect.any(Number),
        problems: [],
        nodes: [{ node: '', latencyMs: first.latencyMs }],
      });
      expect(first.latencyMs).toBeGreaterThanOrEqual(0);
      const before = await scriptCalls(server);
      await client.health();
      expect((await scriptCalls(server)) - before).toBe(1);
    });

    it('is down in time while the server stands still, and ok once the server answers', async () => {
      const { server } = await arena();
      const client = await join(way, server, { commandTimeoutMs });
      await client.capabilities();
      await server.pause();
      const { value, tookMs } = await timed(client.health());
      expect(value).toMatchObject({
        status: 'down',
        latencyMs: null,
        problems: [{ code: 'ERR_OUTCOME_UNKNOWN' }],
        nodes: [{ node: '', latencyMs: null }],
      });
      expect(tookMs).toBeLessThan(IN_TIME_MS);
      await server.resume();
      await eventually(async () => expect((await client.health()).status).toBe('ok'));
    });

    it('is down in time while there is no server, and ok once a server is back', async () => {
      const { server } = await arena();
      const client = await join(way, server, { commandTimeoutMs });
      await client.capabilities();
      await server.kill();
      const { value, tookMs } = await timed(client.health());
      expect(value).toMatchObject({
        status: 'down',
        latencyMs: null,
        problems: [{ code: expect.stringMatching(/^ERR_(DRIVER|OUTCOME_UNKNOWN)$/) }],
      });
      expect(tookMs).toBeLessThan(IN_TIME_MS);
      await server.restart();
      await eventually(async () => expect((await client.health()).status).toBe('ok'));
    });

    it('is degraded by a warning, until its cause is fixed', async () => {
      const { server } = await arena({
        args: ['--maxmemory', '100mb', '--maxmemory-policy', 'volatile-ttl'],
      });
      const client = await join(way, server);
      const degraded = await client.health();
      expect(degraded).toMatchObject({
        status: 'degraded',
        problems: [{ code: 'HOLDFAST_EVICTION', message: expect.stringContaining('volatile-ttl') }],
      });
      await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      expect(await client.health()).toMatchObject({ status: 'ok', problems: [] });
      expect(await client.capabilities()).toMatchObject({
        evictionPolicy: 'noeviction',
        mayEvictLocks: false,
      });
    });
  });

  it('reports holds whose renewals fail', async () => {
    const { server } = await arena();
    const rules = ['on', '>secret', '~*', '&*', '+@all'];
    await server.command('ACL', 'SETUSER', 'limited', 'reset', ...rules);
    const { host, port } = server;
    const place = { host, port, username: 'limited', password: 'secret' };
    const client = await join('Holdfast.connect', place, { watchdogMs: 3_000 });
    const { atRisk } = listenTo(client);
    await client.getLock(randomName()).lock();
    await server.command('ACL', 'SETUSER', 'limited', 'resetkeys');
    await eventually(() => expect(atRisk).toHaveLength(1));
    expect(await client.health()).toMatchObject({
      status: 'degraded',
      problems: [{ code: 'HOLDFAST_AT_RISK', message: expect.stringContaining('1 hold is at risk') }],
    });
    await server.command('ACL', 'SETUSER', 'limited', '~*');
    await eventually(async () => expect((await client.health()).status).toBe('ok'));
  });

  it('of a closed client is down, and nothing is sent', async () => {
    const { server } = await arena();
    const client = await join('Holdfast.connect', server);
    await client.close();
    const before = await scriptCalls(server);
    expect(await client.health()).toMatchObject({
      status: 'down',
      problems: [{ code: 'ERR_CLOSED' }],
      nodes: [],
    });
    expect(await scriptCalls(server)).toBe(before);
  });
});

describeWithProcess('health of a Cluster', () => {
  it('names the primary that is down, and the state of the others', async () => {
    const cluster = await ownCluster({ replicasEach: 0, args: ['--cluster-require-full-coverage', 'no'] });
    const client = await clusterClient(cluster);
    expect(await client.capabilities()).toMatchObject({
      topology: 'cluster',
      primaries: 3,
      pubSub: 'sharded',
    });
    const names = cluster.nodes.map(({ host, port }) => `${host}:${port}`);
    const healthy = await client.health();
    expect(healthy).toMatchObject({ status: 'ok', problems: [] });
    expect(healthy.nodes.map(({ node }) => node).sort()).toEqual([...names].sort());

    const [node] = cluster.nodes as [TestServer];
    const [name] = names as [string];
    await node.kill();
    const { value, tookMs } = await timed(client.health());
    expect(tookMs).toBeLessThan(CLUSTER_TIMEOUT_MS + IN_TIME_MS);
    const health = value as Awaited<ReturnType<Holdfast['health']>>;
    expect(health).toMatchObject({
      status: 'degraded',
      problems: [{ node: name, message: expect.stringContaining(name) }],
    });
    for (const { node: asked, latencyMs } of health.nodes) {
      expect(latencyMs === null, asked).toBe(asked === name);
    }
  });

  it('asks each primary directly, even for a user without permission for our keys', async () => {
    const cluster = await ownCluster({ replicasEach: 0 });
    for (const node of cluster.nodes) {
      await node.command('ACL', 'SETUSER', 'default', 'resetkeys', '~orders:*');
    }
    const [, second] = cluster.nodes as [TestServer, TestServer];
    await second.command('CONFIG', 'SET', 'maxmemory', '100mb');
    await second.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const client = await clusterClient(cluster);
    const name = `${second.host}:${second.port}`;
    expect(await client.capabilities()).toMatchObject({
      primaries: 3,
      evictionPolicy: 'allkeys-lru',
      mayEvictLocks: true,
    });
    const { status, problems, nodes } = await client.health();
    expect({ status, problems }).toMatchObject({
      status: 'degraded',
      problems: [{ code: 'HOLDFAST_EVICTION', node: name, message: expect.stringContaining(name) }],
    });
    expect(nodes.map(({ latencyMs }) => typeof latencyMs)).toEqual(['number', 'number', 'number']);
  });
});
