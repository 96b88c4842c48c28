/** Faults and the permit-expirable semaphore: permits are conserved, holders told, waiters served. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ClientOptions, OutcomeUnknownError, type Permit } from '../../src/index.ts';
import {
  permitSemaphoreAcquire,
  permitSemaphoreRelease,
  permitSemaphoreReleaseAll,
  permitSemaphoreRenew,
  permitSemaphoreSetPermits,
  permitSemaphoreUndo,
  permitSemaphoreUpdateLease,
  semaphoreAddPermits,
  semaphoreTrySetPermits,
} from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import type { TakesSettings } from './children/permit-semaphore-takes.ts';
import {
  aborted,
  arena,
  join,
  LATEST_POLL_MS,
  listenTo,
  SLACK_MS,
  seen,
  subscribersOf,
  timed,
} from './support/arena.ts';
import { counterStage, givenUp } from './support/counter-stage.ts';
import { EACH_WAY } from './support/each-way.ts';
import { runs } from './support/requests.ts';
import type { Way } from './support/ways.ts';

const SCRIPT = fileURLToPath(new URL('./children/permit-semaphore-takes.ts', import.meta.url));

/** Long enough that the default reconnection of both libraries fits between a renewal and the deadline. */
const WATCHDOG_MS = 1_500;

const setOf = (name: string) => `{${name}}:timeout`;
const channelOf = (name: string) => `redisson_sc:{${name}}`;

async function stored(server: TestServer, name: string): Promise<[free: number, taken: number]> {
  return [Number(await server.command('GET', name)), Number(await server.command('ZCARD', setOf(name)))];
}

async function endOf(server: TestServer, name: string, id: string): Promise<number> {
  return Number(await server.command('ZSCORE', setOf(name), Buffer.from(id, 'hex')));
}

/** How many permits or requests are noted as over. */
async function marks(server: TestServer): Promise<number> {
  return ((await server.command('KEYS', 'redisson_unlock_latch:*')) as string[]).length;
}

function child(settings: TakesSettings) {
  return spawnChild(SCRIPT, { args: [JSON.stringify(settings)] });
}

/** A semaphore of so many permits on a server of its own, spoken to through the proxy. */
async function stage(way: Way, permits: number, options?: ClientOptions) {
  const place = await counterStage(way, (name) => ['SET', name, permits], options);
  return { ...place, semaphore: place.client.getPermitExpirableSemaphore(place.name) };
}

