/**
 * The semaphore under faults: permits are conserved, whatever is lost on the way, and nobody who waits is forgotten.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { HoldfastError, OutcomeUnknownError, type Semaphore } from '../../src/index.ts';
import { semaphoreChannel } from '../../src/keys.ts';
import * as scripts from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import {
  join,
  LATEST_POLL_MS,
  listenTo,
  past,
  SLACK_MS,
  SOONEST_POLL_MS,
  seen,
  subscribersOf,
  timed,
} from './support/arena.ts';
import {
  arrivesUndone,
  COMMAND_TIMEOUT_MS,
  type CounterStage,
  counterStage,
  failedInTime,
  givenUp,
  undone,
  unheard,
  workThroughBreaks,
} from './support/counter-stage.ts';
import { EACH_WAY } from './support/each-way.ts';
import { runs } from './support/requests.ts';
import type { Way } from './support/ways.ts';

const CHILD = fileURLToPath(new URL('./children/semaphore-user.ts', import.meta.url));

const ACQUIRE = runs(scripts.semaphoreAcquire);
const RELEASE = runs(scripts.semaphoreRelease);
const RELEASE_IF_EXISTS = runs(scripts.semaphoreReleaseIfExists);

interface Stage extends CounterStage {
  readonly semaphore: Semaphore;
}

/** A semaphore with so many permits, reached through the proxy. */
async function stage(way: Way, permits: number, commandTimeoutMs = 3_000): Promise<Stage> {
  const place = await counterStage(way, (name) => ['SET', name, permits], { commandTimeoutMs });
  return { ...place, semaphore: place.client.getSemaphore(place.name) };
}

async function freeOn(server: TestServer, name: string): Promise<number> {
  return Number(await server.command('GET', name));
}

const UNDONE = 'undone';

describeWithProcess('semaphore: the reply is lost after execution', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('of acquire() and release(): each counts once', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 5);
      const taken = proxy.swallowReply(ACQUIRE);
      await semaphore.acquire(2);
      await taken;
      expect(await freeOn(server, name)).toBe(3);
      const tried = proxy.swallowReply(ACQUIRE);
      expect(await semaphore.tryAcquire(3)).toBe(true);
      await tried;
      expect(await freeOn(server, name)).toBe(0);

      const released = proxy.swallowReply(RELEASE);
      await semaphore.release(2);
      await released;
      expect(await freeOn(server, name)).toBe(2);
      const returned = proxy.swallowReply(RELEASE_IF_EXISTS);
      expect(await semaphore.releaseIfExists(3)).toBe(true);
      await returned;
      expect(await freeOn(server, name)).toBe(5);
    });

    it('of setting, adding and draining: each counts once and gets its first answer', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 5);
      await server.command('DEL', name);
      const set = proxy.swallowReply(runs(scripts.semaphoreTrySetPermits));
      expect(await semaphore.trySetPermits(4, { ttlMs: 60_000 })).toBe(true);
      await set;
      const added = proxy.swallowReply(runs(scripts.semaphoreAddPermits));
      await semaphore.addPermits(3);
      await added;
      expect(await freeOn(server, name)).toBe(7);
      const drained = proxy.swallowReply(runs(scripts.semaphoreDrainPermits));
      expect(await semaphore.drainPermits()).toBe(7);
      await drained;
      expect(await freeOn(server, name)).toBe(0);
      expect(await server.command('PTTL', name)).toBeGreaterThan(30_000);
    });

    it('of creating it: it is created once, and what is taken counts', async () => {
      const { server, proxy, name, client } = await stage(way, 5);
      await server.command('DEL', name);
      const semaphore = client.getSemaphore(name, { permits: 4 });
      const swallowed = [
        proxy.swallowReply(ACQUIRE),
        proxy.swallowReply(runs(scripts.semaphoreTrySetPermits)),
      ];
      expect(await semaphore.tryAcquire(3)).toBe(true);
      await Promise.all(swallowed);
      expect(await freeOn(server, name)).toBe(1);
      // It is gone, and the repeat of the attempt that found it gone is lost too.
      await server.command('DEL', name);
      const again = proxy.swallowReply(ACQUIRE, { count: 2 });
      expect(await semaphore.tryAcquire()).toBe(true);
      await again;
      expect(await freeOn(server, name)).toBe(3);
      const released = proxy.swallowReply(RELEASE_IF_EXISTS);
      await semaphore.release();
      await released;
      expect(await freeOn(server, name)).toBe(4);
    });

    it('of creating it, and the caller gives up: it is there, and nothing is taken', async () => {
      const { server, proxy, name, client } = await stage(way, 5);
      await server.command('DEL', name);
      const semaphore = client.getSemaphore(name, { permits: 4 });
      await givenUp(proxy, runs(scripts.semaphoreTrySetPermits), (signal) =>
        semaphore.acquire(3, { signal }),
      );
      await proxy.heal();
      await undone(server, name, UNDONE);
      expect(await freeOn(server, name)).toBe(4);
    });

    it('of withPermit: its permits are returned once', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 2);
      const swallowed = [proxy.swallowReply(ACQUIRE), proxy.swallowReply(RELEASE_IF_EXISTS)];
      const inside = await semaphore.withPermit(() => freeOn(server, name));
      await Promise.all(swallowed);
      expect(inside).toBe(1);
      expect(await freeOn(server, name)).toBe(2);
    });

    it('and the caller gives up: the taken permits are returned once', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 5);
      await givenUp(
        proxy,
        ACQUIRE,
        (signal) => semaphore.acquire(3, { signal }),
        async () => expect(await freeOn(server, name)).toBe(2),
      );
      await proxy.heal();
      await undone(server, name, UNDONE);
      expect(await freeOn(server, name)).toBe(5);
    });

    it('and the caller gives up: an attempt that took nothing returns nothing', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 2);
      await givenUp(proxy, ACQUIRE, (signal) => semaphore.acquire(3, { signal }));
      await proxy.heal();
      await undone(server, name, UNDONE);
      expect(await freeOn(server, name)).toBe(2);
    });

    it('and an outage follows that is longer than the usual memory of answers', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 0, 200);
      const waiting = semaphore.acquire();
      await eventually(async () => (await subscribersOf(server, semaphoreChannel(name))) === 1);
      const swallowed = proxy.swallowReply(ACQUIRE, { after: 'silence' });
      await server.command('INCRBY', name, 3);
      await server.command('PUBLISH', semaphoreChannel(name), '3');
      await swallowed;
      await proxy.refuse();
      await past(performance.now() + 1_200);
      await proxy.heal();
      await waiting;
      expect(await freeOn(server, name)).toBe(2);
    });
  });
});

