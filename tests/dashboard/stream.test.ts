/** What the page is told: the list as it is, what changes in it, what happened, and what looking costs. */
import { describe, expect, it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openShared, ownServer, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { asked, connect, ownDashboard, watch } from './support/own-dashboard.ts';

const JAVA = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455:81';

/** A family of locks that only this test sees. */
async function setUp(options: Parameters<typeof ownDashboard>[1] = {}) {
  const family = randomName('dash');
  const client = await connect(sharedServer().url, { label: 'the app' });
  const dashboard = await ownDashboard(client, { pattern: `${family}:*`, ...options });
  const other = await connect(sharedServer().url, { label: 'billing 7' });
  return { family, client, dashboard, other };
}

describe('the stream', () => {
  it('says hello, then everything there is, then changes', async () => {
    const { family, dashboard, other } = await setUp({ title: 'Locks of the shop' });
    await other.getLock(`${family}:first`).lock();
    const page = await watch(dashboard);
    const hello = await page.next('hello');
    expect(page.events[0]?.name).toBe('hello');
    expect(hello).toMatchObject({ title: 'Locks of the shop', csrf: null, points: [], timeline: [] });
    expect(page.events[1]).toMatchObject({ name: 'locks', data: { whole: true } });
    await page.row(`${family}:first`);

    const late = await watch(dashboard);
    const snapshot = await late.next('locks');
    expect(snapshot.whole).toBe(true);
    expect(snapshot.changed.map(({ key }) => key)).toEqual([`${family}:first`]);
  });

  it('shows a lock that is taken with its holder, and that it is gone', async () => {
    const { family, dashboard, other } = await setUp();
    const page = await watch(dashboard);
    const key = `${family}:import`;
    const hold = await other.getLock(key).lock();
    const row = await page.row(key, ({ holders }) => holders[0]?.label === 'billing 7');
    expect(row).toMatchObject({ key, kind: 'lock', held: 1, waiting: 0, waiters: [], token: null });
    const [holder] = row.holders;
    expect(holder).toMatchObject({ owner: hold.owner, pid: process.pid, holdCount: 1 });
    expect(holder?.leaseMs).toBeGreaterThan(25_000);
    expect(holder?.leaseMs).toBeLessThanOrEqual(30_000);
    expect((holder?.endsAt ?? 0) - Date.now()).toBeGreaterThan(15_000);
    await hold.unlock();
    await eventually(() => !page.rows.has(key), { withinMs: 10_000 });
    expect(page.all('locks').at(-1)).toMatchObject({ whole: false, changed: [], gone: [key] });
  });

  it('shows every kind, and those of Java', async () => {
    const { family, dashboard, other } = await setUp({ counters: true });
    const raw = await openShared();
    const hold = await other.getFencedLock(`${family}:fenced`).lock();
    await other.getReadWriteLock(`${family}:rw`).readLock().lock();
    await other.getSimpleLock(`${family}:simple`).lock();
    const permits = other.getPermitExpirableSemaphore(`${family}:permits`);
    await permits.trySetPermits(3);
    const permit = await permits.acquire();
    await other
      .getRateLimiter(`${family}:rate`)
      .trySetRate({ mode: 'overall', rate: 10, intervalMs: 60_000 });
    await other.getRateLimiter(`${family}:rate`).acquire();
    await other.getSemaphore(`${family}:desks`).trySetPermits(4);
    await raw.command('HSET', `${family}:java`, JAVA, '2');
    await raw.command('PEXPIRE', `${family}:java`, '30000');
    const page = await watch(dashboard);
    expect(await page.row(`${family}:fenced`)).toMatchObject({ kind: 'fenced', token: hold.token, held: 1 });
    expect(await page.row(`${family}:rw`)).toMatchObject({ kind: 'readWrite', held: 1 });
    expect(await page.row(`${family}:simple`)).toMatchObject({ kind: 'simple', held: 1 });
    const semaphore = await page.row(`${family}:permits`);
    expect(semaphore).toMatchObject({ kind: 'permitSemaphore', held: 1, free: 2 });
    expect(semaphore.holders[0]?.owner).toBe(permit.id);
    const rate = { permits: 10, intervalMs: 60_000 };
    expect(await page.row(`${family}:rate`)).toMatchObject({ kind: 'rateLimiter', rate, free: 9 });
    expect(await page.row(`${family}:desks`)).toMatchObject({ kind: 'counter', count: 4, held: 0 });
    const java = await page.row(`${family}:java`);
    expect(java.holders).toMatchObject([{ owner: JAVA, label: null, holdCount: 2, isSeen: true }]);
  });

  it('carries names of any text', async () => {
    const { family, dashboard } = await setUp();
    const raw = await openShared();
    const names = [
      '<img src=x onerror=alert(1)>',
      'a\nb\r\n\nevent: hello',
      '\u202Eevil',
      '\u2028',
      '"\\',
      '锁 🔒',
    ];
    for (const name of names) {
      await raw.command('HSET', `${family}:${name}`, JAVA, '1');
      await raw.command('PEXPIRE', `${family}:${name}`, '30000');
    }
    // No client of this library can name such a key; it must not hide the others.
    await raw.command(
      'HSET',
      Buffer.concat([Buffer.from(`${family}:`), Buffer.from([0xff, 0xfe])]),
      JAVA,
      '1',
    );
    const page = await watch(dashboard);
    for (const name of names) expect((await page.row(`${family}:${name}`)).key).toBe(`${family}:${name}`);
    const path = `api/lock?name=${encodeURIComponent(`${family}:${names[1]}`)}`;
    expect(await (await dashboard.fetch(asked(path))).json()).toMatchObject({
      row: { key: `${family}:${names[1]}` },
    });
  });

  it('shows the health of the server and the load', async () => {
    const { dashboard } = await setUp();
    const page = await watch(dashboard);
    const health = await page.next('health');
    expect(health).toMatchObject({ status: 'ok', topology: 'standalone', problems: [] });
    expect(health.server).toMatch(/^(?:redis|valkey) \d/);
    expect(health.nodes).toMatchObject([{ node: '', replicas: [] }]);
    const load = await page.next('load', ({ sweepMs }) => sweepMs !== null);
    expect(load.maxCommandsPerSecond).toBe(1_000);
    expect(load.commandsPerSecond).toBeLessThanOrEqual(1_000);
  });
});

describeWithProcess('the stream of a server that endangers locks', () => {
  it('names the problem, and its remedy', async () => {
    const server = await ownServer({ args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'] });
    const page = await watch(await ownDashboard(await connect(server.url)));
    const { status, problems } = await page.next('health');
    expect(status).toBe('degraded');
    expect(problems).toContainEqual({
      code: 'HOLDFAST_EVICTION',
      message: expect.stringContaining('allkeys-lru'),
      remedy: expect.stringContaining('noeviction'),
    });
  });
});