describeWithProcess('reply lost after execution', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('of an acquire: the permit is taken once, and freed by one release', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 5);
      const swallowed = proxy.swallowReply(runs(permitSemaphoreAcquire));
      const permit = await semaphore.acquire();
      await swallowed;
      expect(await stored(server, name)).toEqual([4, 1]);
      permit.assertHeld();
      const again = proxy.swallowReply(runs(permitSemaphoreAcquire));
      const permits = await semaphore.acquireMany(3, { leaseMs: Number.POSITIVE_INFINITY });
      await again;
      expect(await stored(server, name)).toEqual([1, 4]);
      for (const each of [permit, ...permits]) expect(await each.release()).toBe(true);
      expect(await stored(server, name)).toEqual([5, 0]);
      // Where it was for us to ask again, a copy of the first attempt could come late: refused for long enough.
      if (way === 'default ioredis 6') return;
      for (const { id } of [permit, ...permits]) {
        expect(await server.command('PTTL', `redisson_unlock_latch:{${name}}:${id}`)).toBeGreaterThan(50_000);
      }
    });

    it('of creating it: created once, and what is taken counts', async () => {
      const { server, proxy, name, client } = await stage(way, 5);
      await server.command('DEL', name);
      const semaphore = client.getPermitExpirableSemaphore(name, { permits: 4 });
      const swallowed = [
        proxy.swallowReply(runs(permitSemaphoreAcquire)),
        proxy.swallowReply(runs(semaphoreTrySetPermits)),
      ];
      const permits = await semaphore.acquireMany(3);
      await Promise.all(swallowed);
      expect(await stored(server, name)).toEqual([1, 3]);
      for (const permit of permits) expect(await permit.release()).toBe(true);
      expect(await stored(server, name)).toEqual([4, 0]);
    });

    it('of creating it, and the caller gives up: it is there, and nothing stays taken', async () => {
      const { server, proxy, name, client } = await stage(way, 5);
      await server.command('DEL', name);
      const semaphore = client.getPermitExpirableSemaphore(name, { permits: 4 });
      const create = runs(semaphoreTrySetPermits);
      await givenUp(proxy, create, (signal) => semaphore.acquire({ signal }));
      const undoing = seen(proxy, runs(permitSemaphoreUndo));
      await proxy.heal();
      await undoing;
      await eventually(async () => expect(await stored(server, name)).toEqual([4, 0]));
    });

    it('of a release: the permit is returned once, and an owner that took it in between keeps it', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 1);
      const theirs = (await join('Holdfast.connect', server)).getPermitExpirableSemaphore(name);
      let permit = await semaphore.acquire();
      const ways: (() => Promise<unknown>)[] = [
        () => permit.release(),
        () => semaphore.tryRelease(permit.id),
        () => theirsThroughProxy.tryRelease(permit.id),
        () => semaphore.release(permit.id).then(() => true),
      ];
      const theirsThroughProxy = (await join(way, proxy)).getPermitExpirableSemaphore(name);
      for (const release of ways) {
        const swallowed = proxy.swallowReply(runs(permitSemaphoreRelease));
        const next = theirs.acquire();
        await eventually(async () => (await subscribersOf(server, channelOf(name))) === 1);
        expect(await release()).toBe(true);
        await swallowed;
        const taken = await next;
        expect(await stored(server, name)).toEqual([0, 1]);
        taken.assertHeld();
        expect(await taken.release()).toBe(true);
        permit = await semaphore.acquire();
      }
      expect(await stored(server, name)).toEqual([0, 1]);
    });

    it('of a list that is released: the permits are returned once, with the right number', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 3);
      const permits = await semaphore.acquireMany(3);
      const ids = permits.map(({ id }) => id);
      const refused = proxy.swallowReply(runs(permitSemaphoreReleaseAll));
      expect(await semaphore.tryRelease([...ids, 'f'.repeat(32)])).toBe(0);
      await refused;
      const swallowed = proxy.swallowReply(runs(permitSemaphoreReleaseAll));
      expect(await semaphore.tryRelease(ids)).toBe(3);
      await swallowed;
      expect(await stored(server, name)).toEqual([3, 0]);
    });

    it('of a renewal: the permit is renewed again in time and kept', async () => {
      const { server, proxy, name, client, semaphore } = await stage(way, 1, { watchdogMs: WATCHDOG_MS });
      const { lost } = listenTo(client);
      const permit = await semaphore.acquire();
      await proxy.swallowReply(runs(permitSemaphoreRenew));
      // The one repeated, then three on schedule: together longer than the lease that was lost sight of.
      for (let renewal = 0; renewal < 4; renewal += 1) await seen(proxy, runs(permitSemaphoreRenew));
      permit.assertHeld();
      expect(lost).toEqual([]);
      expect(await permit.release()).toBe(true);
      expect(await stored(server, name)).toEqual([1, 0]);
    });

    it('of a new lease, and of a change of the total: each takes effect once', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 2);
      const permit = await semaphore.acquire({ leaseMs: 5_000 });
      const updated = proxy.swallowReply(runs(permitSemaphoreUpdateLease));
      expect(await semaphore.updateLease(permit.id, 60_000)).toBe(true);
      await updated;
      expect(permit.remainingMs).toBeGreaterThan(40_000);
      expect(await semaphore.getLeaseMs(permit.id)).toBeGreaterThan(permit.remainingMs);

      const added = proxy.swallowReply(runs(semaphoreAddPermits));
      await semaphore.addPermits(5);
      await added;
      expect(await stored(server, name)).toEqual([6, 1]);
      const set = proxy.swallowReply(runs(permitSemaphoreSetPermits));
      await semaphore.setPermits(3);
      await set;
      expect(await stored(server, name)).toEqual([2, 1]);
    });
  });
});

describeWithProcess('an acquire that is given up while its outcome is unknown', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it.each([1, 3])('having taken %i, returns them once', async (count) => {
      const { server, proxy, name, semaphore } = await stage(way, 3, { commandTimeoutMs: 1_000 });
      await givenUp(
        proxy,
        runs(permitSemaphoreAcquire),
        (signal) => semaphore.acquireMany(count, { signal, leaseMs: Number.POSITIVE_INFINITY }),
        async () => expect(await stored(server, name)).toEqual([3 - count, count]),
      );
      await proxy.heal();
      await eventually(async () => expect(await stored(server, name)).toEqual([3, 0]), { withinMs: 10_000 });
    });

    it('having found none, returns nothing', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 1, { commandTimeoutMs: 1_000 });
      await givenUp(proxy, runs(permitSemaphoreAcquire), (signal) => semaphore.acquireMany(2, { signal }));
      const undone = seen(proxy, runs(permitSemaphoreUndo));
      await proxy.heal();
      await undone;
      await eventually(async () => (await marks(server)) === 2);
      expect(await stored(server, name)).toEqual([1, 0]);
    });

    it('before it arrived, takes nothing', async () => {
      const { server, proxy, name, semaphore } = await stage(way, 1, { commandTimeoutMs: 1_000 });
      const request = proxy.holdRequest(runs(permitSemaphoreAcquire));
      const giveUp = new AbortController();
      const asked = timed(semaphore.acquire({ signal: giveUp.signal }));
      await request.held;
      giveUp.abort(new Error('enough'));
      await asked;
      expect(await stored(server, name)).toEqual([1, 0]);
      request.release();
      await eventually(async () => (await marks(server)) === 1);
      expect(await stored(server, name)).toEqual([1, 0]);
    });
  });
});

