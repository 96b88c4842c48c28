/** Who gets in, and that nobody else learns anything. */
import { describe, expect, it } from 'vitest';
import { createDashboard } from '../../src/dashboard/index.ts';
import { sharedServer } from '../harness/servers.ts';
import { asked, BASE, connect, ownDashboard, TOKEN } from './support/own-dashboard.ts';
import { PAGE, SCRIPT } from './support/page-folder.ts';

const PATHS = [
  '',
  'locks',
  'assets/index-1a2b.js',
  'nothing.js',
  'api/stream',
  'api/lock?name=a',
  'api/free',
];

async function setUp(options: Parameters<typeof ownDashboard>[1] = {}) {
  return ownDashboard(await connect(sharedServer().url), options);
}

function get(path: string, headers: Record<string, string> = {}): Request {
  return new Request(new URL(path, BASE), { headers });
}

describe('createDashboard', () => {
  it('refuses to serve without protection, and what is no client', async () => {
    const client = await connect(sharedServer().url);
    expect(() => createDashboard(client, {})).toThrow('say unprotected: true');
    expect(() => createDashboard({} as never, { token: TOKEN })).toThrow('needs a client of holdfast');
    const dashboard = createDashboard(client, { token: TOKEN });
    expect((await dashboard.fetch(get(''))).status).toBe(401);
    dashboard.close();
  });
});

describe('without authorisation', () => {
  it.each(PATHS)('nothing of /%s is answered', async (path) => {
    const dashboard = await setUp({ allowFree: true });
    for (const method of ['GET', 'POST', 'HEAD', 'PUT', 'OPTIONS']) {
      const answer = await dashboard.fetch(new Request(new URL(path, BASE), { method }));
      expect(answer.status).toBe(401);
      expect(await answer.text()).toBe(method === 'HEAD' ? '' : 'Unauthorized\n');
      expect(answer.headers.get('location')).toBeNull();
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
  });

  it.each([
    ['a wrong token', { authorization: 'Bearer something-else-entirely' }],
    ['another scheme', { authorization: `Basic ${btoa(`user:${TOKEN}`)}` }],
    ['a made-up cookie', { cookie: 'holdfast_dashboard_00000000=abc.def' }],
  ])('%s does not help', async (_title, headers: Record<string, string>) => {
    const dashboard = await setUp();
    expect((await dashboard.fetch(get('', headers))).status).toBe(401);
  });

  it('a wrong token in the address sets no cookie', async () => {
    const dashboard = await setUp();
    const answer = await dashboard.fetch(get('?token=wrong'));
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null]);
  });
});

describe('the token in the address', () => {
  it('becomes a cookie, and leaves the address', async () => {
    const dashboard = await setUp();
    const login = await dashboard.fetch(get(`team/locks/?kind=fair&token=${TOKEN}`));
    expect(login.status).toBe(303);
    expect(login.headers.get('location')).toBe('./?kind=fair');
    const cookie = login.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^holdfast_dashboard_[0-9a-f]{8}=[\w-]+\.[\w-]+; Path=\/team\/locks\/; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.toContain(TOKEN);
    const [pair = ''] = cookie.split(';');
    const page = await dashboard.fetch(get('team/locks/', { cookie: `theme=dark; ${pair}` }));
    expect([page.status, await page.text()]).toEqual([200, PAGE]);
    const forged = pair.replace(/=[\w-]+\./, '=another.');
    expect((await dashboard.fetch(get('', { cookie: forged }))).status).toBe(401);
  });

  it('is secure where the page is', async () => {
    const dashboard = await setUp();
    const login = await dashboard.fetch(new Request(`https://ops.example/locks?token=${TOKEN}`));
    expect(login.headers.get('set-cookie')).toContain('; Secure');
    expect(login.headers.get('set-cookie')).toContain('; Path=/locks/;');
    expect(login.headers.get('location')).toBe('./locks/');
  });

  it('counts for the page only', async () => {
    const dashboard = await setUp();
    expect((await dashboard.fetch(get(`api/stream?token=${TOKEN}`))).status).toBe(401);
    expect((await dashboard.fetch(get(`assets/index-1a2b.js?token=${TOKEN}`))).status).toBe(401);
  });
});

