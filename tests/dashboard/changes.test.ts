/** What the page is told over seconds: leases, waiters that move up, and the history of a lock. */
import { describe, expect, it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { asked, connect, ownDashboard, watch } from './support/own-dashboard.ts';

const JAVA = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455:81';

/** A family of locks that only this test sees. */
async function setUp() {
  const family = randomName('dash');
  const client = await connect(sharedServer().url, { label: 'the app' });
  const dashboard = await ownDashboard(client, { pattern: `${family}:*` });
  const other = await connect(sharedServer().url, { label: 'billing 7' });
  return { family, dashboard, other };
}

describe('a row', () => {
  it('says nothing of a lease that only runs down, and tells of its renewal', async () => {
    const { family, dashboard, other } = await setUp();
    const key = `${family}:steady`;
    const hold = await other.getLock(key).lock({ leaseMs: 60_000 });
    const page = await watch(dashboard);
    const { holders } = await page.row(key, (row) => row.holders[0]?.label === 'billing 7');
    const told = () => page.all('locks').filter(({ changed }) => changed.length > 0).length;
    const before = told();
    // Several looks at it.
    const looks = page.all('load').length;
    await eventually(() => page.all('load').length >= looks + 15, { withinMs: 20_000 });
    expect(told()).toBe(before);
    await hold.extend(120_000);
    const renewed = await page.row(key, (row) => (row.holders[0]?.leaseMs ?? 0) > 100_000);
    expect(renewed.holders[0]?.endsAt).toBeGreaterThan((holders[0]?.endsAt ?? 0) + 50_000);
    expect(renewed.holders[0]?.since).toBe(holders[0]?.since);
  });

  it('shows the waiters of a fair lock in order, and that they move up', async () => {
    const { family, dashboard, other } = await setUp();
    const desk = other.getFairLock(`${family}:desk`);
    const first = await desk.lock();
    const second = desk.lock({ owner: other.owner() });
    const page = await watch(dashboard);
    await page.row(`${family}:desk`, ({ waiting }) => waiting === 1);
    const third = desk.lock({ owner: other.owner() });
    const row = await page.row(`${family}:desk`, ({ waiting }) => waiting === 2);
    expect(row).toMatchObject({ kind: 'fair', held: 1 });
    const [next, last] = row.waiters;
    await first.unlock();
    const moved = await page.row(`${family}:desk`, ({ waiting }) => waiting === 1);
    expect(moved.holders[0]?.owner).toBe(next?.owner);
    expect(moved.waiters).toMatchObject([{ owner: last?.owner }]);
    await (await second).unlock();
    await (await third).unlock();
  });
});

describe('the history of a lock', () => {
  it('says who took it and that it was released', async () => {
    const { family, dashboard, other } = await setUp();
    const page = await watch(dashboard);
    const key = `${family}:job`;
    const hold = await other.getLock(key).lock();
    await page.row(key);
    await hold.unlock();
    await eventually(() => !page.rows.has(key), { withinMs: 10_000 });
    const answer = await dashboard.fetch(asked(`api/lock?name=${encodeURIComponent(key)}`));
    const { row, history } = (await answer.json()) as { row: unknown; history: { what: string }[] };
    expect(row).toBeNull();
    expect(history.map(({ what }) => what)).toEqual(['released', 'taken']);
  });

  it('tells in the timeline that a lease ended unreleased', async () => {
    const { family, dashboard } = await setUp();
    const raw = await openShared();
    const key = `${family}:dead`;
    const page = await watch(dashboard);
    await raw.command('HSET', key, JAVA, '1');
    await raw.command('PEXPIRE', key, '3000');
    await page.row(key);
    const gone = await page.next('happened', ({ what }) => what === 'gone');
    expect(gone).toMatchObject({ key, who: JAVA, source: 'sampling' });
    expect(page.rows.has(key)).toBe(false);
  });
});
