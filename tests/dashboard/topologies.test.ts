/** The dashboard of replicas, of a Cluster, and of a server that goes away. */
import { expect, it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, ownProxy, ownServer, sharedCluster } from '../harness/servers.ts';
import { ownReplicas } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { connect, ownDashboard, watch } from './support/own-dashboard.ts';

describeWithProcess('the dashboard', () => {
  it('names the replicas of a primary, and what they lack', async () => {
    const { primary, replicas } = await ownReplicas({ replicas: 2 });
    const client = await connect(primary.url);
    const page = await watch(await ownDashboard(client));
    const { nodes } = await page.next('health');
    const expected = replicas.map(({ server }) => `${server.host}:${server.port}`);
    expect(nodes[0]?.replicas.map(({ node }) => node).sort()).toEqual(expected.sort());
    for (const { state, lagBytes } of nodes[0]?.replicas ?? []) {
      expect(state).toBe('online');
      expect(lagBytes).toBeGreaterThanOrEqual(0);
    }
  });

  it('shows the locks of all primaries of a Cluster', async () => {
    const { addresses } = await sharedCluster();
    const family = randomName('dash');
    const client = await connect({ cluster: addresses }, { label: 'the app' });
    const page = await watch(await ownDashboard(client, { pattern: `${family}:*` }));
    const names = Array.from({ length: 30 }, (_, i) => `${family}:${i}`);
    await Promise.all(names.map((name) => client.getLock(name).lock()));
    await eventually(() => page.rows.size === names.length, { withinMs: 15_000 });
    const health = await page.next('health');
    expect(health).toMatchObject({ topology: 'cluster', status: 'ok' });
    expect(health.nodes).toHaveLength(3);
    expect(health.server).toMatch(/, 3 primaries$/);
  });

  it('says that the server is away, once, and goes on when it is back', async () => {
    const server = await ownServer();
    const proxy = await ownProxy(server);
    const client = await connect(proxy.url, { commandTimeoutMs: 300 });
    const page = await watch(await ownDashboard(client));
    const other = await connect(server.url);
    await other.getLock('a').lock();
    await page.row('a');
    await proxy.refuse();
    const failed = await page.next('happened', ({ what }) => what === 'error');
    expect(failed.text).toMatch(/^the dashboard cannot look at the locks: /);
    await page.next('health', ({ status }) => status === 'down');
    // What was seen last stays, until it is known better.
    expect(page.rows.has('a')).toBe(true);
    await proxy.heal();
    await other.getLock('b').lock();
    await page.row('b');
    const same = page.all('happened').filter(({ text }) => text === failed.text);
    expect(same).toHaveLength(1);
    await page.next('health', ({ status, at }) => status === 'ok' && at > failed.at);
  });
});
