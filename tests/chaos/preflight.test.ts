/** What is found out about a server before it is relied on, said, and refused. */
import { rmSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { DriverError } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { commandCounts } from '../behaviour/support/server-stats.ts';
import type { TestCluster } from '../harness/cluster.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { ownCluster, ownReplicas } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { join, listenTo, scriptCalls, subscribersOf, timed } from './support/arena.ts';
import { nameOn } from './support/cluster-stage.ts';
import { disguised } from './support/disguise.ts';
import { EACH_WAY } from './support/each-way.ts';
import { joinCluster } from './support/topology-ways.ts';
import { type Place, WAYS, type Way } from './support/ways.ts';

/** What a server of another kind says, at the same length. */
const REDIS_5 = [
  [/redis_version:\d+/g, (said: string) => said.replace(/\d+/, (digits) => '5'.padStart(digits.length, '0'))],
  [/valkey_version/g, () => 'valkey_versiox'],
] as const;

async function oldServer(): Promise<{ server: TestServer; disguise: Awaited<ReturnType<typeof disguised>> }> {
  const server = await ownServer();
  const said = String(await server.command('INFO', 'server'));
  const words = REDIS_5.map(([pattern, instead]) => {
    const [found = ''] = said.match(pattern) ?? [];
    return [pattern, instead(found)] as const;
  });
  return { server, disguise: await disguised(server, words) };
}

async function limited(server: TestServer, ...rules: string[]): Promise<Place> {
  await server.command('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '~*', '&*', '+@all', ...rules);
  return { host: server.host, port: server.port, username: 'limited', password: 'secret' };
}

const codes = (warnings: readonly { code: string }[]) => warnings.map(({ code }) => code);

describeWithProcess('a server that cannot keep locks', () => {
  it('is refused if it is too old, when connecting', async () => {
    const { disguise } = await oldServer();
    await expect(join('Holdfast.connect', disguise)).rejects.toMatchObject({
      code: 'ERR_DRIVER',
      message: expect.stringMatching(/is Redis 0*5\..*; holdfast needs 6\.0\.6 or newer/),
    });
  });

  it.each(['default ioredis 6', 'default node-redis 6'] as const)(
    'is refused if it is too old, by every operation, until it is replaced: %s',
    async (way) => {
      const { disguise } = await oldServer();
      const client = await join(way, disguise);
      const { warning } = listenTo(client);
      const lock = client.getLock(randomName());
      await expect(client.capabilities()).rejects.toBeInstanceOf(DriverError);
      await expect(lock.tryLock()).rejects.toThrow('holdfast needs 6.0.6 or newer');
      await expect(client.getSemaphore(randomName()).availablePermits()).rejects.toThrow(
        'holdfast needs 6.0.6 or newer',
      );
      expect(codes(warning)).toEqual(['HOLDFAST_UNFIT']);
      expect(await client.health()).toMatchObject({ status: 'down', problems: [{ code: 'ERR_DRIVER' }] });

      disguise.words = [];
      // The first that tries finds out; nobody has to ask for that.
      const hold = await eventually(() => lock.lock());
      expect(await hold.unlock()).toBe(true);
      expect(await client.health()).toMatchObject({ status: 'ok', problems: [] });
    },
  );

  it('is refused if it is part of a Cluster and the client is not a Cluster client', async () => {
    const node = await ownServer({ args: ['--cluster-enabled', 'yes'] });
    const message = expect.stringContaining('is part of a Cluster, but the client is for a single server');
    await expect(join('Holdfast.connect', node)).rejects.toMatchObject({ code: 'ERR_DRIVER', message });

    // It would answer MOVED or CLUSTERDOWN forever, which is worth waiting for elsewhere.
    const client = await join('default ioredis 6', node);
    await expect(client.getLock(randomName()).lock()).rejects.toMatchObject({ code: 'ERR_DRIVER', message });
  });

  it('is refused while it is a replica, and used once it is a primary', async () => {
    const { replicas } = await ownReplicas({ replicas: 1 });
    const replica = replicas[0]?.server as TestServer;
    const message = expect.stringContaining('is a read-only replica');
    await expect(join('Holdfast.connect', replica)).rejects.toMatchObject({ code: 'ERR_DRIVER', message });

    const client = await join('default ioredis 6', replica);
    const { warning } = listenTo(client);
    const waiting = client.getLock(randomName()).lock();
    await eventually(() => expect(warning).toMatchObject([{ code: 'HOLDFAST_UNFIT', message }]));
    await expect(client.capabilities()).rejects.toMatchObject({ code: 'ERR_DRIVER', message });
    expect(await client.health()).toMatchObject({
      status: 'down',
      problems: [{ code: 'ERR_DRIVER', message }],
    });
    // A promotion may come any moment: who waits goes on waiting.
    await replica.command('REPLICAOF', 'NO', 'ONE');
    expect(await (await waiting).unlock()).toBe(true);
    await eventually(async () => expect((await client.health()).status).toBe('ok'));
    expect((await client.capabilities()).replicas.connected).toBe(0);
  });
});

describeWithProcess('a required feature that is not available', () => {
  it.each([
    ['the guard without INFO', { guard: true }, '-info', /The guard is on, but cannot work here.*INFO/],
    [
      'two replicas without WAIT',
      { replicas: 2 },
      '-wait',
      /Replica acknowledgements are required.*WAIT.*no permissions/,
    ],
    [
      'a majority without INFO',
      { replicas: 'majority' },
      '-info',
      /Replica acknowledgements are required.*INFO/,
    ],
  ] as const)('makes connecting fail: %s', async (_title, options, rule, message) => {
    const server = await ownServer();
    const connecting = join('Holdfast.connect', await limited(server, rule), options);
    await expect(connecting).rejects.toMatchObject({
      code: 'ERR_DRIVER',
      message: expect.stringMatching(message),
    });
    // Everything that was opened for it is closed again.
    await eventually(async () => {
      expect(String(await server.command('CLIENT', 'LIST'))).not.toContain('user=limited');
    });
  });

  it('is a warning, and the server refuses locks, through a client of the user: the guard without INFO', async () => {
    const server = await ownServer();
    const client = await join('default ioredis 6', await limited(server, '-info'), {
      guard: true,
      replicas: 0,
    });
    const { warning } = listenTo(client);
    expect((await client.capabilities()).guard).toEqual({
      on: true,
      graceMs: 30_000,
      obstacle: expect.stringContaining('INFO'),
    });
    expect(codes(warning)).toEqual(['HOLDFAST_NO_INFO', 'HOLDFAST_NO_GUARD']);
    await expect(client.getLock(randomName()).tryLock()).rejects.toMatchObject({
      code: 'ERR_DRIVER',
      message: expect.stringMatching(/^Could not acquire .*: .*(can't run|has no permissions to run)/),
    });
  });

  it('is a warning, and acquisitions fail, through a client of the user: two replicas without WAIT', async () => {
    const { primary } = await ownReplicas({ replicas: 2 });
    const client = await join('default node-redis 6', await limited(primary, '-wait'), { replicas: 2 });
    const { warning } = listenTo(client);
    expect((await client.capabilities()).replicas).toEqual({
      connected: 2,
      required: 2,
      obstacle: expect.stringContaining('WAIT'),
      stopsAlone: false,
    });
    expect(codes(warning)).toEqual(['HOLDFAST_NO_REPLICAS']);
    const name = randomName();
    await expect(client.getLock(name).tryLock()).rejects.toMatchObject({ code: 'ERR_REPLICATION' });
    await eventually(async () => expect(await primary.command('EXISTS', name)).toBe(0));
  });
});

describeWithProcess('a fallback', () => {
  it.each(EACH_WAY)(
    'without permission for WAIT, locks are granted without acknowledgements, with a warning: %s',
    async (way) => {
      const { primary } = await ownReplicas({ replicas: 1 });
      await whenAcknowledging(primary, 1);
      const place = await limited(primary);
      const allowed = await join(way, place);
      expect((await allowed.capabilities()).replicas).toMatchObject({
        connected: 1,
        required: 1,
        obstacle: null,
      });
      await primary.command('ACL', 'SETUSER', 'limited', '-wait');
      const client = await join(way, place);
      const said = vi.fn();
      client.on('warning', said);
      expect((await client.capabilities()).replicas).toMatchObject({
        connected: 1,
        required: 0,
        obstacle: expect.stringContaining('WAIT'),
      });
      const hold = await client.getLock(randomName()).lock();
      expect(await hold.unlock()).toBe(true);
      // Who connects was told before anybody could listen.
      expect(said).toHaveBeenCalledTimes(way === 'Holdfast.connect' ? 0 : 1);
      expect((await client.health()).problems).toMatchObject([{ code: 'HOLDFAST_NO_REPLICAS' }]);
    },
  );

  it('polling: found before the first wait, if the command itself is forbidden', async () => {
    const server = await ownServer();
    const client = await join('default ioredis 6', await limited(server, '-publish'));
    const { warning } = listenTo(client);
    await client.capabilities();
    expect(codes(warning)).toEqual(['HOLDFAST_NO_PUBLISH']);
    const lock = client.getLock(randomName());
    expect(await (await lock.lock()).unlock()).toBe(true);
    expect(codes(warning)).toEqual(['HOLDFAST_NO_PUBLISH']);
    expect(await client.health()).toMatchObject({ problems: [{ code: 'HOLDFAST_NO_PUBLISH' }] });

    await server.command('ACL', 'SETUSER', 'limited', '+publish');
    expect(await client.health()).toMatchObject({ status: 'ok', problems: [] });
  });

  it('polling: shown by the capabilities once a subscription was refused', async () => {
    const server = await ownServer();
    const client = await join('default ioredis 6', await limited(server, '-subscribe'));
    const { warning } = listenTo(client);
    expect(await client.capabilities()).toMatchObject({ pubSub: 'plain' });
    const name = randomName();
    const hold = await client.getLock(name).lock();
    const other = await join('Holdfast.connect', server);
    expect(await other.getLock(name).tryLock()).toBeNull();
    expect(await client.getLock(name).tryLock({ waitMs: 20 })).toBeNull();
    await eventually(() => expect(codes(warning)).toEqual(['HOLDFAST_NO_SUBSCRIBE']));
    expect(await client.capabilities()).toMatchObject({ pubSub: 'polling' });
    expect(await client.health()).toMatchObject({
      status: 'degraded',
      problems: [{ code: 'HOLDFAST_NO_SUBSCRIBE' }],
    });
    expect(await hold.unlock()).toBe(true);
  });

  it('a user without INFO gets a warning about the unknown facts, and locks work', async () => {
    const server = await ownServer();
    const client = await join('default ioredis 6', await limited(server, '-info'), { replicas: 0 });
    const { warning } = listenTo(client);
    expect(await client.capabilities()).toMatchObject({
      info: false,
      server: null,
      version: null,
      persistence: null,
      replicas: { connected: null, required: 0, obstacle: null, stopsAlone: null },
    });
    expect(codes(warning)).toEqual(['HOLDFAST_NO_INFO']);
    expect(await (await client.getLock(randomName()).lock()).unlock()).toBe(true);
  });

  it('a user without scripts is refused with an error that names the missing command', async () => {
    const server = await ownServer();
    const place = await limited(server, '-evalsha');
    await expect(join('Holdfast.connect', place)).rejects.toMatchObject({
      code: 'ERR_DRIVER',
      message: expect.stringContaining("'evalsha' command"),
    });
  });
});

/** As operators do it who want nobody to use a command. */
function without(...commands: string[]): { args: string[] } {
  return { args: commands.flatMap((command) => ['--rename-command', command, '']) };
}

describeWithProcess('a command that is disabled for all users', () => {
  it.each(EACH_WAY)('PUBLISH: found before the first wait, and releases work: %s', async (way) => {
    const server = await ownServer(without('PUBLISH'));
    const client = await join(way, server);
    await client.capabilities();
    expect(await client.health()).toMatchObject({
      status: 'degraded',
      problems: [
        { code: 'HOLDFAST_NO_PUBLISH', message: expect.stringContaining('does not permit PUBLISH') },
      ],
    });
    expect(await (await client.getLock(randomName()).lock()).unlock()).toBe(true);
  });

  it.each(EACH_WAY)('SUBSCRIBE: waiters poll, with a warning: %s', async (way) => {
    const server = await ownServer(without('SUBSCRIBE'));
    const client = await join(way, server);
    const { warning } = listenTo(client);
    const lock = client.getLock(randomName());
    const hold = await lock.lock();
    expect(await lock.tryLock({ waitMs: 20 })).toBeNull();
    await eventually(() => expect(codes(warning)).toEqual(['HOLDFAST_NO_SUBSCRIBE']));
    expect(await client.capabilities()).toMatchObject({ pubSub: 'polling' });
    const waiting = lock.lock();
    expect(await hold.unlock()).toBe(true);
    expect(await (await waiting).unlock()).toBe(true);
  });

  it.each(EACH_WAY)('WAIT: optional acknowledgements are skipped, with a warning: %s', async (way) => {
    const { primary } = await ownReplicas({ replicas: 1, ...without('WAIT') });
    const client = await join(way, primary);
    expect((await client.capabilities()).replicas).toMatchObject({
      connected: 1,
      required: 0,
      obstacle: expect.stringMatching(/WAIT.*unknown command/i),
    });
    expect(await (await client.getLock(randomName()).lock()).unlock()).toBe(true);
    expect((await client.health()).problems).toMatchObject([{ code: 'HOLDFAST_NO_REPLICAS' }]);

    const insisting = await join('default node-redis 6', primary, { replicas: 1 });
    await expect(insisting.getLock(randomName()).lock()).rejects.toMatchObject({ code: 'ERR_REPLICATION' });
  });

  // A default ioredis asks for INFO before it sends anything, and never does without an answer.
  it.each(WAYS.slice(1))('INFO: a warning names the unknown facts, and locks work: %s', async (way) => {
    const server = await ownServer(without('INFO'));
    const client = await join(way, server);
    expect(await client.capabilities()).toMatchObject({
      info: false,
      server: null,
      replicas: { connected: null, required: 0, obstacle: expect.stringContaining('INFO') },
      guard: { obstacle: expect.stringContaining('INFO') },
    });
    expect(await (await client.getLock(randomName()).lock()).unlock()).toBe(true);
    expect(codes((await client.health()).problems)).toEqual(['HOLDFAST_NO_INFO', 'HOLDFAST_NO_REPLICAS']);

    const insisting = await join('default node-redis 6', server, { replicas: 'majority' });
    await expect(insisting.getLock(randomName()).lock()).rejects.toThrow('does not report how many replicas');
  });
});

/** Who waits asks again after four seconds at the earliest. */
const LONG_BEFORE_A_POLL_MS = 3_000;

describeWithProcess('a Cluster without sharded channels', () => {
  /** Clients use plain channels, and one is woken by what the other releases on that node. */
  async function expectPlain(way: Way, cluster: TestCluster, node: TestServer): Promise<void> {
    const clients = [await joinCluster(way, cluster), await joinCluster(way, cluster)] as const;
    for (const client of clients) {
      expect(await client.capabilities()).toMatchObject({ topology: 'cluster', pubSub: 'plain' });
    }
    const [holder, waiter] = clients;
    const name = await nameOn(cluster, node);
    const hold = await holder.getLock(name).lock();
    const published = async () => (await commandCounts(node)).get('publish') ?? 0;
    const [publishedBefore, askedBefore] = [await published(), await scriptCalls(node)];
    const waiting = waiter.getLock(name).lock();
    await eventually(async () => {
      expect(await subscribersOf(node, `redisson_lock__channel:{${name}}`)).toBe(1);
      // Before it was subscribed, and after: from here on only a message comes before the poll.
      expect((await scriptCalls(node)) - askedBefore).toBeGreaterThanOrEqual(2);
    });
    const woken = timed(waiting);
    expect(await hold.unlock()).toBe(true);
    const { value, tookMs } = await woken;
    expect(tookMs).toBeLessThan(LONG_BEFORE_A_POLL_MS);
    expect((await published()) - publishedBefore).toBeGreaterThanOrEqual(1);
    expect(await (value as typeof hold).unlock()).toBe(true);
    for (const client of clients) {
      expect(await client.health()).toMatchObject({ status: 'ok', problems: [] });
    }
  }

  it.each(EACH_WAY)('uses plain channels: a release wakes waiters: %s', async (way) => {
    const args = without('SPUBLISH', 'SSUBSCRIBE');
    const cluster = await ownCluster({ primaries: 1, replicasEach: 0, ...args });
    await expectPlain(way, cluster, cluster.nodes[0] as TestServer);
  });

  it('on some nodes uses plain channels on all nodes', async () => {
    const cluster = await ownCluster({ primaries: 2, replicasEach: 0 });
    const [knowing, unknowing] = cluster.nodes as [TestServer, TestServer];
    await unknowing.restart(without('SPUBLISH', 'SSUBSCRIBE').args);
    await cluster.whenSettled();
    await expectPlain('Holdfast.connect', cluster, knowing);
  });
});

describeWithProcess('a lock with the guard, of a client without it', () => {
  it('makes the client warn of a split brain', async () => {
    const { primary } = await ownReplicas({ replicas: 1 });
    await whenAcknowledging(primary, 1);
    const client = await join('default ioredis 6', primary);
    const { warning } = listenTo(client);
    await client.capabilities();
    client.getLock(randomName());
    expect(warning).toEqual([]);
    client.getLock(randomName(), { guard: true });
    expect(codes(warning)).toEqual(['HOLDFAST_SPLIT_BRAIN']);
    expect(await client.health()).toMatchObject({ problems: [{ code: 'HOLDFAST_SPLIT_BRAIN' }] });
    expect((await client.capabilities()).guard.on).toBe(false);
  });

  it('makes the client warn that the guard cannot work', async () => {
    const server = await ownServer();
    const client = await join('default ioredis 6', await limited(server, '-info'), { replicas: 0 });
    const { warning } = listenTo(client);
    await client.capabilities();
    expect(codes(warning)).toEqual(['HOLDFAST_NO_INFO']);
    const guarded = client.getLock(randomName(), { guard: true });
    expect(codes(warning)).toEqual(['HOLDFAST_NO_INFO', 'HOLDFAST_NO_GUARD']);
    await expect(guarded.tryLock()).rejects.toMatchObject({ code: 'ERR_DRIVER' });
    expect(await (await client.getLock(randomName()).lock()).unlock()).toBe(true);
  });
});

describeWithProcess('findings', () => {
  describe('of persistence', () => {
    it('report whether changes are persisted', async () => {
      const server = await ownServer({ args: ['--appendonly', 'yes'] });
      const client = await join('Holdfast.connect', server);
      expect((await client.capabilities()).persistence).toEqual({ appendOnly: true, failing: false });
    });

    it('warn of a disk that cannot be written to', async () => {
      const server = await ownServer();
      const client = await join('default ioredis 6', server);
      const { warning } = listenTo(client);
      await client.capabilities();
      expect(warning).toEqual([]);
      const [, folder] = (await server.command('CONFIG', 'GET', 'dir')) as [string, string];
      rmSync(folder, { recursive: true });
      await server.command('BGSAVE');
      await eventually(async () => expect((await client.health()).status).toBe('degraded'));
      expect(codes(warning)).toEqual(['HOLDFAST_DISK']);
      expect((await client.capabilities()).persistence).toEqual({ appendOnly: false, failing: true });
    });
  });

  describe('of replicas', () => {
    it('report min-replicas-to-write, and warn if the guard lacks it', async () => {
      const { primary } = await ownReplicas({ replicas: 1 });
      await whenAcknowledging(primary, 1);
      const client = await join('default ioredis 6', primary, { guard: true });
      const { warning } = listenTo(client);
      expect((await client.capabilities()).replicas.stopsAlone).toBe(false);
      expect(codes(warning)).toEqual(['HOLDFAST_SPLIT_BRAIN']);
      await primary.command('CONFIG', 'SET', 'min-replicas-to-write', '1');
      expect(await client.health()).toMatchObject({ status: 'ok', problems: [] });
      expect((await client.capabilities()).replicas.stopsAlone).toBe(true);
      await primary.command('CONFIG', 'SET', 'min-replicas-to-write', '0');
      // What went and came back is news.
      await client.health();
      await client.health();
      expect(codes(warning)).toEqual(['HOLDFAST_SPLIT_BRAIN', 'HOLDFAST_SPLIT_BRAIN']);
    });

    it('warn if fewer replicas are connected than have to acknowledge', async () => {
      const { primary } = await ownReplicas({ replicas: 1 });
      const client = await join('default ioredis 6', primary, { replicas: 2, replicaTimeoutMs: 50 });
      const { warning } = listenTo(client);
      await client.capabilities();
      expect(warning).toMatchObject([
        {
          code: 'HOLDFAST_FEW_REPLICAS',
          message: expect.stringMatching(/ 2 replicas must acknowledge it, and only 1 of the connected/),
        },
      ]);
    });

    it('warn if the server refuses writes for lack of replicas', async () => {
      const server = await ownServer({ args: ['--min-replicas-to-write', '1'] });
      const client = await join('default ioredis 6', server);
      const { warning } = listenTo(client);
      await client.capabilities();
      expect(warning).toMatchObject([
        { code: 'HOLDFAST_FEW_REPLICAS', message: expect.stringContaining('refuses to grant locks') },
      ]);
    });
  });

  it('warn of a clock that is far off', async () => {
    const server = await ownServer();
    const real = Date.now.bind(Date);
    const now = vi.spyOn(Date, 'now').mockImplementation(() => real() + 3_600_000);
    const client = await join('default ioredis 6', server);
    const { warning } = listenTo(client);
    const { clockSkewMs } = await client.capabilities();
    now.mockRestore();
    expect(clockSkewMs).toBeLessThanOrEqual(-3_599_000);
    expect(clockSkewMs).toBeGreaterThanOrEqual(-3_601_000);
    expect(warning).toMatchObject([
      {
        code: 'HOLDFAST_CLOCK_SKEW',
        message: expect.stringMatching(/the server is 3[56]\d\d s behind the clock of this machine/),
      },
    ]);
  });
});

describeWithProcess('a server that changed', () => {
  it.each(EACH_WAY)(
    'is checked again after a restart, and only new findings are reported: %s',
    async (way) => {
      const server = await ownServer({
        args: ['--maxmemory', '100mb', '--maxmemory-policy', 'volatile-lru'],
      });
      const client = await join(way, server, { commandTimeoutMs: 500 });
      const { warning } = listenTo(client);
      const lock = client.getLock(randomName());
      await client.capabilities();
      warning.length = 0;

      const tryIt = async () => void (await (await lock.tryLock())?.unlock());
      await server.kill();
      await expect(tryIt()).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_/) });
      await server.restart(['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru']);
      await eventually(tryIt);
      await eventually(async () =>
        expect(await client.capabilities()).toMatchObject({ evictionPolicy: 'allkeys-lru' }),
      );
      expect(warning).toEqual([]);

      await server.kill();
      await expect(tryIt()).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_/) });
      await server.restart(['--maxmemory-policy', 'noeviction', '--appendonly', 'yes']);
      await eventually(tryIt);
      await eventually(async () =>
        expect(await client.capabilities()).toMatchObject({
          mayEvictLocks: false,
          persistence: { appendOnly: true },
        }),
      );
      expect(warning).toEqual([]);
    },
  );

  it('is checked again when only the subscriber noticed the restart', async () => {
    const server = await ownServer();
    const client = await join('Holdfast.connect', server);
    const name = randomName();
    const hold = await client.getLock(name).lock();
    const waiting = client.getLock(name).lock();
    const channel = `redisson_lock__channel:{${name}}`;
    await eventually(async () => expect(await subscribersOf(server, channel)).toBe(1));
    await server.command('CONFIG', 'SET', 'maxmemory', '100mb');
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')).toBe(1);
    await eventually(async () => {
      expect(await client.getLock(name).isLocked()).toBe(true);
      expect(await client.capabilities()).toMatchObject({ mayEvictLocks: true });
    });
    expect(await hold.unlock()).toBe(true);
    expect(await (await waiting).unlock()).toBe(true);
  });
});
