/**
 * Replicas that do not acknowledge: what was granted is undone, once, and nobody else is held up meanwhile.
 *
 * The servers are shared by all tests here, which leave the replica as they found it.
 */
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../src/embedded/free-port.ts';
import type { ClientOptions, Holdfast, Lock } from '../../src/index.ts';
import { commandCounts, resetCounts } from '../behaviour/support/server-stats.ts';
import { randomName } from '../harness/names.ts';
import { startReplicas, type TestReplica, type TestReplicas } from '../harness/replicas.ts';
import { describeWithProcess, ownProxy } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { join, leftovers, listenTo, SLACK_MS, timed } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { address } from './support/failover-stage.ts';
import type { Way } from './support/ways.ts';

const REPLICA_TIMEOUT_MS = 600;

const INSISTING: ClientOptions = { replicas: 1, replicaTimeoutMs: REPLICA_TIMEOUT_MS };

/** A replica that is connected is asked by default as well. */
const WISHES = ['auto', 1] as const;

/** What outlives a hold on purpose: the note that it is over, and the last token. */
const NOTES = /^(?:redisson_unlock_latch|redisson_lock_token):/;

interface Fault {
  readonly title: string;
  begin(replica: TestReplica): Promise<void> | void;
  end(replica: TestReplica): Promise<void>;
}

const FAULTS: readonly Fault[] = [
  {
    title: 'the replica is frozen',
    begin: ({ server }) => server.pause(),
    end: ({ server }) => server.resume(),
  },
  {
    title: 'the way to the replica is a black hole',
    begin: ({ link }) => link.blackhole(),
    end: ({ link }) => link.heal(),
  },
];

/** Something that is granted: how it is taken, and given back. */
interface Grantable {
  readonly title: string;
  /** Several may have it at once. */
  readonly shared?: boolean;
  prepare?(client: Holdfast, name: string): Promise<unknown>;
  take(client: Holdfast, name: string): Promise<Release | null>;
}

type Release = () => Promise<unknown>;

const lockOf = (title: string, get: (client: Holdfast, name: string) => Lock): Grantable => ({
  title,
  take: async (client: Holdfast, name: string) => {
    const hold = await get(client, name).tryLock();
    return hold && (() => hold.unlock());
  },
});

const GRANTABLES: readonly Grantable[] = [
  lockOf('getLock', (client, name) => client.getLock(name)),
  lockOf('getFairLock', (client, name) => client.getFairLock(name)),
  lockOf('getFencedLock', (client, name) => client.getFencedLock(name)),
  lockOf('getSimpleLock', (client, name) => client.getSimpleLock(name)),
  { ...lockOf('the read side', (client, name) => client.getReadWriteLock(name).readLock()), shared: true },
  lockOf('the write side', (client, name) => client.getReadWriteLock(name).writeLock()),
  {
    title: 'getSemaphore',
    prepare: (client, name) => client.getSemaphore(name).trySetPermits(2),
    take: async (client, name) => {
      const semaphore = client.getSemaphore(name);
      // All there are: one that was given back too often, or not at all, shows.
      return (await semaphore.tryAcquire(2)) ? () => semaphore.release(2) : null;
    },
  },
  {
    title: 'getPermitExpirableSemaphore',
    prepare: (client, name) => client.getPermitExpirableSemaphore(name).trySetPermits(2),
    take: async (client, name) => {
      const permits = await client.getPermitExpirableSemaphore(name).tryAcquireMany(2);
      return permits && (() => Promise.all(permits.map((permit) => permit.release())));
    },
  },
];

