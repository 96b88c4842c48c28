/**
 * How many replicas have to acknowledge a grant, by the wish of the client and by who is there.
 */
import { describe, expect, it } from 'vitest';
import { type ClientOptions, Holdfast } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { commandCounts } from '../behaviour/support/server-stats.ts';
import { randomName } from '../harness/names.ts';
import type { TestReplica, TestReplicas } from '../harness/replicas.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { ownReplicas } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { join, listenTo, SLACK_MS, timed } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { MODES, settle } from './support/failover-stage.ts';
import { WAYS } from './support/ways.ts';

const REPLICA_TIMEOUT_MS = 500;
const TIMES: ClientOptions = { replicaTimeoutMs: REPLICA_TIMEOUT_MS };

const UNASKING = MODES.filter(({ mode }) => mode === 'replicas: 0' || mode === 'guard');

/** Taken and given back. */
async function grant(client: Holdfast): Promise<void> {
  const hold = await client.getLock(randomName('wish')).tryLock();
  expect(await hold?.unlock()).toBe(true);
}

function refused(acknowledged: number, required: number): object {
  return { code: 'ERR_REPLICATION', acknowledged, required };
}

async function waits(server: TestServer): Promise<number> {
  return (await commandCounts(server)).get('wait') ?? 0;
}

async function replicated(replicas: number): Promise<TestReplicas> {
  const set = await ownReplicas({ replicas });
  await whenAcknowledging(set.primary, replicas);
  return set;
}

/** Kills a replica; resolves when the primary knows. */
async function kill({ server }: TestReplica, primary: TestServer, left: number): Promise<void> {
  await server.kill();
  await eventually(async () => {
    expect(String(await primary.command('INFO', 'replication'))).toContain(`connected_slaves:${left}`);
  });
}

describeWithProcess('the number of required acknowledgements', () => {
  it.each(UNASKING)('$mode: none, whether replicas stall or have left', async ({ options }) => {
    const { primary, replicas } = await replicated(1);
    const [replica] = replicas as [TestReplica];
    await settle(primary);
    const client = await join('Holdfast.connect', primary, { ...TIMES, ...options });
    await replica.server.pause();
    const before = await waits(primary);
    await grant(client);
    await replica.server.resume();
    await kill(replica, primary, 0);
    await grant(client);
    expect(await waits(primary)).toBe(before);
  });

  it.each(EACH_WAY)('auto, %s: none if there is no replica', async (way) => {
    const server = await ownServer();
    const client = await join(way, server, TIMES);
    await grant(client);
    expect(await waits(server)).toBe(0);
  });

  it.each(EACH_WAY)('auto, %s: one if there is a replica, none after it has left', async (way) => {
    const { primary, replicas } = await replicated(1);
    const client = await join(way, primary, TIMES);
    const sofar = await waits(primary);
    await grant(client);
    expect(await waits(primary)).toBeGreaterThan(sofar);
    await kill(replicas[0] as TestReplica, primary, 0);

    // It is still counted on, until it is found that nobody is there to answer.
    const { error, tookMs } = await timed(grant(client));
    expect(error).toBeUndefined();
    expect(tookMs).toBeLessThan(REPLICA_TIMEOUT_MS + SLACK_MS);
    const before = await waits(primary);
    await grant(client);
    expect(await waits(primary)).toBe(before);
  });

  it('auto: one is enough, from any replica, and one is required while any replica is connected', async () => {
    const { primary, replicas } = await replicated(2);
    const client = await join('Holdfast.connect', primary, TIMES);
    const [one, other] = replicas as [TestReplica, TestReplica];
    await one.server.pause();
    await grant(client);
    await one.server.resume();
    await other.server.pause();
    await grant(client);
    await one.server.pause();
    await expect(grant(client)).rejects.toMatchObject(refused(0, 1));
  });

  it.each(EACH_WAY)('a number, %s: that many, even after replicas have left', async (way) => {
    const { primary, replicas } = await replicated(2);
    const client = await join(way, primary, { ...TIMES, replicas: 2 });
    const [one, other] = replicas as [TestReplica, TestReplica];
    await grant(client);
    await kill(one, primary, 1);
    await expect(grant(client)).rejects.toMatchObject(refused(1, 2));
    await kill(other, primary, 0);
    await expect(grant(client)).rejects.toMatchObject(refused(0, 2));
  });

  describe('majority', () => {
    it('is one of two replicas, even after both have left', async () => {
      const { primary, replicas } = await replicated(2);
      const client = await join('Holdfast.connect', primary, { ...TIMES, replicas: 'majority' });
      const [one, other] = replicas as [TestReplica, TestReplica];
      await grant(client);
      await kill(one, primary, 1);
      await grant(client);
      await kill(other, primary, 0);
      await expect(grant(client)).rejects.toMatchObject(refused(0, 1));
    });

    it('counts the listed replicas, not only the connected ones', async () => {
      const { primary, replicas } = await replicated(4);
      const target = {
        master: { url: primary.url },
        replicas: replicas.map(({ server: { url } }) => ({ url })),
      };
      await Promise.all(replicas.slice(1).map(({ server }) => server.kill()));
      await kill(replicas[1] as TestReplica, primary, 1);
      await using client = await Holdfast.connect(target, { ...TIMES, replicas: 'majority' });
      // Two of four, and the primary, are more than half of five.
      await expect(grant(client)).rejects.toMatchObject(refused(1, 2));
      await using unaware = await Holdfast.connect(primary.url, { ...TIMES, replicas: 'majority' });
      await grant(unaware);
    });
  });

  describe('the user may not wait for replicas', () => {
    async function stage() {
      const { primary } = await replicated(1);
      await primary.command('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all', '-wait');
      return { host: primary.host, port: primary.port, username: 'limited', password: 'secret' };
    }

    it.each(EACH_WAY)('auto, %s: the lock is granted, with one warning', async (way) => {
      const client = await join(way, await stage(), TIMES);
      const events = listenTo(client);
      await Promise.all([grant(client), grant(client)]);
      await grant(client);
      const told = events.warning.filter(({ code }) => code === 'HOLDFAST_NO_REPLICAS');
      // Who connects was told before anybody could listen.
      expect(told).toHaveLength(way === 'Holdfast.connect' ? 0 : 1);
      expect((await client.health()).problems).toMatchObject([{ code: 'HOLDFAST_NO_REPLICAS' }]);
    });

    it.each(WAYS.slice(0, 2))('a number, %s: the lock is refused, and the grant undone', async (way) => {
      const place = await stage();
      const client = await join(way, place, { ...TIMES, replicas: 1 });
      const lock = client.getLock(randomName('wish'));
      await expect(lock.tryLock()).rejects.toMatchObject(refused(0, 1));
      await eventually(async () => expect(await lock.isLocked()).toBe(false));
    });

    it('a number: connecting fails', async () => {
      const opening = join('Holdfast.connect', await stage(), { ...TIMES, replicas: 1 });
      await expect(opening).rejects.toMatchObject({ code: 'ERR_DRIVER' });
    });
  });
});

