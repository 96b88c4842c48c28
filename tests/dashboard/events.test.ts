/** What the clients of the dashboard's own process tell: charts, waiters, losses and warnings. */
import { channel } from 'node:diagnostics_channel';
import { describe, expect, it } from 'vitest';
import { Scope } from '../../src/dashboard/scope.ts';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
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
    // The server may count its subscriber before the client's own message is there.
    const row = await page.row(key, ({ waiting: count, waiters }) => count === 1 && waiters.length > 0);
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

describe('with a pattern', () => {
  it('tell of no lock that it leaves out', async () => {
    const { family, client, dashboard } = await setUp();
    const [shown, secret] = [`${family}:lost`, `secret:${randomName()}`];
    const page = await watch(dashboard);
    const hold = await client.getLock(secret).lock();
    await client.getLock(shown).lock();
    const both = client.getMultiLock(client.getLock(`${family}:a`), client.getLock(`${secret}:b`));
    await (await both.lock()).unlock();
    expect(await client.getLock(secret).tryLock({ waitMs: 0, owner: client.owner() })).toBeNull();
    // As a release that fails in the background, and as a call that waits for itself in another client.
    const tell = (name: string, message: object) =>
      channel(`holdfast:${name}`).publish({ clientId: client.id, ...message });
    tell('error', { during: `release "${secret}"`, error: new Error(secret) });
    tell('warning', { code: 'HOLDFAST_SELF_WAIT', message: secret });
    tell('warning', { code: 'HOLDFAST_HELD_LONG', message: secret, about: { name: secret } });
    const raw = await openShared();
    await raw.command('DEL', secret);
    await eventually(() => hold.signal.aborted);
    await raw.command('DEL', shown);
    await page.next('happened', ({ what, key }) => what === 'lost' && key === shown);
    const total = (what: 'acquired' | 'contended' | 'timeouts' | 'losses') =>
      page.all('point').reduce((sum, point) => sum + (point[what] ?? 0), 0);
    await eventually(() => total('losses') > 0, { withinMs: 15_000 });
    expect(['acquired', 'contended', 'timeouts', 'losses'].map((what) => total(what as 'losses'))).toEqual([
      1, 0, 0, 1,
    ]);
    expect(JSON.stringify(page.events)).not.toContain(secret);
    expect(page.all('happened').map(({ text }) => text)).toEqual(
      expect.arrayContaining(['HOLDFAST_SELF_WAIT', 'something failed in the background']),
    );
    const answer = await dashboard.fetch(asked(`api/lock?name=${encodeURIComponent(secret)}`));
    expect(await answer.json()).toEqual({ row: null, history: [] });
  });

  it('match names as the server does', async () => {
    const raw = await openShared();
    const family = randomName('glob');
    const names = ['a', 'b', 'ab', 'abc', 'a*c', 'a[c', 'a?c', 'é', '\\', 'a-c', '-', '^', 'a]', '[', 'a\nb'];
    const patterns = [
      'a*',
      '?',
      '??',
      '[ab]',
      '[^ab]',
      '[a-c]',
      '[c-a]',
      'a\\*c',
      'a[*]c',
      '[a[]c',
      '[a',
      '[^',
    ];
    const odd = [
      '[]',
      '\\\\',
      '[\\^]',
      '[a\\]]',
      'a**c',
      '[a-]',
      '[-a]',
      '[\\a-c]',
      'a\\?c',
      '[]a]',
      '[a\\',
      '\\',
    ];
    for (const name of names) await raw.command('SET', `${family}:${name}`, '', 'PX', '60000');
    for (const pattern of [...patterns, ...odd].map((end) => `${family}:${end}`)) {
      const found = await raw.command('KEYS', pattern);
      const scope = new Scope(pattern, '');
      const matched = names.map((name) => `${family}:${name}`).filter((key) => scope.has(key));
      expect([pattern, matched.sort()]).toEqual([pattern, (found as string[]).sort()]);
    }
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