describeWithProcess('a server that does not answer', () => {
  it.each(EACH_WAY)('%s: signals abort before the permit can go to another owner', async (way) => {
    const options = { watchdogMs: WATCHDOG_MS, commandTimeoutMs: 300 };
    const { server, proxy, name, semaphore } = await stage(way, 1, options);
    const permit = await semaphore.acquire();
    await seen(proxy, runs(permitSemaphoreRenew));
    proxy.blackhole();
    const { atWallMs, value } = await aborted(permit.signal);
    expect(value).toMatchObject({ reason: 'unreachable' });
    expect(atWallMs).toBeLessThan(await endOf(server, name, permit.id));
    await proxy.heal();
    const theirs = (await join('Holdfast.connect', server)).getPermitExpirableSemaphore(name);
    const next = await timed(theirs.acquire());
    expect(next.tookMs).toBeLessThan(WATCHDOG_MS + SLACK_MS);
    expect(await stored(server, name)).toEqual([0, 1]);
  });

  it('a release rejects with an unknown outcome, and continues in the background', async () => {
    const { server, proxy, name, semaphore } = await stage('Holdfast.connect', 2, { commandTimeoutMs: 500 });
    const [handle, byId] = await semaphore.acquireMany(2, { leaseMs: Number.POSITIVE_INFINITY });
    const strangers = (
      await join('Holdfast.connect', proxy, { commandTimeoutMs: 500 })
    ).getPermitExpirableSemaphore(name);
    proxy.blackhole();
    const outcomes = await Promise.all([
      timed((handle as Permit).release()),
      timed(strangers.tryRelease((byId as Permit).id)),
    ]);
    for (const { error } of outcomes) expect(error).toBeInstanceOf(OutcomeUnknownError);
    await proxy.heal();
    await eventually(async () => expect(await stored(server, name)).toEqual([2, 0]), { withinMs: 10_000 });
  });
});

describeWithProcess('a process that is killed', () => {
  it('holding permits: the permits are free when its lease ends, and the waiter gets one', async () => {
    const { server } = await arena();
    const name = randomName();
    await server.command('SET', name, '2');
    const holder = child({ url: server.url, name, watchdogMs: 2_000, count: 2 });
    const { ids } = (await holder.next()) as { ids: string[] };
    const semaphore = (await join('Holdfast.connect', server)).getPermitExpirableSemaphore(name);
    const waiting = semaphore.acquireMany(2);
    await eventually(async () => (await subscribersOf(server, channelOf(name))) === 1);
    holder.kill('SIGKILL');
    await holder.exited;
    const ends = await Promise.all(ids.map((id) => endOf(server, name, id)));
    const remainingMs = Math.max(...ends) - Date.now();
    expect(remainingMs).toBeLessThanOrEqual(2_000);
    const { tookMs, error } = await timed(waiting);
    expect(error).toBeUndefined();
    expect(tookMs).toBeLessThan(remainingMs + SLACK_MS);
    expect(await stored(server, name)).toEqual([0, 2]);
  });

  it('waiting for a permit: nothing is taken', async () => {
    const { server } = await arena();
    const name = randomName();
    await server.command('SET', name, '1');
    const semaphore = (await join('Holdfast.connect', server)).getPermitExpirableSemaphore(name);
    const permit = await semaphore.acquire();
    const waiter = child({ url: server.url, name, watchdogMs: 30_000, count: 0 });
    await eventually(async () => (await subscribersOf(server, channelOf(name))) === 1, { withinMs: 15_000 });
    waiter.kill('SIGKILL');
    await waiter.exited;
    expect(await permit.release()).toBe(true);
    expect(await stored(server, name)).toEqual([1, 0]);
    expect(await semaphore.tryAcquire()).not.toBeNull();
  });
});

describeWithProcess('wake-ups that are lost', () => {
  it.each(EACH_WAY)('%s: the waiter gets its permit within a poll', async (way) => {
    const { server, proxy, name, semaphore } = await stage(way, 1);
    const theirs = (await join('Holdfast.connect', server)).getPermitExpirableSemaphore(name);
    const permit = await theirs.acquire({ leaseMs: Number.POSITIVE_INFINITY });
    const waiting = semaphore.acquire();
    await eventually(async () => (await subscribersOf(server, channelOf(name))) === 1);
    // By hand and without a message, as if every one of them were lost.
    await server.command('ZREM', setOf(name), Buffer.from(permit.id, 'hex'));
    await server.command('INCRBY', name, '1');
    const { tookMs, error } = await timed(waiting);
    expect(error).toBeUndefined();
    expect(tookMs).toBeLessThan(LATEST_POLL_MS + SLACK_MS);
    expect(proxy.connections).toBeGreaterThan(0);
  });
});
