/** What the clients of the dashboard's own process tell: charts, waiters, losses and warnings. */
import { describe, expect, it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { asked, connect, ownDashboard, watch } from './support/own-dashboard.ts';

async function setUp() {
  const family = randomName('dash');
  const client = await connect(sharedServer().url, { label: 'the app', watchdogMs: 1_000 });
  const dashboard = await ownDashboard(client, { pattern: `${family}:*` });
  return { family, client, dashboard };
}

describe('the clients of the process', () => {
  it('tell who waits for a lock that has no queue', async () => {
    const { family, client, dashboard } = await setUp();
    const key = `${family}:busy`;
    const hold = await client.getLock(key).lock();
    const waiting = client.getLock(key).lock({ owner: client.owner() });
    const page = await watch(dashboard);
    const row = await page.row(key, ({ waiting: count }) => count === 1);
    expect(row).toMatchObject({ kind: 'lock', waiters: [{ label: 'the app' }] });
    await hold.unlock();
    await page.row(key, ({ waiting: count }) => count === 0);
    await (await waiting).unlock();
  });

  it('tell of a loss, in the timeline and in the history of the lock', async () => {
    const { family, client, dashboard } = await setUp();
    const key = `${family}:lost`;
    const page = await watch(dashboard);
    await client.getLock(key).lock();
    await page.row(key);
    const raw = await openShared();
    await raw.command('DEL', key);
    const lost = await page.next('happened', (happening) => happening.what === 'lost');
    expect(lost).toMatchObject({ key, who: 'the app', source: 'events' });
    const late = await watch(dashboard);
    expect((await late.next('hello')).timeline.map(({ what }) => what)).toContain('lost');
    const answer = await dashboard.fetch(asked(`api/lock?name=${encodeURIComponent(key)}`));
    const { history } = (await answer.json()) as { history: { what: string }[] };
    expect(history.map(({ what }) => what)).toContain('lost');
  });

  it('count calls, waits, time-outs and losses in the charts', async () => {
    const { family, client, dashboard } = await setUp();
    const page = await watch(dashboard);
    const lock = client.getLock(`${family}:counted`);
    const hold = await lock.lock();
    expect(await lock.tryLock({ waitMs: 200, owner: client.owner() })).toBeNull();
    const both = client.getMultiLock(client.getLock(`${family}:a`), client.getLock(`${family}:b`));
    await (await both.lock()).unlock();
    await hold.unlock();
    const point = await page.next('point', ({ acquired }) => (acquired ?? 0) > 0, 15_000);
    // The members of the multi lock belong to one call.
    expect(point).toMatchObject({ acquired: 3, contended: 1, timeouts: 1, losses: 0 });
    expect(point.waitP95).toBeGreaterThanOrEqual(200);
    expect(point.waitP50).toBeLessThan(200);
    expect(point.held).not.toBeNull();
    const late = await watch(dashboard);
    expect((await late.next('hello')).points).toContainEqual(point);
  });
});

describe('without a client that tells anything', () => {
  it('the charts say so', async () => {
    const { dashboard } = await setUp();
    const page = await watch(dashboard);
    const point = await page.next('point', () => true, 15_000);
    expect(point).toMatchObject({
      acquired: null,
      contended: null,
      timeouts: null,
      losses: null,
      waitP50: null,
    });
    expect(point.held).toBe(0);
  });
});