describeWithProcess('semaphore: an attempt reported as failed executes later', () => {
  it.each(EACH_WAY)('takes nothing after it was undone, with %s', async (way) => {
    const place = await stage(way, 5, COMMAND_TIMEOUT_MS);
    const { server, name, semaphore } = place;
    await arrivesUndone(
      place,
      ACQUIRE,
      () => semaphore.tryAcquire(3),
      () => undone(server, name, UNDONE),
    );
    expect(await freeOn(server, name)).toBe(5);
  });
});

describeWithProcess('semaphore: no answer to a release', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('that ran: the outcome is unknown to the caller, and the repeat adds nothing', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 1, COMMAND_TIMEOUT_MS);
      const swallowed = proxy.swallowReply(RELEASE, { after: 'silence' });
      const released = await timed(semaphore.release(2));
      await swallowed;
      expect(released.error).toBeInstanceOf(OutcomeUnknownError);
      expect(released.tookMs).toBeLessThan(COMMAND_TIMEOUT_MS + SLACK_MS);
      const repeated = seen(proxy, RELEASE);
      await proxy.heal();
      await repeated;
      // Answered behind the repeat, on the same connection.
      expect(await eventually(() => semaphore.availablePermits())).toBe(3);
      expect(await freeOn(server, name)).toBe(3);
    });

    it('that has not run: the release runs when the server is back', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 1, COMMAND_TIMEOUT_MS);
      await semaphore.availablePermits();
      proxy.blackhole();
      expect((await timed(semaphore.release(2))).error).toBeInstanceOf(OutcomeUnknownError);
      expect(await freeOn(server, name)).toBe(1);
      await proxy.heal();
      await eventually(async () => (await freeOn(server, name)) === 3);
    });

    it('whose user loses permission meanwhile: the permits are returned when the user has it again', async () => {
      const { server, proxy, name, client, semaphore } = await stage(way, 5, COMMAND_TIMEOUT_MS);
      const { error: errors } = listenTo(client);
      await semaphore.acquire(2);
      proxy.blackhole();
      expect((await timed(semaphore.release(2))).error).toBeInstanceOf(OutcomeUnknownError);
      await server.command('ACL', 'SETUSER', 'default', 'resetkeys');
      await proxy.heal();
      await eventually(() => errors.some(({ during }) => during === `release "${name}"`));
      await server.command('ACL', 'SETUSER', 'default', '~*');
      await eventually(async () => (await freeOn(server, name)) === 5);
      expect(errors).toHaveLength(1);
    });

    it('of withPermit, whose user loses permission: the permit is returned when the user has it again', async () => {
      const { server, name, client, semaphore } = await stage(way, 5, COMMAND_TIMEOUT_MS);
      const { error: errors } = listenTo(client);
      await semaphore.withPermit(() => server.command('ACL', 'SETUSER', 'default', 'resetkeys'));
      expect(errors.map(({ during }) => during)).toContain(`release "${name}"`);
      await server.command('ACL', 'SETUSER', 'default', '~*');
      await eventually(async () => (await freeOn(server, name)) === 5);
    });

    it('of withPermit: the result is returned, the failure is reported, and the permit is returned later', async () => {
      const { server, proxy, name, client, semaphore } = await stage(way, 2, COMMAND_TIMEOUT_MS);
      const { error } = listenTo(client);
      const result = await semaphore.withPermit(async () => {
        await proxy.refuse();
        return 'done';
      });
      expect(result).toBe('done');
      expect(error.map(({ during }) => during)).toContain(`release "${name}"`);
      expect(await freeOn(server, name)).toBe(1);
      await proxy.heal();
      await eventually(async () => (await freeOn(server, name)) === 2);
    });
  });
});