describeWithProcess('replicas do not acknowledge', () => {
  let set: TestReplicas;
  let replica: TestReplica;

  beforeAll(async () => {
    const binary = inject('serverBinary');
    set = await startReplicas({ replicas: 1, proxied: true, ...(binary !== null && { binary }) });
    replica = set.replicas[0] as TestReplica;
    await whenAcknowledging(set.primary, 1);
  });

  afterAll(() => set.close());

  const client = (options: ClientOptions, way: Way = 'Holdfast.connect') => join(way, set.primary, options);

  /** From now until it is ended, or the test is. */
  async function strike(fault: Fault): Promise<() => Promise<void>> {
    const end = async () => {
      await fault.end(replica);
      await whenAcknowledging(set.primary, 1);
    };
    await fault.begin(replica);
    onTestFinished(end);
    return end;
  }

  describe.each(FAULTS)('$title', (fault) => {
    it.each(WISHES)(
      'replicas: %s: the grant is undone, and the lock can be taken again',
      async (replicas) => {
        const [insisting, other] = [await client({ ...INSISTING, replicas }), await client({ replicas: 0 })];
        const kinds = GRANTABLES.map((kind) => ({ ...kind, name: randomName('acks') }));
        for (const { prepare, name } of kinds) await prepare?.(other, name);
        const healed = await strike(fault);

        const asked = kinds.map(({ take, name }) => timed(() => take(insisting, name)));
        for (const { error, tookMs } of await Promise.all(asked)) {
          expect(error).toMatchObject({ code: 'ERR_REPLICATION', acknowledged: 0, required: 1 });
          expect(tookMs).toBeGreaterThanOrEqual(REPLICA_TIMEOUT_MS - 20);
          expect(tookMs).toBeLessThan(2 * REPLICA_TIMEOUT_MS + SLACK_MS);
        }
        // Who does not insist gets it while the replica is still away, and gives it back.
        for (const { take, name, title, shared = false } of kinds) {
          const release = await eventually(
            async (): Promise<Release | false> => (await take(other, name)) ?? false,
          );
          if (!shared) expect(await take(other, name), `${title}: all of it was taken`).toBeNull();
          await (release as Release)();
        }
        await healed();
        for (const { take, name, title } of kinds) {
          const release = await take(insisting, name);
          expect(release, title).not.toBeNull();
          await release?.();
        }
      },
    );

    it('no trace is left on the primary', async () => {
      const insisting = await client(INSISTING);
      await strike(fault);
      // Permits are given back; of locks nothing is to be left.
      const locks = GRANTABLES.filter(({ prepare }) => prepare === undefined);
      const kinds = locks.map(({ take }) => ({ take, name: randomName('acks') }));
      const outcomes = await Promise.allSettled(kinds.map(({ take, name }) => take(insisting, name)));
      expect(outcomes.map(({ status }) => status)).toEqual(kinds.map(() => 'rejected'));
      await eventually(async () => {
        const keys = [...(await leftovers(set.primary)).keys()].filter((key) => !NOTES.test(key));
        expect(keys.filter((key) => kinds.some(({ name }) => key.includes(name)))).toEqual([]);
      });
    });

    it('renewals of other locks continue', async () => {
      const leaseMs = 1_500;
      const holder = await client({ ...INSISTING, watchdogMs: leaseMs });
      const events = listenTo(holder);
      const locks = Array.from({ length: 20 }, () => holder.getLock(randomName('kept')));
      const holds = await Promise.all(locks.map((lock) => lock.lock()));
      await strike(fault);

      // Waits follow one another on their connection for two leases and more; one renewal behind them would come
      // too late for every lock.
      const until = performance.now() + 2 * leaseMs + REPLICA_TIMEOUT_MS;
      let refused = 0;
      while (performance.now() < until) {
        const asked = Array.from({ length: 50 }, () => holder.getLock(randomName('crowd')).tryLock());
        const outcomes = await Promise.allSettled(asked);
        refused += outcomes.filter(({ status }) => status === 'rejected').length;
      }
      expect(refused).toBeGreaterThanOrEqual(4 * 50);
      for (const hold of holds) hold.assertHeld();
      expect(events.lost).toEqual([]);
      expect(await Promise.all(holds.map((hold) => hold.unlock()))).toEqual(holds.map(() => true));
    });
  });

  it('the replicas cannot be counted: the grant is still undone', async () => {
    const way = await address(set.primary);
    const options = { replicas: 'auto', replicaTimeoutMs: 1_500, commandTimeoutMs: 3_000 } as const;
    const auto = await join('Holdfast.connect', way.proxy, options);
    const [name, permits] = [randomName('acks'), randomName('acks')];
    await auto.getSemaphore(permits).trySetPermits(2);
    await (await auto.getLock(randomName('first')).lock()).unlock();
    await strike(FAULTS[0] as Fault);
    const asked = [auto.getLock(name).tryLock(), auto.getSemaphore(permits).tryAcquire(2)];
    const settled = Promise.allSettled(asked);
    await eventually(async () => {
      expect(await set.primary.command('EXISTS', name)).toBe(1);
      expect(await set.primary.command('GET', permits)).toBe('0');
    });
    // Whoever waits is answered; all other connections break, and there are no new ones.
    way.leadNewTo({ host: set.primary.host, port: await findFreePort() });
    const clients = String(await set.primary.command('CLIENT', 'LIST', 'TYPE', 'normal'));
    for (const [, id = ''] of clients.matchAll(/^id=(\d+) .* name=holdfast:\S+ .* flags=N /gm)) {
      await set.primary.command('CLIENT', 'KILL', 'ID', id);
    }
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    way.leadNewTo(set.primary);
    await eventually(async () => {
      expect(await set.primary.command('EXISTS', name)).toBe(0);
      expect(await set.primary.command('GET', permits)).toBe('2');
    });
  });

  it.each(EACH_WAY)('%s: a thousand at once share few waits', async (way) => {
    const insisting = await client({ ...INSISTING, replicas: 'auto' }, way);
    await (await insisting.getLock(randomName('first')).lock()).unlock();
    await resetCounts(set.primary);
    const holds = await Promise.all(
      Array.from({ length: 1_000 }, () => insisting.getLock(randomName('many')).lock()),
    );
    const waits = (await commandCounts(set.primary)).get('wait') ?? 0;
    expect(waits).toBeGreaterThanOrEqual(1);
    expect(waits).toBeLessThanOrEqual(20);
    // Each of them is on the replica.
    for (const { name } of holds) expect(await replica.server.command('EXISTS', name)).toBe(1);
  });

  it.each(EACH_WAY)('%s: a wait whose answer is lost ends in one hold', async (way) => {
    const proxy = await ownProxy(set.primary);
    const insisting = await join(way, proxy, INSISTING);
    const name = randomName('lost');
    const semaphore = insisting.getSemaphore(randomName('lost'));
    await semaphore.trySetPermits(3);

    let swallowed = proxy.swallowReply(/^WAIT 1/);
    const hold = await insisting.getLock(name).lock();
    await swallowed;
    expect(await set.primary.command('HGETALL', name)).toEqual([hold.owner, '1']);
    expect(await hold.unlock()).toBe(true);
    expect(await set.primary.command('EXISTS', name)).toBe(0);

    swallowed = proxy.swallowReply(/^WAIT 1/);
    await semaphore.acquire(2);
    await swallowed;
    expect(await semaphore.availablePermits()).toBe(1);
    await semaphore.release(2);
    expect(await semaphore.availablePermits()).toBe(3);
  });
});
