/**
 * What is special to a Cluster: names whose keys would not be together, renewals and wake-ups by node, and a
 * node that dies. What is the same as on one server is in the suites, which run here as well.
 */
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import {
  type ClientEvents,
  type Hold,
  type Holdfast,
  type Lock,
  type LockDescription,
  OptionError,
} from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { startCluster, type TestCluster } from '../harness/cluster.ts';
import { ClusterConnection, SlotMap } from '../harness/cluster-connection.ts';
import { LABEL, randomName } from '../harness/names.ts';
import { describeWithProcess, openRaw, sharedCluster } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { channelOf } from './support/by-hand.ts';
import {
  type Context,
  describeOnCluster,
  forbidUnhandledRejections,
  throughIoredisCluster,
  throughNodeRedisCluster,
} from './support/context.ts';
import { rejection, timed, whenAborted } from './support/moments.ts';
import { commandCounts, resetCounts } from './support/server-stats.ts';

/** A waiter that heard nothing would look again by itself after this time at the earliest. */
const POLL_MS = 4_000;
const CONTEXTS = [throughIoredisCluster, throughNodeRedisCluster];
const EACH = CONTEXTS.map((context): [string, Context] => [context.title, context]);

/** Redisson's rules would spread their keys: empty braces, an open one, a closing one. */
const SPLIT_NAMES = ['a{}b', 'foo{bar', 'foo}bar', '{', '}', '{}{a}'];

/** Everything that takes a name. */
const USES: [string, (client: Holdfast, name: string) => unknown][] = [
  ['getLock', (client, name) => client.getLock(name)],
  ['getNonReentrantLock', (client, name) => client.getNonReentrantLock(name)],
  ['getFairLock', (client, name) => client.getFairLock(name)],
  ['getNonReentrantFairLock', (client, name) => client.getNonReentrantFairLock(name)],
  ['getSpinLock', (client, name) => client.getSpinLock(name)],
  ['getSimpleLock', (client, name) => client.getSimpleLock(name)],
  ['getFencedLock', (client, name) => client.getFencedLock(name)],
  ['getFencedRegister', (client, name) => client.getFencedRegister(name)],
  ['readLock', (client, name) => client.getReadWriteLock(name).readLock()],
  ['writeLock', (client, name) => client.getReadWriteLock(name).writeLock()],
  ['getSemaphore', (client, name) => client.getSemaphore(name)],
  ['getPermitExpirableSemaphore', (client, name) => client.getPermitExpirableSemaphore(name)],
  ['getCountDownLatch', (client, name) => client.getCountDownLatch(name)],
  ['getRateLimiter', (client, name) => client.getRateLimiter(name)],
  ['locks.request', (client, name) => client.locks.request(name, () => 'inside')],
  ['locks.request, steal', (client, name) => client.locks.request(name, { steal: true }, () => 'inside')],
  ['inspect', (client, name) => client.inspect(name)],
];

/** Of the commands that servers got, those that no client sends to find its way. */
async function commandsOn(nodes: readonly TestServer[]): Promise<string[]> {
  const counts = await Promise.all(nodes.map(commandCounts));
  const commands = counts.flatMap((each) => [...each.keys()]);
  return commands.filter((command) => !/^(cluster|client|command|hello|ping)/.test(command));
}

/** So many names on each of the primaries. */
function namesOn(slots: SlotMap, count: number): Map<number, string[]> {
  const found = new Map(slots.primaries.map(({ port }): [number, string[]] => [port, []]));
  while ([...found.values()].some((names) => names.length < count)) {
    const name = randomName();
    const names = found.get(slots.primaryOf(name).port);
    if (names !== undefined && names.length < count) names.push(name);
  }
  return found;
}

async function sharedSlots(): Promise<SlotMap> {
  const { addresses } = await sharedCluster();
  return SlotMap.seenBy(addresses[0] as (typeof addresses)[0]);
}

