/** Freeing a holder: only that one, only when it is allowed, only for the page itself, and never unnoticed. */
import { describe, expect, it, vi } from 'vitest';
import type { Dashboard } from '../../src/dashboard/dashboard.ts';
import type { DashboardOptions } from '../../src/dashboard/options.ts';
import type { AuditEntry } from '../../src/dashboard/protocol.ts';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { asked, BASE, connect, ownDashboard, watch } from './support/own-dashboard.ts';

async function setUp(options: DashboardOptions = {}) {
  const family = randomName('dash');
  const client = await connect(sharedServer().url);
  const audited: AuditEntry[] = [];
  const dashboard = await ownDashboard(client, {
    pattern: `${family}:*`,
    allowFree: true,
    audit: (entry) => void audited.push(entry),
    ...options,
  });
  const other = await connect(sharedServer().url, { label: 'billing 7' });
  return { family, dashboard, other, audited };
}

interface Posted {
  readonly csrf?: string | null;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

function free(dashboard: Dashboard, { csrf, body, headers }: Posted): Promise<Response> {
  return dashboard.fetch(
    asked('api/free', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-holdfast-csrf': csrf ?? '',
        origin: new URL(BASE).origin,
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  );
}

describe('freeing a holder', () => {
  it('frees that holder, writes it down, and tells every page', async () => {
    const { family, dashboard, other, audited } = await setUp();
    const key = `${family}:stuck`;
    const hold = await other.getLock(key).lock();
    const page = await watch(dashboard);
    const { csrf } = await page.next('hello');
    await page.row(key, ({ holders }) => holders[0]?.label === 'billing 7');
    const answer = await free(dashboard, { csrf, body: { key, owner: hold.owner } });
    expect([answer.status, await answer.json()]).toEqual([200, { freed: true }]);
    const about = {
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      key,
      owner: hold.owner,
      label: 'billing 7',
      error: null,
      by: null,
    };
    expect(audited).toEqual([
      { ...about, step: 'intent', freed: null },
      { ...about, step: 'outcome', freed: true },
    ]);
    await eventually(() => !page.rows.has(key));
    const told = await page.next('happened', ({ what }) => what === 'freed');
    expect(told).toMatchObject({ key, who: 'billing 7' });
    const raw = await openShared();
    expect(await raw.command('EXISTS', key)).toBe(0);
  });

  it('leaves a lock to the owner that took it meanwhile', async () => {
    const { family, dashboard, other, audited } = await setUp();
    const key = `${family}:quick`;
    const seen = await other.getLock(key).lock();
    const page = await watch(dashboard);
    const { csrf } = await page.next('hello');
    await page.row(key);
    await seen.unlock();
    const next = await other.getLock(key).lock();
    const answer = await free(dashboard, { csrf, body: { key, owner: seen.owner } });
    expect(await answer.json()).toEqual({ freed: false });
    expect(audited).toMatchObject([
      { step: 'intent', owner: seen.owner },
      { step: 'outcome', owner: seen.owner, freed: false, error: null },
    ]);
    expect(await other.inspect(key)).toMatchObject({ holders: [{ owner: next.owner }] });
    expect(next.signal.aborted).toBe(false);
  });

  it('frees one permit, and one reader, of several', async () => {
    const { family, dashboard, other } = await setUp();
    const permits = other.getPermitExpirableSemaphore(`${family}:permits`);
    await permits.trySetPermits(3);
    const [first, second] = [await permits.acquire(), await permits.acquire()];
    const read = other.getReadWriteLock(`${family}:rw`).readLock();
    const readers = [await read.lock({ owner: other.owner() }), await read.lock({ owner: other.owner() })];
    const page = await watch(dashboard);
    const { csrf } = await page.next('hello');
    await page.row(`${family}:permits`, ({ held }) => held === 2);
    await page.row(`${family}:rw`, ({ held }) => held === 2);
    await free(dashboard, { csrf, body: { key: `${family}:permits`, owner: first.id } });
    await free(dashboard, { csrf, body: { key: `${family}:rw`, owner: readers[0]?.owner } });
    const left = await page.row(`${family}:permits`, ({ held }) => held === 1);
    expect(left.holders[0]?.owner).toBe(second.id);
    const reading = await page.row(`${family}:rw`, ({ held }) => held === 1);
    expect(reading.holders[0]?.owner).toBe(readers[1]?.owner);
  });

  it('finds the lock of a client that maps names', async () => {
    const family = randomName('dash');
    const client = await connect(sharedServer().url, {
      mapName: (name) => `${family}:${name.toUpperCase()}`,
    });
    const dashboard = await ownDashboard(client, {
      pattern: `${family}:*`,
      allowFree: true,
      audit: () => undefined,
    });
    const hold = await client.getLock('a').lock();
    const page = await watch(dashboard);
    const { csrf } = await page.next('hello');
    await page.row(`${family}:A`);
    const answer = await free(dashboard, { csrf, body: { key: `${family}:A`, owner: hold.owner } });
    expect(await answer.json()).toEqual({ freed: true });
    expect(hold.signal.aborted).toBe(true);
  });

  it('names the user of the application', async () => {
    const authorize = (request: Request) => ({ user: request.headers.get('x-user') ?? 'ada' });
    const { family, dashboard, other, audited } = await setUp({ authorize });
    const key = `${family}:stuck`;
    const hold = await other.getLock(key).lock();
    const page = await watch(dashboard);
    const { csrf } = await page.next('hello');
    await page.row(key);
    // The token of one user is worth nothing for another.
    const body = { key, owner: hold.owner };
    expect((await free(dashboard, { csrf, body, headers: { 'x-user': 'bob' } })).status).toBe(403);
    expect((await free(dashboard, { csrf, body })).status).toBe(200);
    expect(audited).toMatchObject([
      { by: 'ada', freed: null },
      { by: 'ada', freed: true },
    ]);
  });

  it.each([
    ['frees nothing if the audit refuses the intent', 'intent', false],
    ['fails with the audit of the outcome', 'outcome', true],
  ])('%s', async (_title, step, isFreed) => {
    const { family, dashboard, other } = await setUp({
      audit: async (entry) => {
        if (entry.step === step) throw new Error('the disk is full');
      },
    });
    const key = `${family}:stuck`;
    const hold = await other.getLock(key).lock();
    const page = await watch(dashboard);
    const { csrf } = await page.next('hello');
    await page.row(key);
    await expect(free(dashboard, { csrf, body: { key, owner: hold.owner } })).rejects.toThrow(
      'the disk is full',
    );
    expect(await other.getLock(key).isLocked()).toBe(!isFreed);
  });

  it('writes down an attempt at a lock that has just gone', async () => {
    const { family, dashboard, other, audited } = await setUp();
    const key = `${family}:gone`;
    const hold = await other.getLock(key).lock();
    const page = await watch(dashboard);
    const { csrf } = await page.next('hello');
    await page.row(key);
    await hold.unlock();
    await eventually(() => !page.rows.has(key), { withinMs: 10_000 });
    const answer = await free(dashboard, { csrf, body: { key, owner: hold.owner } });
    expect(await answer.json()).toEqual({ freed: false });
    expect(audited).toMatchObject([
      { step: 'intent', key, owner: hold.owner },
      { step: 'outcome', key, owner: hold.owner, label: null, freed: false, error: null },
    ]);
  });

  it('is written to stderr unless told otherwise', async () => {
    const { family, dashboard, other } = await setUp({ audit: undefined });
    const key = `${family}:stuck`;
    const hold = await other.getLock(key).lock();
    const page = await watch(dashboard);
    const { csrf } = await page.next('hello');
    await page.row(key);
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      await free(dashboard, { csrf, body: { key, owner: hold.owner } });
      const [, line] = write.mock.calls.map(([text]) => String(text)).filter((text) => text.includes(key));
      expect(line).toMatch(/^holdfast dashboard: \{"at":.*"freed":true.*\}\n$/);
    } finally {
      write.mockRestore();
    }
  });
});

describe('a request to free', () => {
  async function held(options: DashboardOptions = {}) {
    const given = await setUp(options);
    const key = `${given.family}:held`;
    const hold = await given.other.getLock(key).lock();
    const page = await watch(given.dashboard);
    const { csrf } = await page.next('hello');
    await page.row(key);
    return { ...given, key, hold, csrf, body: { key, owner: hold.owner } };
  }

  it('is refused where it is not allowed', async () => {
    const { dashboard, csrf, body, hold, audited } = await held({ allowFree: false });
    expect(csrf).toBeNull();
    expect((await free(dashboard, { csrf, body })).status).toBe(403);
    expect([audited, hold.signal.aborted]).toEqual([[], false]);
  });

  it.each<[string, number, Record<string, string>]>([
    ['of another origin', 403, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['of an origin that an old browser names', 403, { origin: 'https://evil.example', 'sec-fetch-site': '' }],
    ['of an unknown origin', 403, { origin: 'null', 'sec-fetch-site': '' }],
    ['of a page on another port', 403, { 'sec-fetch-site': 'same-site' }],
    ['of a form', 415, { 'content-type': 'application/x-www-form-urlencoded' }],
    ['of a form with plain text', 415, { 'content-type': 'text/plain' }],
    ['without the token of the page', 403, { 'x-holdfast-csrf': '' }],
    ['with another token', 403, { 'x-holdfast-csrf': 'a'.repeat(43) }],
    ['without authorisation', 401, { authorization: 'Bearer wrong' }],
  ])('%s is refused', async (_title, status, changed) => {
    const { dashboard, csrf, body, hold, audited } = await held();
    const headers = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== ''));
    const request = asked('api/free', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-holdfast-csrf': csrf ?? '',
        origin: new URL(BASE).origin,
        ...headers,
        ...('x-holdfast-csrf' in changed && { 'x-holdfast-csrf': changed['x-holdfast-csrf'] ?? '' }),
      },
      body: JSON.stringify(body),
    });
    expect((await dashboard.fetch(request)).status).toBe(status);
    expect([audited, hold.signal.aborted]).toEqual([[], false]);
  });

  it.each([
    ['too large', 413, JSON.stringify({ key: 'k'.repeat(20_000), owner: 'o' })],
    ['not JSON', 400, '{'],
    ['of another shape', 400, '{"key":1,"owner":"o"}'],
    ['null', 400, 'null'],
  ])('that is %s is refused', async (_title, status, text) => {
    const { dashboard, csrf, audited } = await held();
    expect((await free(dashboard, { csrf, body: text })).status).toBe(status);
    expect(audited).toEqual([]);
  });

  it('frees nothing that the dashboard does not show', async () => {
    const { dashboard, csrf, other, audited } = await held();
    const key = randomName('elsewhere');
    const hold = await other.getLock(key).lock();
    const answer = await free(dashboard, { csrf, body: { key, owner: hold.owner } });
    expect(await answer.json()).toEqual({ freed: false });
    expect(audited).toMatchObject([{ key }, { key, owner: hold.owner, freed: false }]);
    expect(hold.signal.aborted).toBe(false);
  });
});
