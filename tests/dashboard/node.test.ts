/** The dashboard behind `node:http`, as Express, Nest and Fastify call it, over real sockets. */
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import { type AddressInfo, connect as openSocket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Dashboard } from '../../src/dashboard/dashboard.ts';
import type { NodeRequest } from '../../src/dashboard/http/node-adapter.ts';
import { randomName } from '../harness/names.ts';
import { sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { EventReader } from './support/event-reader.ts';
import { connect, ownDashboard, TOKEN } from './support/own-dashboard.ts';
import { PAGE } from './support/page-folder.ts';

const AUTHORISED = { authorization: `Bearer ${TOKEN}` };

/** Serves on a free port; resolves to the address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** As Express mounts a handler: the path below it is in `url`, the whole in `originalUrl`. */
function mounted(path: string, dashboard: Dashboard, errors: unknown[] = []): RequestListener {
  return (req: NodeRequest, res) => {
    req.originalUrl = req.url ?? '/';
    req.url = req.originalUrl.slice(path.length) || '/';
    dashboard.node(req, res, (error) => {
      errors.push(error);
      res.writeHead(500).end();
    });
  };
}

async function setUp(options: Parameters<typeof ownDashboard>[1] = {}) {
  const family = randomName('dash');
  const client = await connect(sharedServer().url);
  const dashboard = await ownDashboard(client, { pattern: `${family}:*`, ...options });
  return { family, client, dashboard };
}

describe('the listener', () => {
  it('serves the page, its files and the stream', async () => {
    const { family, client, dashboard } = await setUp();
    const url = await serve(dashboard.node);
    const page = await fetch(`${url}/`, { headers: AUTHORISED });
    expect([page.status, await page.text()]).toEqual([200, PAGE]);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await fetch(`${url}/`)).status).toBe(401);
    const stream = await fetch(`${url}/api/stream`, { headers: AUTHORISED });
    // Whoever compresses it would keep events back.
    expect(stream.headers.get('cache-control')).toBe('no-store, no-transform');
    const reader = new EventReader(stream);
    onTestFinished(() => reader.close());
    await client.getLock(`${family}:a`).lock();
    await reader.row(`${family}:a`);
  });

  it('exchanges the token for a cookie that works', async () => {
    const { dashboard } = await setUp();
    const url = await serve(dashboard.node);
    const login = await fetch(`${url}/?token=${TOKEN}`, { redirect: 'manual' });
    expect([login.status, login.headers.get('location')]).toEqual([303, './']);
    const [cookie = ''] = (login.headers.getSetCookie()[0] ?? '').split(';');
    expect((await fetch(`${url}/`, { headers: { cookie } })).status).toBe(200);
  });

  it('works below a path that a framework takes away', async () => {
    const { dashboard } = await setUp();
    const url = await serve(mounted('/ops/locks', dashboard));
    const bare = await fetch(`${url}/ops/locks`, { headers: AUTHORISED, redirect: 'manual' });
    expect([bare.status, bare.headers.get('location')]).toEqual([303, './locks/']);
    const followed = await fetch(`${url}/ops/locks`, { headers: AUTHORISED });
    expect([followed.url, await followed.text()]).toEqual([`${url}/ops/locks/`, PAGE]);
    const login = await fetch(`${url}/ops/locks/?token=${TOKEN}`, { redirect: 'manual' });
    expect(login.headers.getSetCookie()[0]).toContain('Path=/ops/locks/;');
  });

  it('takes a body that a framework has read', async () => {
    const { family, client, dashboard } = await setUp({ allowFree: true, audit: () => undefined });
    const plain = await serve(dashboard.node);
    const parsing = await serve((req: NodeRequest, res) => {
      let text = '';
      req.on('data', (chunk) => {
        text += chunk;
      });
      req.on('end', () => {
        if (text !== '') req.body = JSON.parse(text);
        dashboard.node(req, res);
      });
    });
    const reader = new EventReader(await fetch(`${plain}/api/stream`, { headers: AUTHORISED }));
    onTestFinished(() => reader.close());
    const { csrf } = await reader.next('hello');
    for (const [i, url] of [plain, parsing].entries()) {
      const hold = await client.getLock(`${family}:${i}`).lock();
      await reader.row(`${family}:${i}`);
      const answer = await fetch(`${url}/api/free`, {
        method: 'POST',
        headers: { ...AUTHORISED, 'content-type': 'application/json', 'x-holdfast-csrf': csrf ?? '' },
        body: JSON.stringify({ key: `${family}:${i}`, owner: hold.owner }),
      });
      expect(await answer.json()).toEqual({ freed: true });
    }
  });

  it('hands on what the application throws', async () => {
    const authorize = () => {
      throw new Error('no session store');
    };
    const { dashboard } = await setUp({ authorize });
    const errors: unknown[] = [];
    const framework = await serve(mounted('/locks', dashboard, errors));
    expect((await fetch(`${framework}/locks/`)).status).toBe(500);
    expect(errors).toMatchObject([{ message: 'no session store' }]);
    const alone = await fetch(`${await serve(dashboard.node)}/`);
    expect([alone.status, await alone.text()]).toEqual([500, '']);
  });

  it('refuses what is no address', async () => {
    const { dashboard } = await setUp();
    const { port } = new URL(await serve(dashboard.node));
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = openSocket(Number(port), '127.0.0.1', () => {
        socket.end('GET / HTTP/1.1\r\nHost: a b<>\r\nConnection: close\r\n\r\n');
      });
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('closing', () => {
  it('ends every stream, and nothing more is asked', async () => {
    const { dashboard } = await setUp();
    const url = await serve(dashboard.node);
    const readers = await Promise.all(
      [1, 2].map(async () => new EventReader(await fetch(`${url}/api/stream`, { headers: AUTHORISED }))),
    );
    await readers[0]?.next('hello');
    dashboard.close();
    expect(await Promise.all(readers.map(({ ended }) => ended))).toEqual(['end', 'end']);
    expect((await fetch(`${url}/`, { headers: AUTHORISED })).status).toBe(503);
  });

  it('of the connection by a page ends its stream', async () => {
    const family = randomName('dash');
    const client = await connect(sharedServer().url);
    const dashboard = await ownDashboard(client, { pattern: `${family}:*` }, { limits: { streams: 1 } });
    const url = await serve(dashboard.node);
    const first = await new Promise<IncomingMessage>((resolve) => {
      request(`${url}/api/stream`, { headers: AUTHORISED }, resolve).end();
    });
    first.resume();
    const refused = await fetch(`${url}/api/stream`, { headers: AUTHORISED });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
    first.destroy();
    await eventually(async () => {
      const answer = await fetch(`${url}/api/stream`, { headers: AUTHORISED });
      await answer.body?.cancel();
      return answer.status === 200;
    });
  });
});
