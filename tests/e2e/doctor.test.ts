/** `doctor`, as a program: what it finds at servers with and without faults. */
import { expect, it } from 'vitest';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { ownCluster, ownReplicas } from '../harness/topologies.ts';
import { runCli } from './support/cli.ts';

interface Report {
  readonly verdict: string;
  readonly checks: { about: string; status: string; message: string; code?: string; remedy?: string }[];
}

async function examine(args: readonly string[], env = {}): Promise<Report & { code: number | null }> {
  const { code, stdout, stderr } = await runCli(['doctor', '--json', ...args], env);
  expect(stderr).toBe('');
  return { code, ...(JSON.parse(stdout) as Report) };
}

describeWithProcess('holdfast doctor', () => {
  it('finds a good server fit, measures it, and leaves nothing behind', { timeout: 60_000 }, async () => {
    const server = await ownServer({ args: ['--appendonly', 'yes'] });
    const report = await examine(['--url', server.url]);
    expect(report).toMatchObject({ code: 0, verdict: 'fit' });
    const about = (word: string) => report.checks.find((check) => check.about === word)?.message;
    expect(about('server')).toMatch(/^(redis|valkey) [\d.]+, standalone, answers within [\d.]+ ms$/);
    expect(about('round trip')).toMatch(
      /^a free lock takes [\d.]+ ms; a waiter has the lock [\d.]+ ms after /,
    );
    for (const word of ['eviction', 'persistence', 'replication', 'clock', 'waking', 'permissions']) {
      expect(about(word), word).toBeDefined();
    }
    // Who a client was expires by itself, if it could not be removed.
    const keys = (await server.command('KEYS', '*')) as string[];
    expect(keys.filter((key) => !key.startsWith('holdfast_client:'))).toEqual([]);
    const { stdout } = await runCli(['doctor', '--url', server.url]);
    expect(stdout).toMatch(/^ {2}✓ server {7}/m);
    expect(stdout).toMatch(/\n {2}This server is fit for locks\.\n$/);
  });

  it('examines every primary of a Cluster', { timeout: 60_000 }, async () => {
    const { nodes, addresses } = await ownCluster({ replicasEach: 0 });
    for (const node of nodes) await node.command('CONFIG', 'SET', 'appendonly', 'yes');
    const [first] = addresses.map(({ host, port }) => `${host}:${port}`);
    const report = await examine(['--cluster', `${first}`]);
    expect(report).toMatchObject({ code: 0, verdict: 'fit' });
    const server = report.checks.find(({ about }) => about === 'server');
    expect(server?.message).toMatch(/^(redis|valkey) [\d.]+, cluster/);
    // The fault of one primary is a fault of the Cluster.
    await nodes[2]?.command('CONFIG', 'SET', 'maxmemory', '100mb');
    await nodes[2]?.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const faulty = await examine(['--cluster', `${first}`]);
    expect(faulty).toMatchObject({ code: 1, verdict: 'unfit' });
    expect(faulty.checks).toContainEqual(
      expect.objectContaining({ code: 'HOLDFAST_EVICTION', message: expect.stringContaining('allkeys-lru') }),
    );
  });

  it('tells of eviction, and how to end it', { timeout: 60_000 }, async () => {
    const server = await ownServer({ args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'] });
    const report = await examine(['--url', server.url]);
    expect(report).toMatchObject({ code: 1, verdict: 'unfit' });
    expect(report.checks).toContainEqual({
      about: 'finding',
      status: 'error',
      code: 'HOLDFAST_EVICTION',
      message: expect.stringContaining('allkeys-lru'),
      remedy: expect.stringContaining('CONFIG SET maxmemory-policy noeviction'),
    });
    expect(report.checks).toContainEqual(
      expect.objectContaining({ about: 'persistence', status: 'warning' }),
    );
  });

  it('names the access rules that are missing, and those are enough', { timeout: 90_000 }, async () => {
    const server = await ownServer({ args: ['--appendonly', 'yes'] });
    await server.command(
      ...([
        'ACL',
        'SETUSER',
        'shop',
        'on',
        '>pw',
        '~orders:*',
        '+@all',
        '-hset',
        '-wait',
        'resetchannels',
      ] as const),
    );
    const args = ['--url', server.url, '--username', 'shop', '--name-prefix', 'orders:'];
    const report = await examine(args, { HOLDFAST_PASSWORD: 'pw' });
    expect(report.verdict).toBe('unfit');
    const { message = '', remedy = '' } = report.checks.find(({ about }) => about === 'permissions') ?? {};
    const [, rules = ''] = /lacks (.*) for names that start with orders:$/.exec(message) ?? [];
    expect(rules.split(' ').sort()).toEqual(
      [
        '&redisson_*',
        '+hset',
        '+wait',
        '~holdfast_*:{orders:*',
        '~holdfast_client*',
        '~redisson_*:{orders:*',
        '~{orders:*',
      ].sort(),
    );
    const [, command = ''] = /^ACL (SETUSER shop .*), or /.exec(remedy) ?? [];
    await server.command('ACL', ...command.split(' '));
    expect(await examine(args, { HOLDFAST_PASSWORD: 'pw' })).toMatchObject({ code: 0, verdict: 'fit' });
  });

  it('tells of a replica, and of a server that is not there', { timeout: 60_000 }, async () => {
    const { replicas } = await ownReplicas();
    const [replica] = replicas;
    const report = await examine(['--url', replica?.server.url ?? '']);
    expect(report).toMatchObject({ code: 1, verdict: 'unfit' });
    expect(report.checks[0]?.message).toContain('read-only replica');
    const none = await examine(['--url', 'redis://127.0.0.1:1']);
    expect(none).toMatchObject({ code: 1, checks: [{ about: 'connection', status: 'error' }] });
  });
});