describeOnCluster('in a Cluster', () => {
  forbidUnhandledRejections();

  it.each(EACH)('names in braces have all their keys in one slot: %s', async (_title, context) => {
    const client = await context.client();
    const raw = await context.raw();
    const id = randomName();
    for (const name of [`{${id}}`, `{${id}}:a`, `a:{${id}}:b`, `a}{${id}}b{c}`]) {
      const locks: Lock[] = [
        client.getFairLock(`${name}:fair`),
        client.getFencedLock(`${name}:fenced`),
        client.getSimpleLock(`${name}:simple`),
        client.getReadWriteLock(`${name}:rw`).readLock(),
        client.getReadWriteLock(`${name}:rw`).writeLock(),
      ];
      for (const lock of locks) {
        const hold = await lock.lock();
        expect(await raw.command('EXISTS', lock.name)).toBe(1);
        expect(await hold.unlock()).toBe(true);
      }
      const semaphore = client.getPermitExpirableSemaphore(`${name}:permits`);
      await semaphore.setPermits(2);
      await semaphore.acquireMany(2);
      expect(await semaphore.availablePermits()).toBe(0);
      const limiter = client.getRateLimiter(`${name}:rate`);
      await limiter.setRate({ mode: 'overall', rate: 2, intervalMs: 60_000 });
      expect([await limiter.tryAcquire(2), await limiter.tryAcquire()]).toEqual([true, false]);
    }
  });

  it.each(EACH)(
    'a count-down latch with braces is refused with an error that says why: %s',
    async (_title, context) => {
      const client = await context.client();
      for (const name of [`{${randomName()}}:start`, `start:{${randomName()}}`]) {
        const refused = () => client.getCountDownLatch(name);
        expect(refused).toThrow(OptionError);
        expect(refused).toThrow(/must not have braces.*channel.*another slot/);
      }
    },
  );

  it.each(EACH)('every lock is found, on whichever node it is: %s', async (_title, context) => {
    const prefix = randomName();
    const client = await context.client({ mapName: (name) => `${prefix}:${name}` });
    const slots = await sharedSlots();
    const names = Array.from({ length: 40 }, (_, i) => String(i));
    const homes = new Set(names.map((name) => slots.primaryOf(`${prefix}:${name}`).port));
    expect(homes.size).toBe(3);
    const holds = await Promise.all(names.map((name) => client.getLock(name).lock()));
    const found = (await client.list(`${prefix}:*`)) as LockDescription[];
    const expected = holds.map(({ name, owner }) => [`${prefix}:${name}`, owner]);
    expect(found.map(({ key, holders: [holder] }) => [key, holder.owner]).sort()).toEqual(expected.sort());
    expect(found.map(({ holders: [holder] }) => holder.client?.label)).toEqual(found.map(() => LABEL));
  });

  it.each(EACH)('holds in many slots are all renewed: %s', async (_title, context) => {
    const watchdogMs = 3_000;
    const client = await context.client({ watchdogMs });
    const raw = await context.raw();
    const lost: ClientEvents['lost'][] = [];
    client.on('lost', (event) => lost.push(event));
    const names = [...namesOn(await sharedSlots(), 16).values()].flat();
    const kinds = [
      (name: string) => client.getLock(name),
      (name: string) => client.getSimpleLock(name),
      (name: string) => client.getReadWriteLock(name).readLock(),
      (name: string) => client.getReadWriteLock(name).writeLock(),
    ];
    const taking = names.map((name, i) => kinds[i % 4]?.(name).lock() as Promise<Hold>);
    const holds = await Promise.all(taking);
    const from = performance.now();
    // A lease later they can only be there because they were renewed.
    await eventually(() => performance.now() - from > watchdogMs + 500, { everyMs: 20 });
    expect(lost).toEqual([]);
    for (const hold of holds) {
      hold.assertHeld();
      expect(Number(await raw.command('PTTL', hold.name)), hold.name).toBeGreaterThan(0);
      expect(await hold.unlock()).toBe(true);
    }
  });

  it.each(EACH)(
    'wake-ups use sharded channels, and plain channels if the option says so: %s',
    async (_title, context) => {
      const { addresses } = await sharedCluster();
      const nodes = await Promise.all(addresses.map(({ host, port }) => openRaw(host, port)));
      const subscribers = async (word: 'NUMSUB' | 'SHARDNUMSUB', channel: string) => {
        const replies = await Promise.all(nodes.map((node) => node.command('PUBSUB', word, channel)));
        return replies.reduce<number>((sum, reply) => sum + Number((reply as [string, number])[1]), 0);
      };
      for (const shardedPubSub of ['auto', false] as const) {
        const [ours, theirs] = [
          await context.client({ shardedPubSub }),
          await context.client({ shardedPubSub }),
        ];
        const name = randomName();
        const channel = channelOf(name);
        const hold = await ours.getLock(name).lock();
        const waiter = theirs.getLock(name).lock();
        const [here, elsewhere] =
          shardedPubSub === false
            ? (['NUMSUB', 'SHARDNUMSUB'] as const)
            : (['SHARDNUMSUB', 'NUMSUB'] as const);
        await eventually(async () => (await subscribers(here, channel)) === 1);
        expect(await subscribers(elsewhere, channel)).toBe(0);
        await hold.unlock();
        expect((await timed(() => waiter)).tookMs).toBeLessThan(POLL_MS);
        expect(await theirs.capabilities()).toMatchObject({
          pubSub: shardedPubSub === false ? 'plain' : 'sharded',
        });
      }
    },
  );
});

