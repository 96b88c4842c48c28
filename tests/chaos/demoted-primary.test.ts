/**
 * A primary is demoted while clients are connected to it, and their address leads to the new one from then on: what
 * was refused is done there, once.
 *
 * Nothing is lost on the way: the old primary stands still until the new one has everything.
 */
import { describe, expect, it } from 'vitest';
import {
  type ClientOptions,
  type FencedHold,
  type Hold,
  type Holdfast,
  HoldfastError,
} from '../../src/index.ts';
import { inspectPrimary } from '../../src/scripts/generated.ts';
import type { RecordedHold, TestServer } from '../../src/testing/index.ts';
import { commandCounts, resetCounts } from '../behaviour/support/server-stats.ts';
import type { Address } from '../harness/address.ts';
import { randomName } from '../harness/names.ts';
import type { TestReplicas } from '../harness/replicas.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { ownReplicas } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { join, listenTo, timed } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { address, GRACE_MS, settle, take } from './support/failover-stage.ts';
import { Journal } from './support/journal.ts';
import { WAYS, type Way } from './support/ways.ts';

const OPTIONS: ClientOptions = { watchdogMs: GRACE_MS, commandTimeoutMs: 3_000, replicas: 0 };
const PERMITS = 5;
const TEST_MS = 60_000;

class Office {
  readonly address: Address;
  readonly #set: TestReplicas;
  #holder: TestServer;

  constructor(set: TestReplicas, way: Address) {
    this.#set = set;
    this.address = way;
    this.#holder = set.primary;
  }

  static async open(): Promise<Office> {
    const set = await ownReplicas({ replicas: 1, proxied: true });
    await whenAcknowledging(set.primary, 1);
    return new Office(set, await address(set.primary));
  }

  client(way: Way, options: ClientOptions = OPTIONS): Promise<Holdfast> {
    return join(way, this.address.proxy, options);
  }

  get primary(): TestServer {
    return this.#holder;
  }

  get successor(): TestServer {
    return this.#set.replicas[0]?.server as TestServer;
  }

  /** What is written from here on reaches nobody. */
  cutReplication(): void {
    this.#set.replicas[0]?.link.blackhole();
  }

  /** The replica is promoted, the primary follows it, or whom it is told to. */
  async handOver(leader: { host: string; port: number } = this.successor): Promise<void> {
    const { primary, successor } = this;
    await successor.command('REPLICAOF', 'NO', 'ONE');
    this.address.leadNewTo(successor);
    await primary.command('REPLICAOF', leader.host, leader.port);
    this.#holder = successor;
  }

  /** The same, and nothing that was granted is lost. */
  async handOverInOrder(): Promise<void> {
    const { primary } = this;
    await primary.command('CLIENT', 'PAUSE', 20_000, 'WRITE');
    await this.#set.whenInSync();
    await this.handOver();
    await primary.command('CLIENT', 'UNPAUSE');
  }
}

/** Workers that take a lock with tokens and two permits, again and again, until they are told to stop. */
function load(clients: readonly Holdfast[], name: string) {
  const journal = new Journal();
  const tokens: number[] = [];
  const recorder = journal.recorder();
  let isOver = false;
  const work = async (client: Holdfast, worker: number) => {
    const [lock, semaphore] = [client.getFencedLock(name), client.getSemaphore(`${name}:permits`)];
    while (!isOver) {
      const request = { worker: `${worker}`, key: name, kind: 'fenced' } as const;
      const held = (await recorder.acquire(request, () => lock.lock())) as RecordedHold<FencedHold>;
      tokens.push(held.hold.token);
      await semaphore.acquire(2);
      await semaphore.release(2);
      const released = await held.release(() => held.hold.unlock());
      expect(released).toBe(true);
    }
  };
  const working = Promise.all(clients.map(work));
  return {
    tokens,
    async stop() {
      isOver = true;
      await working;
      return { violations: journal.violations(), tokens };
    },
  };
}