describeWithProcess('semaphore: a server that never answers', () => {
  it.each(EACH_WAY)(
    'fails a call without a limit by its own deadline, one with a limit soon after that, with %s',
    async (way) => {
      const { server, proxy, name, semaphore } = await stage(way, 5, COMMAND_TIMEOUT_MS);
      await semaphore.availablePermits();
      proxy.blackhole();
      for (const { error } of await failedInTime(semaphore)) expect(error).toBeInstanceOf(HoldfastError);
      await proxy.heal();
      await undone(server, name, UNDONE);
      expect(await freeOn(server, name)).toBe(5);
    },
  );
});

describeWithProcess('semaphore: every waiter is served', () => {
  it('permits without a message are found at the poll, by small and large requests', async () => {
    const { server, name, client } = await stage('Holdfast.connect', 0);
    const semaphore = client.getSemaphore(name);
    const waiting = [timed(semaphore.acquire()), timed(semaphore.acquire()), timed(semaphore.acquire(2))];
    await eventually(async () => (await subscribersOf(server, semaphoreChannel(name))) === 1);
    // Each has asked beside the line, and both heads have asked behind the subscription.
    await eventually(async () => {
      const keys = (await server.command('KEYS', `redisson_unlock_latch:{${name}}:*`)) as string[];
      return keys.length === 5;
    });
    await server.command('INCRBY', name, 4);
    for (const { tookMs, error } of await Promise.all(waiting)) {
      expect(error).toBeUndefined();
      expect(tookMs).toBeGreaterThan(SOONEST_POLL_MS - 100);
      expect(tookMs).toBeLessThan(LATEST_POLL_MS + SLACK_MS);
    }
    expect(await freeOn(server, name)).toBe(0);
  });

  it('a release during a broken subscription is found after the re-subscription', async () => {
    const place = await stage('Holdfast.connect', 0);
    const { server, name, semaphore } = place;
    const waiting = timed(semaphore.acquire());
    await eventually(async () => (await subscribersOf(server, semaphoreChannel(name))) === 1);
    await unheard(place, (other) => other.getSemaphore(name).release());
    const { tookMs, error } = await waiting;
    expect(error).toBeUndefined();
    expect(tookMs).toBeLessThan(SOONEST_POLL_MS);
  });

  it('SIGKILL of a waiter: the permits go to the next waiter', async () => {
    const { server, name, client } = await stage('Holdfast.connect', 0);
    const child = spawnChild(CHILD, { args: [server.url, name] });
    await eventually(async () => (await subscribersOf(server, semaphoreChannel(name))) === 1, {
      withinMs: 15_000,
    });
    child.kill('SIGKILL');
    await child.exited;
    const semaphore = client.getSemaphore(name);
    await semaphore.release();
    expect(await semaphore.tryAcquire()).toBe(true);
  });

  it('SIGKILL of a holder: its permits stay taken, because they have no lease', async () => {
    const { server, name } = await stage('Holdfast.connect', 3);
    const child = spawnChild(CHILD, { args: [server.url, name] });
    await child.next(({ state }) => state === 'inside');
    child.kill('SIGKILL');
    await child.exited;
    expect(await freeOn(server, name)).toBe(2);
  });

  it('SIGTERM of a process: the permits of withPermit are returned', async () => {
    const { server, name } = await stage('Holdfast.connect', 3);
    const child = spawnChild(CHILD, { args: [server.url, name, 'closeOnSignals'] });
    await child.next(({ state }) => state === 'inside');
    child.kill('SIGTERM');
    await child.exited;
    expect(await freeOn(server, name)).toBe(3);
  });
});

describeWithProcess('semaphore: connections break again and again', () => {
  it.each(EACH_WAY)('and permits are conserved, with %s', async (way) => {
    const { server, proxy, name } = await stage(way, 4, 1_000);
    const clients = [
      await join(way, proxy, { commandTimeoutMs: 1_000 }),
      await join(way, proxy, { commandTimeoutMs: 1_000 }),
    ];
    let [inside, most, done] = [0, 0, 0];
    const work = async (count: number) => {
      inside += count;
      most = Math.max(most, inside);
      await new Promise(setImmediate);
      inside -= count;
      done += 1;
    };
    await workThroughBreaks(proxy, clients, 8, async (client, i) => {
      const count = 1 + (i % 3);
      // What fails is not known to have happened, and must be as if it had not.
      await client
        .getSemaphore(name)
        .withPermit(() => work(count), { permits: count, waitMs: 100 + 50 * i })
        .catch(() => {});
    });
    expect(most).toBeLessThanOrEqual(4);
    expect(done).toBeGreaterThan(0);
    await eventually(async () => expect(await freeOn(server, name)).toBe(4), { withinMs: 15_000 });
    // Nothing that is still on its way changes that.
    await past(performance.now() + 300);
    expect(await freeOn(server, name)).toBe(4);
  });
});
