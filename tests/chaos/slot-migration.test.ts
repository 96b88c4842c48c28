/**
 * Slots move to another node while locks in them are held and waited for: whole, half-way, to and fro under load.
 *
 * The nodes are shared by all tests here; every test uses slots of its own.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ClientOptions, type Hold, type Holdfast, HoldfastError } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { startCluster, type TestCluster } from '../harness/cluster.ts';
import { infoOf } from '../harness/server-answers.ts';
import { describeWithProcess } from '../harness/servers.ts';
import type { SlotMove } from '../harness/slot-move.ts';
import { eventually } from '../harness/wait.ts';
import { listenTo, past, timed } from './support/arena.ts';
import { nameOn } from './support/cluster-stage.ts';
import { Duel } from './support/duel.ts';
import { EACH_WAY } from './support/each-way.ts';
import { whenHeardAt } from './support/failover-stage.ts';
import { Journal } from './support/journal.ts';
import { joinCluster } from './support/topology-ways.ts';
import { WAYS } from './support/ways.ts';

/** A waiter that no message reaches asks again after four seconds at the earliest, and six at the latest. */
const SOONER_THAN_A_POLL_MS = 2_500;
const LEASE_MS = 1_500;
const OPTIONS: ClientOptions = { replicas: 0, commandTimeoutMs: 2_000 };
const SHORT: ClientOptions = { ...OPTIONS, watchdogMs: LEASE_MS };
const TEST_MS = 60_000;

