/** `ls` and `inspect`, as programs: what they show of every primitive. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ClientOptions, Holdfast, type Target } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import {
  describeWithProcess,
  openShared,
  ownServer,
  sharedCluster,
  sharedServer,
} from '../harness/servers.ts';
import { ownSentinels, ownTlsServer } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { runCli } from './support/cli.ts';

const JAVA = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455:81';

async function connect(target: string | Target, options?: ClientOptions): Promise<Holdfast> {
  const client = await Holdfast.connect(target, options);
  onTestFinished(() => client.close());
  return client;
}

/** The cells of the rows of a listing, by the name in the first column. */
function rowsOf(stdout: string): Map<string, string[]> {
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((row) => row.split(/ {2,}/));
  return new Map(rows.map(([name = '', ...cells]) => [name, cells]));
}

/** Takes one of each kind; resolves when others can see its label. */
async function takeAll(prefix: string): Promise<void> {
  const client = await connect(sharedServer().url, { label: 'billing 7' });
  const raw = await openShared();
  await client.getLock(`${prefix}:lock`).lock();
  await client.getFencedLock(`${prefix}:fenced`).lock();
  await client.getFairLock(`${prefix}:fair`).lock();
  const waiting = new AbortController();
  const waiter = client.getFairLock(`${prefix}:fair`).lock({ owner: client.owner(), signal: waiting.signal });
  waiter.catch(() => undefined);
  onTestFinished(() => waiting.abort());
  await client.getReadWriteLock(`${prefix}:rw`).writeLock().lock();
  const permits = client.getPermitExpirableSemaphore(`${prefix}:permits`);
  await permits.trySetPermits(3);
  await permits.acquire();
  await client.getRateLimiter(`${prefix}:rate`).trySetRate({ mode: 'overall', rate: 10, intervalMs: 60_000 });
  await client.getSemaphore(`${prefix}:desks`).trySetPermits(4);
  await raw.command('HSET', `${prefix}:java`, JAVA, '2');
  await raw.command('PEXPIRE', `${prefix}:java`, '30000');
  const other = await connect(sharedServer().url);
  await eventually(async () => {
    const found = await other.inspect(`${prefix}:fair`);
    if (found.kind !== 'fair') return false;
    expect(found.waiters).toHaveLength(1);
    expect(found.holders[0]?.client?.label).toBe('billing 7');
    return true;
  });
}

describe('holdfast ls', () => {
  it('lists every primitive with its holder', async () => {
    const prefix = randomName('ls');
    await takeAll(prefix);
    const env = { HOLDFAST_URL: sharedServer().url };
    const { code, stdout, stderr } = await runCli(['ls', `${prefix}:*`], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('\x1b');
    const rows = rowsOf(stdout);
    expect([...rows.keys()]).toEqual(
      ['NAME', 'fair', 'fenced', 'java', 'lock', 'permits', 'rate', 'rw'].map((name) =>
        name === 'NAME' ? name : `${prefix}:${name}`,
      ),
    );
    const cells = (name: string) => rows.get(`${prefix}:${name}`) ?? [];
    expect(cells('lock').slice(0, 2)).toEqual(['lock', 'billing 7']);
    expect(cells('lock')[3]).toMatch(/^\d\d\.\d s$/);
    expect(cells('fair').at(4)).toBe('1');
    expect(cells('fenced').at(-1)).toMatch(/^token \d+$/);
    expect(cells('java').slice(0, 2)).toEqual(['lock', JAVA]);
    expect(cells('java').at(-1)).toBe('entered 2 times');
    expect(cells('permits').at(-1)).toBe('1 of 3 taken');
    expect(cells('rate').at(-1)).toBe('10 per 1 m, 10 left');
    expect(cells('rw')[0]).toBe('write lock');
    const counted = await runCli(['ls', `${prefix}:*`, '--counters', '--json'], env);
    const kinds = (JSON.parse(counted.stdout) as { kind: string }[]).map(({ kind }) => kind);
    expect(kinds).toContain('counter');
  });

  it('writes what control characters there are as escapes', async () => {
    const prefix = randomName('ls');
    const name = `${prefix}:\x1b[31mred\nline`;
    const client = await connect(sharedServer().url);
    await client.getLock(name).lock();
    const { stdout } = await runCli(['ls', '--url', sharedServer().url, `${prefix}:*`]);
    expect(stdout).toContain(':\\x1b[31mred\\x0aline');
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  });

  it('matches and shows names without the key prefix, and says when nothing matches', async () => {
    const prefix = `${randomName('ls')}[1]:`;
    const client = await connect(sharedServer().url, { mapName: (name) => prefix + name });
    await client.getLock('gate').lock();
    const flags = ['--url', sharedServer().url, '--key-prefix', prefix];
    const { stdout } = await runCli(['ls', 'g*', '--json', ...flags]);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'gate', key: `${prefix}gate`, kind: 'lock' }]);
    expect(await runCli(['ls', 'x*', ...flags])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No lock matches.\n',
    });
  });
});