describeWithProcess('in a private Cluster', () => {
  forbidUnhandledRejections();
  let cluster: TestCluster;

  beforeAll(async () => {
    const binary = inject('serverBinary');
    // Else the death of one primary would stop all of them.
    const args = ['--cluster-require-full-coverage', 'no'];
    cluster = await startCluster({ replicasEach: 0, args, ...(binary !== null && { binary }) });
  });
  afterAll(() => cluster.close());

  it.each(EACH)(
    'names that would be split are refused before anything is sent: %s',
    async (_title, context) => {
      const client = await context.client({}, cluster.nodes[0]);
      const mapped = await context.client({ mapName: (name) => `{${name}` }, cluster.nodes[0]);
      for (const each of [client, mapped]) await each.capabilities();
      for (const node of cluster.nodes) await resetCounts(node);
      for (const [title, use] of USES) {
        for (const name of SPLIT_NAMES) {
          const error = await rejection((async () => use(client, name))());
          expect(error, `${title} ${name}`).toBeInstanceOf(OptionError);
          expect(String(error), title).toContain(JSON.stringify(name));
        }
        const error = await rejection((async () => use(mapped, 'order'))());
        expect(error, `${title}, mapped`).toBeInstanceOf(OptionError);
      }
      expect(await commandsOn(cluster.nodes)).toEqual([]);
      await client.getLock('order').withLock(() => undefined);
      expect(await commandsOn(cluster.nodes)).not.toEqual([]);
    },
  );

  it.each(EACH)(
    'one connection to each node receives all wake-ups of that node: %s',
    async (_title, context) => {
      const address = cluster.nodes[0];
      const [ours, theirs] = [await context.client({}, address), await context.client({}, address)];
      const names = [...namesOn(await SlotMap.seenBy(cluster.nodes[0] as TestServer), 4).values()].flat();
      const holds = await Promise.all(names.map((name) => ours.getLock(name).lock()));
      const waiters = names.map((name) => theirs.getLock(name).lock());
      for (const node of cluster.nodes) {
        await eventually(async () => {
          const list = String(await node.command('CLIENT', 'LIST', 'TYPE', 'PUBSUB'));
          expect([...list.matchAll(/ ssub=(\d+)/g)].map(([, count]) => Number(count))).toEqual([4]);
        });
      }
      const { tookMs } = await timed(async () => {
        await Promise.all(holds.map((hold) => hold.unlock()));
        await Promise.all(waiters);
      });
      expect(tookMs).toBeLessThan(POLL_MS);
    },
  );

  it.each(EACH)('renewals of one slot share their calls: %s', async (_title, context) => {
    const client = await context.client({ watchdogMs: 3_000 }, cluster.nodes[0]);
    const tag = `{${randomName()}}`;
    const home = await cluster.primaryOf(tag);
    const names = Array.from({ length: 100 }, (_, i) => `${tag}:${i}`);
    const semaphore = client.getPermitExpirableSemaphore(`${tag}:permits`);
    await semaphore.trySetPermits(100);
    const permits = await semaphore.acquireMany(100);
    const holds = await Promise.all(names.map((name) => client.getLock(name).lock()));
    await resetCounts(home);
    const counts = await eventually(async () => {
      const counted = await commandCounts(home);
      for (const renewing of ['pexpire', 'zadd']) expect(counted.get(renewing)).toBeGreaterThanOrEqual(100);
      return counted;
    });
    // At most a hundred of one kind in one call; the first and the last batch may be small, and the answers that
    // the server remembered are forgotten in a few more.
    const batches = ['pexpire', 'zadd'].map((renewing) => Math.ceil((counts.get(renewing) ?? 0) / 100));
    expect(counts.get('evalsha')).toBeLessThanOrEqual(batches.reduce((sum, each) => sum + each) + 10);
    for (const each of [...holds, ...permits]) each.assertHeld();
  });

  it.each(EACH)(
    'closing ends in time while one primary is frozen, and releases the locks on the others: %s',
    async (_title, context) => {
      const [frozen, awake] = cluster.nodes as [TestServer, TestServer];
      const client = await context.client({ commandTimeoutMs: 1_000 }, awake);
      client.on('error', () => {});
      const names = namesOn(await SlotMap.seenBy(awake), 4);
      const holds = await Promise.all([...names.values()].flat().map((name) => client.getLock(name).lock()));
      await frozen.pause();
      onTestFinished(() => frozen.resume());
      const { tookMs } = await timed(() => client.close());
      // One command time-out, and as much again for what a busy machine does late.
      expect(tookMs).toBeLessThan(3_500);
      for (const { signal } of holds) expect(signal.reason).toMatchObject({ reason: 'closed' });
      for (const node of cluster.nodes.filter((each) => each !== frozen)) {
        const theirs = names.get(node.port) as string[];
        for (const name of theirs) expect(await node.command('EXISTS', name), name).toBe(0);
      }
      await frozen.resume();
      await cluster.whenSettled();
    },
  );

  it('a dead primary loses its own holds and delays no other holder', async () => {
    const [dead, alive] = cluster.nodes as [TestServer, TestServer];
    const watchdogMs = 3_000;
    const slots = await SlotMap.seenBy(alive);
    const stages = CONTEXTS.map(async (context) => {
      const options = { watchdogMs, commandTimeoutMs: 1_000 };
      const [ours, theirs] = [await context.client(options, alive), await context.client(options, alive)];
      const names = namesOn(slots, 6);
      const onDead = names.get(dead.port) as string[];
      names.delete(dead.port);
      const lost: string[] = [];
      ours.on('lost', ({ name }) => lost.push(name));
      const doomed = await Promise.all(onDead.map((name) => ours.getLock(name).lock()));
      const safe = await Promise.all([...names.values()].flat().map((name) => ours.getLock(name).lock()));
      // Those for the dead node must not hold up the others, in the client that waits either.
      const stranded = rejection(
        theirs.getLock(onDead[0] as string).lock({ signal: AbortSignal.timeout(8_000) }),
      );
      const waiters = safe.map((hold) => theirs.getLock(hold.name).lock());
      return { context, ours, onDead, lost, doomed, safe, stranded, waiters };
    });
    const ready = await Promise.all(stages);
    const look = await ClusterConnection.connect(slots);
    onTestFinished(() => look.close());
    const channels = ready.flatMap(({ safe }) => safe.map(({ name }) => channelOf(name)));
    await eventually(async () => {
      const found = await look.command('PUBSUB', 'NUMSUB', ...channels);
      expect(found).toEqual(channels.flatMap((channel) => [channel, 1]));
    });

    await dead.kill();
    const killedAt = performance.now();
    for (const { context, doomed, onDead, lost } of ready) {
      for (const { signal } of doomed) {
        expect(await whenAborted(signal), context.title).toMatchObject({ reason: 'unreachable' });
      }
      expect(performance.now() - killedAt, context.title).toBeLessThan(watchdogMs);
      expect(lost.sort()).toEqual(onDead.sort());
    }
    await eventually(() => performance.now() - killedAt > 2 * watchdogMs, { everyMs: 20, withinMs: 10_000 });
    for (const { context, safe, waiters, lost } of ready) {
      for (const hold of safe) hold.assertHeld();
      expect(lost, context.title).toHaveLength(6);
      const { tookMs } = await timed(async () => {
        for (const hold of safe) expect(await hold.unlock()).toBe(true);
        return Promise.all(waiters);
      });
      expect(tookMs, context.title).toBeLessThan(POLL_MS);
    }
    for (const { stranded } of ready) expect(await stranded).toMatchObject({ name: 'TimeoutError' });

    await dead.restart();
    await cluster.whenSettled();
    for (const { context, ours, onDead } of ready) {
      const hold = await ours.getLock(onDead[1] as string).tryLock({ waitMs: 15_000 });
      expect(await hold?.unlock(), context.title).toBe(true);
    }
  }, 60_000);
});
