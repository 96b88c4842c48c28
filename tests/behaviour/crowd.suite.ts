/** What locks cost: a thousand waiters as much as one, and a hold two calls. On servers of the tests' own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { subscribersOf, untilWaiting } from './support/by-hand.ts';
import { type Context, describeThrough, onOneServer } from './support/context.ts';
import { KINDS, type Kind, REENTRANT, SIMPLE, SPINNING_KINDS } from './support/kinds.ts';
import { processWarnings, timed } from './support/moments.ts';
import { commandCounts, resetCounts, totalCommands } from './support/server-stats.ts';

const CROWD = 1_000;

function describeCrowd(context: Context): void {
  onOneServer(context, describeWithProcess)('a thousand waiters in one process, on its server', () => {
    it.each([REENTRANT, SIMPLE].map((kind): [string, Kind] => [kind.title, kind]))(
      'cost one subscription and very few commands, and are served in order: %s',
      async (_title, kind) => {
        const server = await ownServer();
        const raw = await openRaw(server.host, server.port);
        const [ours, theirs] = [await context.client({}, server), await context.client({}, server)];
        const name = randomName();
        const hold = await kind.of(ours, name).lock();
        const served: number[] = [];
        const lock = kind.of(theirs, name);
        const waiters = Array.from({ length: CROWD }, async (_, place) => {
          await using _hold = await lock.lock();
          served.push(place);
        });
        await untilWaiting(raw, kind, name);
        await resetCounts(server);
        const { result: commands, tookMs } = await timed(async () => {
          await sleep(2_000);
          return totalCommands(server);
        });
        // Those that scripts make inside the server are counted too.
        expect(commands).toBeLessThan((20 * tookMs) / 1_000);
        expect(await subscribersOf(raw, name)).toBe(1);
        const channels = await raw.command('PUBSUB', 'CHANNELS');
        expect(channels).toHaveLength(1);
        await hold.unlock();
        await Promise.all(waiters);
        expect(served).toEqual(Array.from({ length: CROWD }, (_, place) => place));
        await eventually(async () => (await subscribersOf(raw, name)) === 0);
      },
    );

    it.each(SPINNING_KINDS.map((kind): [string, Kind] => [kind.title, kind]))(
      'spin with as many attempts as one waiter: %s',
      async (_title, kind) => {
        const server = await ownServer();
        const [ours, theirs] = [await context.client({}, server), await context.client({}, server)];
        const name = randomName();
        const hold = await kind.of(ours, name).lock();
        const lock = kind.of(theirs, name);
        let served = 0;
        const waiters = Array.from({ length: CROWD }, async () => {
          await using _hold = await lock.lock();
          served += 1;
        });
        await resetCounts(server);
        const { result: tries, tookMs } = await timed(async () => {
          await sleep(1_000);
          return (await commandCounts(server)).get('evalsha');
        });
        // The constant pause of these tests is 20 ms, the first exponential ones are shorter.
        expect(tries).toBeLessThan(10 + tookMs / 20);
        await hold.unlock();
        await Promise.all(waiters);
        expect(served).toBe(CROWD);
      },
    );
  });

  describe('a thousand waiters in one process', () => {
    it('continue in order when every second waiter aborts', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const lock = theirs.getLock(randomName());
      const hold = await ours.getLock(lock.name).lock();
      const served: number[] = [];
      const controller = new AbortController();
      const warnings = processWarnings();
      const waiters = Array.from({ length: CROWD }, async (_, place) => {
        await using _hold = await lock.lock(place % 2 === 0 ? { signal: controller.signal } : {});
        served.push(place);
      });
      const outcomes = Promise.allSettled(waiters);
      const reason = new Error('every second one');
      controller.abort(reason);
      await hold.unlock();
      const rejected = (await outcomes).filter((outcome) => outcome.status === 'rejected');
      expect(rejected).toHaveLength(CROWD / 2);
      for (const outcome of rejected) expect(outcome.reason).toBe(reason);
      expect(served).toEqual(Array.from({ length: CROWD / 2 }, (_, place) => place * 2 + 1));
      expect(warnings).toEqual([]);
    });

    it('can share one signal without a listener warning or a leak', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const lock = client.getLock(randomName());
      const hold = await lock.lock();
      const controller = new AbortController();
      const warnings = processWarnings();
      const waiters = Array.from({ length: CROWD }, () => lock.lock({ signal: controller.signal }));
      const outcomes = Promise.allSettled(waiters);
      await untilWaiting(raw, REENTRANT, lock.name);
      controller.abort();
      for (const outcome of await outcomes) {
        expect(outcome).toEqual({ status: 'rejected', reason: controller.signal.reason });
      }
      await eventually(async () => (await subscribersOf(raw, lock.name)) === 0);
      await hold.unlock();
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
      expect(warnings).toEqual([]);
    });
  });

  onOneServer(context, describeWithProcess)('the cost of a hold', () => {
    it.each(KINDS.map((kind): [string, Kind] => [kind.title, kind]))(
      'is exactly two script calls for an uncontended cycle: %s',
      async (_title, kind) => {
        const server = await ownServer();
        const client = await context.client({}, server);
        const name = randomName();
        const cycle = async () => (await kind.of(client, name).lock()).unlock();
        await client.capabilities();
        await cycle();
        await resetCounts(server);
        for (let round = 0; round < 50; round += 1) await cycle();
        for (let round = 0; round < 50; round += 1) await kind.of(client, name).withLock(() => round);
        const counts = await commandCounts(server);
        expect(counts.get('evalsha')).toBe(2 * 100);
        // What is left are the commands that the scripts call inside the server.
        for (const [command, calls] of counts) {
          expect(calls % 100, `${command} in every cycle alike`).toBe(0);
          expect(['eval', 'script', 'ping', 'subscribe', 'info', 'client'], command).not.toContain(command);
        }
      },
    );

    it('is shared by the renewals of many holds', async () => {
      const server = await ownServer();
      const client = await context.client({ watchdogMs: 4_500 }, server);
      const holds = await Promise.all(
        Array.from({ length: 250 }, () => client.getLock(randomName()).lock({ leaseMs: undefined })),
      );
      const renewals = async () => {
        const counts = await commandCounts(server);
        return { calls: counts.get('evalsha') ?? 0, renewed: counts.get('pexpire') ?? 0 };
      };
      await resetCounts(server);
      await eventually(async () => (await renewals()).renewed >= 250, { withinMs: 15_000 });
      const { calls, renewed } = await renewals();
      // At most a hundred locks in one call; the first and the last batch may be small.
      expect(calls).toBeLessThanOrEqual(Math.ceil(renewed / 100) + 6);
      for (const hold of holds) hold.assertHeld();
    });
  });

  onOneServer(context, describeWithProcess)('a subscription', () => {
    it('is one subscription for each lock, however many waiters there are', async () => {
      const server = await ownServer();
      const raw = await openRaw(server.host, server.port);
      const [ours, theirs] = [await context.client({}, server), await context.client({}, server)];
      const names = [randomName(), randomName(), randomName()];
      const holds = await Promise.all(names.map((name) => ours.getLock(name).lock()));
      const waiters = names.flatMap((name) => [1, 2, 3].map(() => theirs.getLock(name).lock()));
      for (const name of names) await untilWaiting(raw, REENTRANT, name);
      const connections = String(await raw.command('CLIENT', 'LIST', 'TYPE', 'PUBSUB'));
      expect([...connections.matchAll(/ sub=(\d+) /g)].map(([, count]) => count)).toEqual(['3']);
      await Promise.all(holds.map((hold) => hold.unlock()));
      await Promise.all(waiters.map(async (waiter) => (await waiter).unlock()));
    });
  });
}

describeThrough('costs', describeCrowd);