describeWithProcess('a slot moves to another node', () => {
  let cluster: TestCluster;
  let [here, there]: TestServer[] = [];

  beforeAll(async () => {
    const binary = inject('serverBinary');
    cluster = await startCluster({ primaries: 3, replicasEach: 0, ...(binary !== null && { binary }) });
    [here, there] = cluster.nodes;
  });

  afterAll(() => cluster.close());

  /** The servers, which are there once the tests run. */
  const nodes = () => [here, there] as [TestServer, TestServer];

  describe.each(EACH_WAY)('%s', (way) => {
    it('the hold is renewed there, and a release wakes the waiter there', async () => {
      const [from, to] = nodes();
      const names = [await nameOn(cluster, from), await nameOn(cluster, from)] as [string, string];
      const client = (options: ClientOptions) => joinCluster(way, cluster, options);
      const [keeper, holder, waiter] = [await client(SHORT), await client(OPTIONS), await client(OPTIONS)];
      const events = listenTo(keeper);
      const kept = await keeper.getLock(names[0]).lock();
      // Its lease is so long that nobody looks when it ends.
      const duel = await Duel.begin({ title: way, name: names[1], holder, waiter }, from);
      for (const name of names) await cluster.moveSlot(cluster.slotOf(name), to);
      const movedAt = performance.now();

      await whenHeardAt(to, duel.name);
      expect(duel.hasEntered).toBe(false);
      const releasedAt = performance.now();
      expect(await duel.release()).toBe(true);
      await duel.finish(SOONER_THAN_A_POLL_MS);
      expect(performance.now() - releasedAt).toBeLessThan(SOONER_THAN_A_POLL_MS);
      expect(duel.violations()).toEqual([]);

      await eventually(() => performance.now() > movedAt + LEASE_MS);
      kept.assertHeld();
      expect(await to.command('HGETALL', kept.name)).toEqual([kept.owner, '1']);
      expect(events.lost).toEqual([]);
      expect(await kept.unlock()).toBe(true);
    });

    it('half-way, holds are kept, and every request is answered once in the end', async () => {
      const [from, to] = nodes();
      const name = await nameOn(cluster, from);
      const client = (options: ClientOptions) => joinCluster(way, cluster, options);
      const [holder, other] = [await client(SHORT), await client({ ...OPTIONS, commandTimeoutMs: 10_000 })];
      const duel = await Duel.begin({ title: way, name, holder, waiter: other }, from);
      const semaphore = other.getSemaphore(`{${name}}:permits`);
      await semaphore.trySetPermits(3);
      const move = await cluster.beginMove(cluster.slotOf(name), to);
      await move.migrate(name);

      const acquiring = semaphore.acquire(2);
      // Only renewals that follow the key can have kept it for that long.
      await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
      duel.hold.assertHeld();
      expect(duel.hasEntered).toBe(false);
      await move.finish();
      await acquiring;
      expect(await semaphore.availablePermits()).toBe(1);
      await semaphore.release(2);
      expect(await semaphore.availablePermits()).toBe(3);
      expect(await duel.release()).toBe(true);
      await duel.finish(6_000);
      expect(duel.violations()).toEqual([]);
    });
  });

  describe.each(EACH_WAY)('half-way for longer than a command may take, %s', (way) => {
    // By itself ioredis repeats for two seconds what concerns both nodes, before it says so.
    const commandTimeoutMs = way === 'default ioredis 6' ? 2_600 : 500;
    const options: ClientOptions = { ...SHORT, commandTimeoutMs };

    /** Two clients each hold a lock of one slot; one of these has moved, the other has not. */
    async function halfWay(wish: { leaseMs?: number } = {}, kind: 'getLock' | 'getFairLock' = 'getLock') {
      const [here, to] = nodes();
      const name = await nameOn(cluster, here);
      const client = () => joinCluster(way, cluster, options);
      const holders = [await client(), await client()] as const;
      const events = holders.map(listenTo);
      const holds = [
        await holders[0][kind](name).lock(wish),
        await holders[1][kind](`{${name}}:stays`).lock(wish),
      ] as const;
      const move = await cluster.beginMove(cluster.slotOf(name), to);
      await move.migrate(name);
      return { name, other: await client(), holds, events, move, from: performance.now() };
    }

    it('holders keep their locks, and callers wait without an answer of a server', async () => {
      const { name, other, holds, events, move, from } = await halfWay();
      const names = [...holds.map((hold) => hold.name), `{${name}}:new`];
      const waiting = names.map((each) => timed(other.getLock(each).lock()));
      const settled: unknown[] = [];
      for (const each of waiting) void each.then((how) => settled.push(how));
      await past(from + Math.max(2 * LEASE_MS, 1.5 * commandTimeoutMs));
      expect(settled).toEqual([]);
      expect(events.flatMap(({ lost }) => lost)).toEqual([]);
      for (const hold of holds) hold.assertHeld();

      await move.finish();
      for (const [index, each] of waiting.entries()) {
        const held = holds[index];
        if (held !== undefined) expect(await held.unlock()).toBe(true);
        const { value, error } = await each;
        expect(error).toBeUndefined();
        expect(await (value as Hold).unlock()).toBe(true);
      }
    });

    it('an unlock of one key goes to the node that has the key by then', async () => {
      const { other, holds, move } = await halfWay({ leaseMs: 60_000 });
      for (const hold of holds) expect(await hold.unlock()).toBe(true);
      await move.finish();
      for (const { name } of holds) expect(await other.getLock(name).tryLock()).not.toBeNull();
    });

    it('an unlock of several keys is repeated until the slot has moved, and frees the lock once', async () => {
      // Nothing but the release ends leases as long as these.
      const { other, holds, move, from } = await halfWay({ leaseMs: 60_000 }, 'getFairLock');
      const unlocking = holds.map((hold) => timed(hold.unlock()));
      await past(from + 1.5 * commandTimeoutMs);
      // As after every call that gets no answer in time, its caller is told, and it goes on in the background.
      for (const each of unlocking) expect((await each).error).toBeInstanceOf(HoldfastError);
      await move.finish();
      for (const { name } of holds) {
        const hold = await other.getFairLock(name).lock();
        expect(await hold.unlock()).toBe(true);
      }
    });
  });

  it("half-way between the two keys of a reader, the reader's signal aborts before a writer can get the lock", async () => {
    const [from, to] = nodes();
    const name = await nameOn(cluster, from);
    const [client, other] = [
      await joinCluster('Holdfast.connect', cluster, SHORT),
      await joinCluster('Holdfast.connect', cluster, SHORT),
    ];
    const reading = await client.getReadWriteLock(name).readLock().lock();
    const move = await cluster.beginMove(cluster.slotOf(name), to);
    await move.migrate(name);
    const writing = other.getReadWriteLock(name).writeLock().lock();
    let isWriting = false;
    void writing.then(() => {
      isWriting = true;
    });
    // Its renewals need both keys, and get them nowhere.
    const reason = await new Promise((resolve) => {
      reading.signal.addEventListener('abort', () => resolve(reading.signal.reason));
    });
    expect(reason).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'unreachable' });
    expect(isWriting).toBe(false);
    await move.finish();
    expect(await (await writing).unlock()).toBe(true);
  });

  it(
    'half-way between two locks of one slot, both holds are kept',
    async () => {
      const [from, to] = nodes();
      const leaseMs = 6_000;
      // By itself ioredis repeats what concerns both nodes for two seconds before it says so, which is too long for
      // leases as short as those of tests.
      const ways = WAYS.filter((way) => way !== 'default ioredis 6');
      const stages = await Promise.all(
        ways.map(async (way) => {
          const name = await nameOn(cluster, from);
          const holder = await joinCluster(way, cluster, { ...OPTIONS, watchdogMs: leaseMs });
          const locks = [holder.getLock(`{${name}}:1`), holder.getLock(`{${name}}:2`)];
          const holds = await Promise.all(locks.map((lock) => lock.lock()));
          return { way, name, holds, events: listenTo(holder) };
        }),
      );
      const moves: SlotMove[] = [];
      for (const { name } of stages) {
        const move = await cluster.beginMove(cluster.slotOf(name), to);
        await move.migrate(`{${name}}:1`);
        moves.push(move);
      }
      await new Promise((resolve) => setTimeout(resolve, 1.5 * leaseMs));
      const lost = stages.flatMap(({ way, events }) => events.lost.map(({ reason }) => `${way}: ${reason}`));
      for (const move of moves) await move.finish();
      expect(lost).toEqual([]);
      for (const { holds } of stages) {
        expect(await Promise.all(holds.map((hold) => hold.unlock()))).toEqual([true, true]);
      }
    },
    TEST_MS,
  );

  it(
    'back and forth under load: no lock is granted twice, and no permit is lost',
    async () => {
      const [from, to] = nodes();
      const name = await nameOn(cluster, from);
      // No hold is to be lost here, however busy the machine is.
      const options = { ...OPTIONS, watchdogMs: 10_000, commandTimeoutMs: 10_000 };
      const clients = await Promise.all(
        WAYS.flatMap((way) => [way, way]).map((way) => joinCluster(way, cluster, options)),
      );
      const [first] = clients as [Holdfast];
      const semaphoreName = `{${name}}:permits`;
      await first.getSemaphore(semaphoreName).trySetPermits(3);
      const journal = new Journal();
      const recorder = journal.recorder();
      let isOver = false;
      let rounds = 0;
      const work = async (client: Holdfast, worker: number) => {
        const [lock, semaphore] = [client.getLock(name), client.getSemaphore(semaphoreName)];
        while (!isOver) {
          const request = { worker: `${worker}`, key: name, kind: 'lock' } as const;
          const held = await recorder.acquire(request, () => lock.lock());
          await semaphore.acquire(2);
          await semaphore.release(2);
          const released = await held?.release(() => held.hold.unlock());
          expect(released).toBe(true);
          rounds += 1;
        }
      };
      const working = Promise.all(clients.map(work));
      for (const [index, target] of [to, from, to, from, to].entries()) {
        const before = rounds;
        await cluster.moveSlot(cluster.slotOf(name), target);
        await eventually(() => expect(rounds, `move ${index}`).toBeGreaterThan(before + 10), {
          withinMs: 20_000,
        });
      }
      isOver = true;
      await working;
      expect(journal.violations()).toEqual([]);
      expect(await first.getSemaphore(semaphoreName).availablePermits()).toBe(3);
    },
    TEST_MS,
  );

  describe('with the guard', () => {
    const guarded = (graceMs: number): ClientOptions => ({ ...SHORT, guard: { graceMs } });

    it.each(EACH_WAY)('%s: a node that was never promoted grants every owner', async (way) => {
      const [from, to] = nodes();
      const graceMs = 2_000;
      // A server tells its age in whole seconds, rounded either way.
      for (const node of [from, to]) {
        await eventually(async () => {
          expect(Number((await infoOf(node, 'server'))?.get('uptime_in_seconds'))).toBeGreaterThan(4);
        });
      }
      const [name, held] = [await nameOn(cluster, from), await nameOn(cluster, from)];
      const holder = await joinCluster(way, cluster, guarded(graceMs));
      const events = listenTo(holder);
      const hold = await holder.getLock(held).tryLock();
      await (await holder.getLock(name).tryLock())?.unlock();
      for (const slot of new Set([name, held].map((one) => cluster.slotOf(one))))
        await cluster.moveSlot(slot, to);

      const stranger = await joinCluster(way, cluster, guarded(graceMs));
      const { value } = await timed(stranger.getLock(name).tryLock());
      expect(value).not.toBeNull();
      await new Promise((resolve) => setTimeout(resolve, graceMs));
      expect(events.lost).toEqual([]);
      expect(await hold?.unlock()).toBe(true);
    });

    it('a node younger than the grace grants no new owner', async () => {
      const [from, to] = nodes();
      const name = await nameOn(cluster, from);
      await cluster.moveSlot(cluster.slotOf(name), to);
      const stranger = await joinCluster('Holdfast.connect', cluster, guarded(120_000));
      expect(await stranger.getLock(name).tryLock()).toBeNull();
    });
  });
});