describe('holdfast inspect', () => {
  it('shows holders, waiters, permits and tokens', async () => {
    const prefix = randomName('inspect');
    await takeAll(prefix);
    const inspect = (...args: string[]) => runCli(['inspect', ...args, '--url', sharedServer().url]);
    const fair = await inspect(`${prefix}:fair`);
    expect(fair.stdout).toMatch(/^ {2}holder {4}billing 7 at \S+:\d+, [-0-9a-f]+:\d+ \(\d\d\.\d s left\)$/m);
    expect(fair.stdout).toMatch(/^ {2}waiter 1 {2}billing 7 at /m);
    expect((await inspect(`${prefix}:permits`)).stdout).toMatch(
      /^ {2}permit {4}[0-9a-f]{32} \(\d\d\.\d s left\)$/m,
    );
    expect((await inspect(`${prefix}:desks`, '--as', 'semaphore')).stdout).toMatch(/^ {2}state {5}4 free$/m);
    expect((await inspect(`${prefix}:nothing`)).stdout).toBe(`${prefix}:nothing\n  kind      free\n`);
    const fenced = JSON.parse((await inspect(`${prefix}:fenced`, '--json')).stdout);
    expect(fenced).toMatchObject({
      kind: 'fenced',
      lastToken: expect.any(Number),
      holders: [{ holdCount: 1 }],
    });
  });
});

describeWithProcess('the connection flags', () => {
  it('lead to a Cluster', async () => {
    const { addresses } = await sharedCluster();
    const name = randomName('cluster');
    const client = await connect({ cluster: addresses });
    await client.getLock(name).lock();
    const nodes = addresses.map(({ host, port }) => `${host}:${port}`).join(',');
    const { stdout } = await runCli(['inspect', name, '--json', '--cluster', nodes]);
    expect(JSON.parse(stdout)).toMatchObject({ name, kind: 'lock' });
  });

  it('lead to the primary of Sentinels', async () => {
    const { sentinels, name: primary } = await ownSentinels();
    const name = randomName('sentinel');
    const client = await connect({
      sentinels: sentinels.map(({ host, port }) => ({ host, port })),
      name: primary,
    });
    await client.getLock(name).lock();
    const flags = sentinels.flatMap(({ host, port }) => ['--sentinel', `${host}:${port}`]);
    const { stdout } = await runCli(['inspect', name, '--json', ...flags, '--sentinel-name', primary]);
    expect(JSON.parse(stdout)).toMatchObject({ name, kind: 'lock' });
  });

  it('trust a certificate authority', async () => {
    const { url, ca } = await ownTlsServer();
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-cli-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'ca.pem');
    await writeFile(file, ca);
    expect(await runCli(['ls', '--url', url, '--tls-ca', file])).toMatchObject({ code: 0 });
    expect(await runCli(['ls', '--url', url])).toMatchObject({ code: 1, stdout: '' });
  });

  it('name an ACL user, with the password from the environment', async () => {
    const server = await ownServer();
    await server.command('ACL', 'SETUSER', 'ops', 'on', '>secret word', '~*', '&*', '+@all');
    await server.command('ACL', 'SETUSER', 'default', 'off');
    const flags = ['ls', '--url', server.url, '--username', 'ops'];
    expect(await runCli(flags, { HOLDFAST_PASSWORD: 'secret word' })).toMatchObject({ code: 0 });
    const refused = await runCli(flags, { HOLDFAST_PASSWORD: 'wrong one' });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^holdfast ls: Cannot connect to .*WRONGPASS.*\n$/);
    expect(refused.stderr).not.toContain('wrong one');
  });
});
