/** `doctor`, as a program: what it finds at servers with and without faults. */
import { expect, it, onTestFinished } from 'vitest';
import { CAN_SHIFT, NEEDS_GCC, startShiftableServer } from '../harness/clock-shim.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { ownCluster, ownReplicas } from '../harness/topologies.ts';
import { runCli } from './support/cli.ts';

const PASSWORD = { HOLDFAST_PASSWORD: 'pw' };

/** What a Cluster needs of a user for names that start with `orders:`, without keys of the guard. */
const ORDERS = [
  ...['reset', 'on', '>pw', '+@all', '~orders:*', '~{orders:*', '~redisson_*:{orders:*'],
  ...['~holdfast_*:{orders:*', '~holdfast_client*', '&redisson_*'],
];

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

  it('tries the permissions at every primary of a Cluster', { timeout: 90_000 }, async () => {
    const { nodes, addresses } = await ownCluster({ replicasEach: 0 });
    const places = addresses.map(({ host, port }) => `${host}:${port}`);
    const setUser = (node: number, ...rules: string[]) =>
      nodes[node]?.command('ACL', 'SETUSER', 'shop', ...ORDERS, ...rules);
    const args = ['--cluster', `${places[0]}`, '--username', 'shop', '--name-prefix', 'orders:'];
    const permissions = async (...more: string[]) => {
      const { checks } = await examine([...args, ...more], PASSWORD);
      return checks.filter(({ about }) => about === 'permissions');
    };
    // The plain forms are not used in a Cluster.
    for (const node of [0, 1, 2]) await setUser(node, '-publish', '-subscribe', '-unsubscribe');
    const all = 'the user "shop" may do everything that locks need';
    expect(await permissions()).toEqual([{ about: 'permissions', status: 'ok', message: all }]);
    await setUser(1, '-spublish', '-ssubscribe', '-cluster|slots');
    await setUser(2, '-hset');
    const found = await permissions();
    expect(found).toHaveLength(2);
    expect(found).toContainEqual({
      about: 'permissions',
      status: 'warning',
      message: `the user "shop" lacks +cluster|slots +spublish +ssubscribe +sunsubscribe for names that start with orders: at ${places[1]}`,
      remedy: `ACL SETUSER shop +cluster|slots +spublish +ssubscribe +sunsubscribe at ${places[1]} and its replicas, or doctor with a --name-prefix that its keys allow`,
    });
    expect(found).toContainEqual(
      expect.objectContaining({
        status: 'error',
        message: `the user "shop" lacks +hset for names that start with orders: at ${places[2]}`,
      }),
    );
    // A guard has a record in the slot of each lock.
    for (const node of [0, 1, 2]) await setUser(node);
    expect(await permissions('--guard')).toEqual([
      {
        about: 'permissions',
        status: 'error',
        message: 'the user "shop" lacks ~holdfast_guard* for names that start with orders: at every primary',
        remedy: expect.stringContaining('ACL SETUSER shop ~holdfast_guard* at every node, or'),
      },
    ]);
  });

  it('agrees with itself about publishing', { timeout: 90_000 }, async () => {
    const server = await ownServer({ args: ['--appendonly', 'yes'] });
    await server.command(
      'ACL',
      'SETUSER',
      'shop',
      'on',
      '>pw',
      '~*',
      '&*',
      '+@all',
      '-publish',
      '-subscribe',
    );
    const args = ['--url', server.url, '--username', 'shop'];
    const report = await examine(args, PASSWORD);
    expect(report).toMatchObject({ code: 0, verdict: 'warnings' });
    expect(report.checks).toContainEqual(
      expect.objectContaining({
        code: 'HOLDFAST_NO_PUBLISH',
        remedy: 'allow +publish (in a Cluster +spublish) and channels &redisson_*',
      }),
    );
    expect(report.checks).toContainEqual(
      expect.objectContaining({
        about: 'permissions',
        status: 'warning',
        message: expect.stringContaining('lacks +publish +subscribe +unsubscribe for'),
      }),
    );
    expect(report.checks.map(({ about }) => about)).not.toContain('waking');
    // Nothing wakes the waiter: it asks again after a while.
    expect(report.checks).toContainEqual({
      about: 'round trip',
      status: 'warning',
      message: expect.stringMatching(/a waiter has the lock \d{3,}\.\d ms after its release/),
      remedy: 'check that PUBLISH and SUBSCRIBE are allowed, and the load of the server',
    });
  });

  it('tells of a primary that goes on without its replicas', { timeout: 60_000 }, async () => {
    const { primary } = await ownReplicas({ replicas: 1 });
    // A replica counts once it has acknowledged a write.
    await primary.command('SET', 'written', '1');
    await primary.command('WAIT', '1', '10000');
    const replication = async (...args: string[]) => {
      const { checks } = await examine(['--url', primary.url, ...args]);
      return checks.find(({ about }) => about === 'replication');
    };
    const remedy = 'CONFIG SET min-replicas-to-write 1, and min-replicas-max-lag 10';
    const message = '1 replica acknowledges writes, 1 must acknowledge a lock';
    expect(await replication()).toEqual({
      about: 'replication',
      status: 'warning',
      message: `${message}; a primary that is cut off from its replicas goes on granting locks`,
      remedy,
    });
    // The guard depends on it.
    const { checks } = await examine(['--url', primary.url, '--guard']);
    expect(checks).toContainEqual(expect.objectContaining({ code: 'HOLDFAST_SPLIT_BRAIN', remedy }));
    await primary.command('CONFIG', 'SET', 'min-replicas-to-write', '1');
    expect(await replication()).toEqual({ about: 'replication', status: 'ok', message });
  });

  it.skipIf(!CAN_SHIFT)(`tells of a clock that differs${NEEDS_GCC}`, { timeout: 60_000 }, async () => {
    const { server, clock, close } = await startShiftableServer();
    onTestFinished(close);
    await clock.shift(-60_000);
    const { checks } = await examine(['--url', server.url]);
    expect(checks).toContainEqual({
      about: 'finding',
      status: 'warning',
      code: 'HOLDFAST_CLOCK_SKEW',
      message: expect.stringMatching(
        /^The clock of the server is (?:59|60) s behind the clock of this machine/,
      ),
      remedy: 'synchronise the clocks of both machines (NTP)',
    });
    expect(checks.map(({ about }) => about)).not.toContain('clock');
    await clock.shift(3_000);
    const { checks: near } = await examine(['--url', server.url]);
    expect(near.find(({ about }) => about === 'clock')).toEqual({
      about: 'clock',
      status: 'ok',
      message: expect.stringMatching(/^the server is .* ahead of this machine; locks do not depend on it$/),
    });
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