describe('the authentication of the application', () => {
  it('is asked at every request, and may answer itself', async () => {
    const dashboard = await setUp({
      authorize: (request) => {
        const user = request.headers.get('x-user');
        if (user === 'nobody') return Response.redirect('http://127.0.0.1:4665/login', 302);
        return user === null ? null : { user };
      },
    });
    expect((await dashboard.fetch(get(''))).status).toBe(401);
    expect((await dashboard.fetch(get('assets/index-1a2b.js'))).status).toBe(401);
    expect((await dashboard.fetch(get('', { 'x-user': 'ada' }))).status).toBe(200);
    expect((await dashboard.fetch(get('', { 'x-user': 'nobody' }))).status).toBe(302);
  });

  it('rejects with what it throws, and shows nothing', async () => {
    const dashboard = await setUp({
      authorize: () => {
        throw new Error('the session store is down');
      },
    });
    await expect(dashboard.fetch(get(''))).rejects.toThrow('the session store is down');
  });
});

describe('the host name', () => {
  it('must be of this machine where nothing protects the page', async () => {
    const dashboard = await setUp({ unprotected: true });
    const of = async (host: string) => (await dashboard.fetch(get('', { host }))).status;
    for (const host of ['localhost:4665', '127.0.0.1', '[::1]:1', 'LOCALHOST'])
      expect(await of(host)).toBe(200);
    for (const host of ['evil.example', 'evil.example:4665', '127.0.0.1.evil.example']) {
      expect(await of(host)).toBe(403);
    }
  });

  it('must be one of those given', async () => {
    const dashboard = await setUp({ hosts: ['ops.example'] });
    expect((await dashboard.fetch(asked('', { headers: { host: 'ops.example:443' } }))).status).toBe(200);
    expect((await dashboard.fetch(asked('', { headers: { host: '127.0.0.1' } }))).status).toBe(403);
  });
});

describe('what is served', () => {
  it('has headers that keep a browser from more', async () => {
    const dashboard = await setUp();
    for (const path of ['', 'assets/index-1a2b.js', 'api/lock?name=a', 'missing.js', 'x']) {
      const { headers } = await dashboard.fetch(asked(path));
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
          "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('is the page and its files, below any path', async () => {
    const dashboard = await setUp();
    for (const mount of ['', 'locks/', 'a/b/c/']) {
      const page = await dashboard.fetch(asked(mount));
      expect([await page.text(), page.headers.get('content-type')]).toEqual([
        PAGE,
        'text/html; charset=utf-8',
      ]);
      expect(page.headers.get('cache-control')).toBe('no-store');
      const script = await dashboard.fetch(asked(`${mount}assets/index-1a2b.js`));
      expect([await script.text(), script.headers.get('content-type')]).toEqual([
        SCRIPT,
        'text/javascript; charset=utf-8',
      ]);
      expect(script.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    }
  });

  it('is found without the last slash too', async () => {
    const dashboard = await setUp();
    const answer = await dashboard.fetch(asked('team/locks?kind=fair'));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, './locks/?kind=fair']);
  });

  it.each(['missing.js', 'assets/../../package.json', 'assets/%2e%2e/index.html.bak', 'index.html', '.env'])(
    'is never %s',
    async (path) => {
      const dashboard = await setUp();
      expect((await dashboard.fetch(asked(path))).status).toBe(404);
    },
  );

  it('answers HEAD without a body, and no other method', async () => {
    const dashboard = await setUp();
    const head = await dashboard.fetch(asked('', { method: 'HEAD' }));
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await dashboard.fetch(asked('', { method: 'POST', body: 'x' }))).status).toBe(405);
    expect((await dashboard.fetch(asked('api/stream', { method: 'DELETE' }))).status).toBe(405);
    expect((await dashboard.fetch(asked('api/free'))).status).toBe(405);
  });

  it('is nothing for another site', async () => {
    const dashboard = await setUp();
    for (const site of ['cross-site', 'same-site']) {
      const answer = await dashboard.fetch(asked('api/lock?name=a', { headers: { 'sec-fetch-site': site } }));
      expect(answer.status).toBe(403);
    }
    const own = await dashboard.fetch(
      asked('api/lock?name=a', { headers: { 'sec-fetch-site': 'same-origin' } }),
    );
    expect(own.status).toBe(200);
  });

  it('is nothing once it is closed', async () => {
    const dashboard = await setUp();
    dashboard.close();
    expect((await dashboard.fetch(asked('api/stream'))).status).toBe(503);
  });
});