describeWithProcess('the reported acknowledgements match the behaviour', () => {
  it.each(EACH_WAY)('auto, %s: without permission for WAIT, and once it is granted again', async (way) => {
    const { primary, replicas } = await replicated(1);
    const [{ server: replica }] = replicas as [TestReplica];
    const { host, port } = primary;
    await primary.command('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all');
    const client = await join(way, { host, port, username: 'limited', password: 'secret' }, TIMES);
    const { warning } = listenTo(client);
    const said = async () => (await client.capabilities()).replicas;
    expect(await said()).toMatchObject({ connected: 1, required: 1, obstacle: null });

    await primary.command('ACL', 'SETUSER', 'limited', '-wait');
    await grant(client);
    expect(warning).toMatchObject([{ code: 'HOLDFAST_NO_REPLICAS' }]);
    expect(await said()).toMatchObject({ required: 0, obstacle: expect.stringContaining('WAIT') });
    await replica.pause();
    await grant(client);
    await replica.resume();

    // The next look comes after a connection was lost.
    await primary.command('ACL', 'SETUSER', 'limited', '+wait');
    await primary.command('CLIENT', 'KILL', 'USER', 'limited');
    await eventually(
      async () => {
        await grant(client);
        expect(await said()).toMatchObject({ connected: 1, required: 1, obstacle: null });
      },
      { withinMs: 10_000 },
    );
    await replica.pause();
    await expect(grant(client)).rejects.toMatchObject(refused(0, 1));
    await replica.resume();
    expect(await client.health()).toMatchObject({ status: 'ok', problems: [] });
  });

  it('one: without permission for WAIT no lock is granted, and the next check reports why', async () => {
    const { primary } = await replicated(1);
    const { host, port } = primary;
    await primary.command('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all');
    const place = { host, port, username: 'limited', password: 'secret' };
    const client = await join('default ioredis 6', place, { ...TIMES, replicas: 1 });
    const { warning } = listenTo(client);
    await grant(client);
    await primary.command('ACL', 'SETUSER', 'limited', '-wait');
    await expect(grant(client)).rejects.toMatchObject(refused(0, 1));
    expect((await client.capabilities()).replicas.obstacle).toContain('WAIT');

    await primary.command('CLIENT', 'KILL', 'USER', 'limited');
    await eventually(async () => {
      await grant(client).catch(() => undefined);
      expect(warning).toMatchObject([{ code: 'HOLDFAST_NO_REPLICAS' }]);
    });
  });

  it('majority: replicas that have left still count', async () => {
    const { primary, replicas } = await replicated(2);
    const client = await join('default ioredis 6', primary, { ...TIMES, replicas: 'majority' });
    const { warning } = listenTo(client);
    expect((await client.capabilities()).replicas).toMatchObject({ connected: 2, required: 1 });
    await kill(replicas[0] as TestReplica, primary, 1);
    await kill(replicas[1] as TestReplica, primary, 0);
    await expect(grant(client)).rejects.toMatchObject(refused(0, 1));
    const problems = [
      { code: 'HOLDFAST_FEW_REPLICAS', message: expect.stringContaining('only 0 of the connected replicas') },
    ];
    expect(await client.health()).toMatchObject({ status: 'degraded', problems });
    expect(warning).toMatchObject(problems);
    expect((await client.capabilities()).replicas).toMatchObject({
      connected: 0,
      required: 1,
      obstacle: null,
    });
  });

  it('majority: if no replica was ever seen, locks are granted without acknowledgements', async () => {
    const server = await ownServer();
    const client = await join('default ioredis 6', server, { ...TIMES, replicas: 'majority' });
    const { warning } = listenTo(client);
    expect((await client.capabilities()).replicas).toMatchObject({ connected: 0, required: 0 });
    expect(warning).toMatchObject([
      { code: 'HOLDFAST_FEW_REPLICAS', message: expect.stringContaining('without acknowledgements') },
    ]);
    await grant(client);
    expect(await client.health()).toMatchObject({ status: 'degraded' });
  });
});