describeWithProcess('a primary is demoted under its clients', () => {
  /** The default settings of the libraries keep a connection to a server that refuses every write. */
  const CASES: [Way, boolean][] = [
    ...WAYS.map((way): [Way, boolean] => [way, true]),
    ['Holdfast.connect', false],
  ];

  describe.each(CASES)('%s, connections dropped: %s', (way, dropped) => {
    async function demote(office: Office): Promise<void> {
      await office.handOverInOrder();
      if (dropped) office.address.proxy.dropConnections();
    }

    it(
      'holds are kept, with their counts, tokens and permits',
      async () => {
        const office = await Office.open();
        const client = await office.client(way);
        const events = listenTo(client);
        const owner = client.owner();
        const fenced = client.getFencedLock(randomName('demoted'));
        const first = await fenced.lock({ owner });
        await fenced.lock({ owner });
        const semaphore = client.getSemaphore(randomName('demoted'));
        await semaphore.trySetPermits(PERMITS);
        await semaphore.acquire(2);
        const expiring = client.getPermitExpirableSemaphore(randomName('demoted'));
        await expiring.trySetPermits(PERMITS);
        const permit = await expiring.acquire();
        await demote(office);

        expect((await fenced.lock({ owner })).token).toBe(first.token);
        expect(await office.primary.command('HGETALL', fenced.name)).toEqual([first.owner, '3']);
        for (let count = 3; count > 0; count -= 1) await fenced.unlock({ owner });
        expect(await fenced.isLocked()).toBe(false);
        expect(((await take(fenced)) as typeof first).token).toBeGreaterThan(first.token);
        await semaphore.release(2);
        expect(await semaphore.availablePermits()).toBe(PERMITS);
        expect(await permit.release()).toBe(true);
        expect(await expiring.availablePermits()).toBe(PERMITS);
        expect(events.lost).toEqual([]);
      },
      TEST_MS,
    );

    it(
      'under load: no lock is granted twice, tokens rise, permits are conserved',
      async () => {
        const office = await Office.open();
        const clients = await Promise.all(Array.from({ length: 4 }, () => office.client(way)));
        const name = randomName('demoted');
        const semaphore = clients[0]?.getSemaphore(`${name}:permits`);
        await semaphore?.trySetPermits(PERMITS);
        const busy = load(clients, name);
        await eventually(() => busy.tokens.length > 10);
        await demote(office);
        const before = busy.tokens.length;
        await eventually(() => busy.tokens.length > before + 10, { withinMs: 15_000 });
        const { violations, tokens } = await busy.stop();
        expect(violations).toEqual([]);
        expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
        expect(await semaphore?.availablePermits()).toBe(PERMITS);
      },
      TEST_MS,
    );

    it(
      'with the guard, holds are kept, and no other owner gets a lock before its release',
      async () => {
        const office = await Office.open();
        await settle(office.primary);
        const options = { ...OPTIONS, guard: { graceMs: GRACE_MS } };
        const [client, other] = [await office.client(way, options), await office.client(way, options)];
        const events = listenTo(client);
        const hold = await client.getFencedLock(randomName('demoted')).lock();
        await demote(office);
        // The new primary may have forgotten that somebody has this one.
        expect(await other.getLock(randomName('demoted')).tryLock()).toBeNull();
        const entering = timed(other.getFencedLock(hold.name).lock());
        // Longer than the lease: it is renewed by the new primary.
        const leaseOver = new Promise((resolve) => setTimeout(resolve, 2 * GRACE_MS));
        expect(await Promise.race([entering, leaseOver])).toBeUndefined();
        hold.assertHeld();
        expect(events.lost).toEqual([]);
        expect(await office.primary.command('HGETALL', hold.name)).toEqual([hold.owner, '1']);
        expect(await hold.unlock()).toBe(true);
        const second = (await entering).value as typeof hold;
        expect(second.token).toBeGreaterThan(hold.token);
        expect(await second.unlock()).toBe(true);
      },
      TEST_MS,
    );

    it(
      'the client asks the new primary for acknowledgements',
      async () => {
        const office = await Office.open();
        const client = await office.client(way, { ...OPTIONS, replicas: 1 });
        await (await client.getLock(randomName('demoted')).lock()).unlock();
        await demote(office);
        await whenAcknowledging(office.primary, 1);
        await resetCounts(office.primary);
        const hold = await client.getLock(randomName('demoted')).lock();
        expect(await office.primary.command('HGETALL', hold.name)).toEqual([hold.owner, '1']);
        expect((await commandCounts(office.primary)).get('wait')).toBeGreaterThan(0);
        expect(await hold.unlock()).toBe(true);
      },
      TEST_MS,
    );
  });

  it.each(EACH_WAY)(
    'auto, %s: during a wait for replicas: a lock without an acknowledgement is not granted, and later grants ask replicas too',
    async (way) => {
      const office = await Office.open();
      const client = await office.client(way, { ...OPTIONS, replicas: 'auto' });
      const events = listenTo(client);
      await (await client.getLock(randomName('demoted')).lock()).unlock();
      office.cutReplication();
      const { primary } = office;
      const name = randomName('demoted');
      const acquiring = client.getLock(name).lock();
      await eventually(async () => expect(await primary.command('EXISTS', name)).toBe(1));
      const before = office.address.proxy.connections;
      await office.handOver();
      // A server that is demoted tells those who wait so, and closes their connection.
      await eventually(() => office.address.proxy.connections < before);
      office.address.proxy.dropConnections();

      const hold = await acquiring;
      expect(await office.primary.command('HGETALL', name)).toEqual([hold.owner, '1']);
      expect(events.warning.map(({ code }) => code)).not.toContain('HOLDFAST_NO_REPLICAS');
      await whenAcknowledging(office.primary, 1);
      await resetCounts(office.primary);
      await eventually(
        async () => {
          await (await client.getLock(randomName('demoted')).lock()).unlock();
          expect((await commandCounts(office.primary)).get('wait')).toBeGreaterThan(0);
        },
        { withinMs: 15_000 },
      );
    },
    TEST_MS,
  );

  it.each(EACH_WAY)(
    "%s: after replicas did not answer: the demoted primary's count of zero does not matter",
    async (way) => {
      // By themselves the libraries stay with the old primary, and in vain.
      const follows = way === 'Holdfast.connect';
      const office = await Office.open();
      const times = { replicaTimeoutMs: 300, commandTimeoutMs: follows ? 15_000 : 1_500 };
      const client = await office.client(way, { ...OPTIONS, ...times, replicas: 'auto' });
      await (await client.getLock(randomName('demoted')).lock()).unlock();
      office.cutReplication();
      const name = randomName('demoted');
      const { primary } = office;
      const asked = office.address.proxy.holdRequest(inspectPrimary.sha1);
      const acquiring = timed(client.getLock(name).lock());
      await asked.held;
      // The demoted primary finds no leader, so the new one has no replica that could be late with its word.
      await office.handOver({ host: '127.0.0.1', port: 1 });
      await primary.command('CLIENT', 'KILL', 'TYPE', 'replica');
      await eventually(async () => {
        expect(String(await primary.command('INFO', 'replication'))).toContain('connected_slaves:0');
      });
      asked.release();

      const { error, value } = await acquiring;
      if (!follows) return expect(error).toBeInstanceOf(HoldfastError);
      expect(error).toBeUndefined();
      expect(await office.primary.command('HGETALL', name)).toEqual([(value as Hold).owner, '1']);
    },
    TEST_MS,
  );
});
