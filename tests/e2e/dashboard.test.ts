/** `dashboard`, as a program: whom it lets in, what it prints, and how it ends. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import { EventReader } from '../dashboard/support/event-reader.ts';
import { randomName } from '../harness/names.ts';
import { sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { type Environment, RunningCli, runCli } from './support/cli.ts';

const WITHIN = { timeout: 60_000 };

const at = () => ({ HOLDFAST_URL: sharedServer().url });

interface Started {
  readonly cli: RunningCli;
  readonly url: string;
  readonly token: string;
}

/** Starts it on a free port. */
async function start(flags: readonly string[], env: Environment = {}): Promise<Started> {
  const cli = new RunningCli(['dashboard', '--port', '0', '--json', ...flags], { ...at(), ...env });
  const line = await eventually(() => /^\{.*\}$/m.exec(cli.stdout)?.[0] ?? false, { withinMs: 20_000 });
  const { url, token } = JSON.parse(String(line)) as { url: string; token: string };
  return { cli, url, token };
}

/** What a browser has after it opened the printed address. */
async function login({ url, token }: Started): Promise<{ cookie: string }> {
  const answer = await fetch(`${url}?token=${token}`, { redirect: 'manual' });
  expect(answer.status).toBe(303);
  return { cookie: (answer.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '' };
}

describe('holdfast dashboard', WITHIN, () => {
  it('prints an address with a new token, and lets only those in who have it', async () => {
    const cli = new RunningCli(['dashboard', '--port', '0'], at());
    await eventually(() => cli.stdout.includes('Ctrl+C'), { withinMs: 20_000 });
    const [first, second] = cli.stdout.split('\n');
    const address =
      /^Dashboard: (http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32})$/.exec(first ?? '')?.[1] ?? '';
    expect(second).toBe('Read-only: --allow-free lets people free locks there.');
    const bare = address.replace(/\?.*/, '');
    expect((await fetch(bare)).status).toBe(401);
    expect((await fetch(address, { redirect: 'manual' })).status).toBe(303);
    cli.signal('SIGINT');
    expect(await cli.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('takes the token of the environment, and does not serve another host name', async () => {
    const token = 'given-by-the-environment';
    const started = await start([], { HOLDFAST_DASHBOARD_TOKEN: token });
    expect(started.token).toBe(token);
    const { port } = new URL(started.url);
    const headers = { host: 'evil.example', authorization: `Bearer ${token}` };
    const status = await new Promise((resolve) => {
      request({ host: '127.0.0.1', port, headers }, (answer) => resolve(answer.resume().statusCode)).end();
    });
    expect(status).toBe(403);
  });

  it('shows locks, frees one, and writes that to the audit log', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-audit-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const log = join(folder, 'freed.jsonl');
    const prefix = `${randomName('app')}:`;
    const client = await Holdfast.connect(sharedServer().url, { label: 'billing 7' });
    onTestFinished(() => client.close());
    const key = `${prefix}stuck`;
    const hold = await client.getLock(key).lock();
    const started = await start(['st*', '--key-prefix', prefix, '--allow-free', '--audit-log', log]);
    const headers = await login(started);
    const page = new EventReader(await fetch(`${started.url}api/stream`, { headers }));
    const { csrf } = await page.next('hello');
    const { holders } = await page.row(key, (row) => row.holders[0]?.label === 'billing 7');
    expect(holders[0]?.owner).toBe(hold.owner);
    const answer = await fetch(`${started.url}api/free`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'x-holdfast-csrf': csrf ?? '' },
      body: JSON.stringify({ key, owner: hold.owner }),
    });
    expect(await answer.json()).toEqual({ freed: true });
    const [intent, outcome, end] = (await readFile(log, 'utf8')).split('\n');
    const about = { key, owner: hold.owner, label: 'billing 7' };
    expect(JSON.parse(intent ?? '')).toMatchObject({ ...about, step: 'intent', freed: null });
    expect(JSON.parse(outcome ?? '')).toMatchObject({ ...about, step: 'outcome', freed: true });
    expect(end).toBe('');
    expect((await stat(log)).mode & 0o777).toBe(0o600);
    started.cli.signal('SIGTERM');
    expect(await started.cli.ended).toMatchObject({ code: 0, stderr: '' });
    await page.ended;
  });

  it('warns of an address that others reach, since there is no TLS', async () => {
    const started = await start(['--host', '0.0.0.0']);
    started.cli.signal('SIGTERM');
    const { code, stderr } = await started.cli.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^holdfast dashboard: warning: .*without TLS.*0\.0\.0\.0.*\n$/);
    expect(stderr.split('\n')).toHaveLength(2);
  });

  it('says in one line what is wrong', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    expect(await runCli(['dashboard', '--port', String(port)], at())).toEqual({
      code: 1,
      stdout: '',
      stderr: `holdfast dashboard: Port ${port} of 127.0.0.1 is taken: choose another one with --port\n`,
    });
    const bad = async (...flags: string[]) => {
      const { code, stderr } = await runCli(['dashboard', '--port', '0', ...flags], at());
      expect([code, stderr.split('\n').length]).toEqual([2, 2]);
      return stderr;
    };
    expect(await bad('--audit-log', 'x')).toContain('--audit-log needs --allow-free');
    expect(await bad('--allow-free', '--audit-log', '/nowhere/x')).toContain('--audit-log: ENOENT');
    expect(await bad('--token', 'short')).toContain('at least 16 printable');
    expect(await bad('--port', '70000')).toContain('a port from 0 to 65535');
  });
});
