/** Waiters of locks without a queue, as the server knows them: how many clients listen on the channel of a lock. */
import { expect, it } from 'vitest';
import type { LockRow } from '../../src/dashboard/protocol.ts';
import { startHolder } from '../dashboard-ui/support/children.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, ownServer, sharedCluster, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { connect, ownDashboard, watch } from './support/own-dashboard.ts';

/** Starts processes that wait for it, one after the other. */
async function waitInChildren(url: string, key: string, count: number) {
  const children = Array.from({ length: count }, () => startHolder(url, key));
  await Promise.all(children.map((child) => child.next(({ state }) => state === 'asking')));
  return children;
}

const waits = (count: number) => (row: LockRow) => row.waiting === count;

describeWithProcess('the waiters in other processes', () => {
  it('are counted in the row, and in the charts', async () => {
    const family = randomName('dash');
    const { url } = sharedServer();
    const holder = await connect(url);
    const hold = await holder.getLock(`${family}:busy`).lock();
    const free = await holder.getLock(`${family}:idle`).lock();
    const dashboard = await ownDashboard(await connect(url), { pattern: `${family}:*` });
    const page = await watch(dashboard);
    expect(await page.row(`${family}:busy`)).toMatchObject({ waiting: 0, ownWaiting: 0, waiters: [] });
    const children = await waitInChildren(url, `${family}:busy`, 2);
    expect(await page.row(`${family}:busy`, waits(2))).toMatchObject({ ownWaiting: 0, waiters: [] });
    const point = await page.next('point', ({ waiting }) => waiting === 2, 15_000);
    expect(point).toMatchObject({ held: 2, waitedFor: 1, waiting: 2, acquired: null });
    expect((await page.next('load')).countsListeners).toBe(true);
    await hold.unlock();
    // One of them has it; its subscription lingers for a second.
    await page.row(`${family}:busy`, waits(1));
    await free.unlock();
    for (const child of children) child.kill('SIGKILL');
    await page.row(`${family}:busy`, waits(0));
  });

  it('are not among what clients of the process tell', async () => {
    const family = randomName('dash');
    const { url } = sharedServer();
    const client = await connect(url, { label: 'the app' });
    const key = `${family}:busy`;
    const page = await watch(await ownDashboard(client, { pattern: `${family}:*` }));
    const hold = await client.getLock(key).lock();
    const calls = [1, 2, 3].map(() => client.getLock(key).lock({ owner: client.owner() }));
    // The calls of one client share its subscription.
    const own = await page.row(key, ({ waiting, ownWaiting }) => waiting === 1 && ownWaiting === 3);
    expect(own.waiters.map(({ label }) => label)).toEqual(['the app', 'the app', 'the app']);
    const [child] = await waitInChildren(url, key, 1);
    await page.row(key, ({ waiting, ownWaiting }) => waiting === 2 && ownWaiting === 3);
    const point = await page.next('point', ({ waiting }) => waiting === 2, 15_000);
    expect(point.waitedFor).toBe(1);
    child?.kill('SIGKILL');
    await hold.unlock();
    for (const call of calls) await (await call).unlock();
  });

  it('are not counted where the server refuses, and the page is told', async () => {
    const server = await ownServer();
    await server.command('ACL', 'SETUSER', 'looker', 'on', '>pw', '~*', '&*', '+@all', '-pubsub');
    const client = await connect({ url: server.url, username: 'looker', password: 'pw' });
    await server.command(
      'ACL',
      'SETUSER',
      'counter',
      'on',
      '>pw',
      '~*',
      '&*',
      '+@all',
      '-pubsub',
      '+pubsub|numsub',
    );
    const counting = await connect({ url: server.url, username: 'counter', password: 'pw' });
    const other = await connect(server.url);
    await other.getLock('busy').lock();
    await (await watch(await ownDashboard(counting))).row('busy', waits(0));
    const page = await watch(await ownDashboard(client));
    expect(await page.row('busy')).toMatchObject({ held: 1, waiting: null });
    const warning = await page.next('happened', ({ what }) => what === 'warning');
    expect(warning.text).toMatch(/^the server does not permit PUBSUB, .* are not counted: .*can't run/);
    await page.next('load', ({ countsListeners }) => !countsListeners);
    await other.getLock('other').lock();
    await page.row('other');
    expect(page.all('happened')).toHaveLength(1);
  });

  it('are counted at the server of each lock of a Cluster', async () => {
    const { addresses } = await sharedCluster();
    const family = randomName('dash');
    const holder = await connect({ cluster: addresses });
    const waiter = await connect({ cluster: addresses });
    const names = Array.from({ length: 12 }, (_, i) => `${family}:${i}`);
    const holds = await Promise.all(names.map((name) => holder.getLock(name).lock()));
    const waiting = names.map((name) => waiter.getLock(name).lock());
    const client = await connect({ cluster: addresses });
    const page = await watch(await ownDashboard(client, { pattern: `${family}:*` }));
    await eventually(() => names.every((name) => page.rows.get(name)?.waiting === 1), { withinMs: 15_000 });
    await Promise.all(holds.map((hold) => hold.unlock()));
    for (const call of waiting) await (await call).unlock();
  });
});
