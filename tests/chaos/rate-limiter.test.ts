/**
 * The rate limiter under faults: what is granted counts once, whatever is lost on the way, what nobody got does not
 * count, and who waits does not ask all the time.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { OutcomeUnknownError, type RateLimiter } from '../../src/index.ts';
import * as scripts from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { join, past, SLACK_MS, scriptCalls, timed } from './support/arena.ts';
import {
  arrivesUndone,
  COMMAND_TIMEOUT_MS,
  type CounterStage,
  counterStage,
  failedInTime,
  givenUp,
  undone,
  workThroughBreaks,
} from './support/counter-stage.ts';
import { EACH_WAY } from './support/each-way.ts';
import { runs } from './support/requests.ts';
import type { Way } from './support/ways.ts';

const CHILD = fileURLToPath(new URL('./children/rate-limiter-user.ts', import.meta.url));

/** So long that no test sees its end. */
const LONG_MS = 600_000;

const ACQUIRE = runs(scripts.rateLimiterAcquire);
const RELEASE = runs(scripts.rateLimiterRelease);

const leftKey = (name: string) => `{${name}}:value`;
const historyKey = (name: string) => `{${name}}:permits`;

interface Stage extends CounterStage {
  readonly limiter: RateLimiter;
}

/** A limiter reached through the proxy. */
async function stage(
  way: Way,
  rate: number,
  { commandTimeoutMs = 3_000, intervalMs = LONG_MS } = {},
): Promise<Stage> {
  const config = ['rate', rate, 'interval', intervalMs, 'type', 0, 'keepAliveTime', 0];
  const place = await counterStage(way, (name) => ['HSET', name, ...config], { commandTimeoutMs });
  return { ...place, limiter: place.client.getRateLimiter(place.name) };
}

async function leftOn(server: TestServer, name: string): Promise<number | null> {
  const left = await server.command('GET', leftKey(name));
  return left === null ? null : Number(left);
}

/** The permits of every entry; numbers below 128 are one byte of text. */
async function grantedOn(server: TestServer, name: string): Promise<number[]> {
  const entries = (await server.command('ZRANGE', historyKey(name), 0, -1)) as string[];
  return entries.map((entry) => entry.charCodeAt(entry.length - 4)).sort((a, b) => a - b);
}

/** Makes every entry so much older. */
async function age(server: TestServer, name: string, byMs: number): Promise<void> {
  const source =
    "for _, m in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZINCRBY', KEYS[1], -ARGV[1], m) end";
  await server.command('EVAL', source, 1, historyKey(name), byMs);
}

describeWithProcess('rate limiter: the reply is lost after execution', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('of acquire() and release(): each counts once', async () => {
      const { server, proxy, name, limiter } = await stage(way, 9);
      const taken = proxy.swallowReply(ACQUIRE);
      await limiter.acquire(2);
      await taken;
      const tried = proxy.swallowReply(ACQUIRE);
      expect(await limiter.tryAcquire(3)).toBe(true);
      await tried;
      expect(await leftOn(server, name)).toBe(4);
      expect(await grantedOn(server, name)).toEqual([2, 3]);

      const asked = proxy.swallowReply(ACQUIRE);
      expect(await limiter.take(1)).toEqual({ granted: true, remaining: 3, retryAfterMs: 0 });
      await asked;
      expect(await leftOn(server, name)).toBe(3);
      const refused = proxy.swallowReply(ACQUIRE);
      expect(await limiter.take(4)).toMatchObject({ granted: false, remaining: 3 });
      await refused;
      expect(await leftOn(server, name)).toBe(3);

      const released = proxy.swallowReply(RELEASE);
      await limiter.release(2);
      await released;
      expect(await leftOn(server, name)).toBe(5);
    });

    it('of setting the rate: the rate is set once, and the call gets its first answer', async () => {
      const { server, proxy, name, limiter } = await stage(way, 9);
      await server.command('DEL', name);
      const set = proxy.swallowReply(runs(scripts.rateLimiterTrySetRate));
      const rate = { mode: 'overall', rate: 5, intervalMs: LONG_MS } as const;
      expect(await limiter.trySetRate(rate)).toBe(true);
      await set;

      const again = proxy.swallowReply(runs(scripts.rateLimiterSetRate));
      const setting = limiter.setRate({ ...rate, rate: 7 });
      await again;
      // What is granted before the repeat counts.
      await server.command('SET', leftKey(name), 3);
      await server.command(
        'ZADD',
        historyKey(name),
        Date.now(),
        `${String.fromCharCode(16)}sixteen letters!\x04\0\0\0`,
      );
      await setting;
      expect(await limiter.availablePermits()).toBe(3);
    });

    it('and the caller gives up: the taken permits are returned once', async () => {
      const { server, proxy, name, limiter } = await stage(way, 5);
      await givenUp(
        proxy,
        ACQUIRE,
        (signal) => limiter.acquire(3, { signal }),
        async () => expect(await leftOn(server, name)).toBe(2),
      );
      await proxy.heal();
      await undone(server, name, 'undone');
      expect(await leftOn(server, name)).toBe(5);
      expect(await grantedOn(server, name)).toEqual([]);
    });

    it('and the caller gives up: an attempt that took nothing returns nothing', async () => {
      const { server, proxy, name, limiter } = await stage(way, 3);
      await limiter.acquire(1);
      await givenUp(proxy, ACQUIRE, (signal) => limiter.acquire(3, { signal }));
      await proxy.heal();
      await undone(server, name, 'undone');
      expect(await leftOn(server, name)).toBe(2);
      expect(await grantedOn(server, name)).toEqual([1]);
    });

    it('and its interval ends before the repeat: the repeat counts once, from its own time', async () => {
      const { server, proxy, name, limiter } = await stage(way, 5);
      const swallowed = proxy.swallowReply(ACQUIRE);
      const taking = limiter.acquire(2);
      await swallowed;
      const repeat = proxy.holdRequest(ACQUIRE);
      await repeat.held;
      await age(server, name, LONG_MS);
      repeat.release();
      await taking;
      expect(await leftOn(server, name)).toBe(3);
      expect(await grantedOn(server, name)).toEqual([2]);
    });
  });
});

describeWithProcess('rate limiter: an attempt reported as failed executes later', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('takes nothing after it was undone', async () => {
      const place = await stage(way, 5, { commandTimeoutMs: COMMAND_TIMEOUT_MS });
      const { server, name, limiter } = place;
      await arrivesUndone(
        place,
        ACQUIRE,
        () => limiter.tryAcquire(3),
        () => undone(server, name, 'undone'),
      );
      expect(await limiter.availablePermits()).toBe(5);
      expect(await grantedOn(server, name)).toEqual([]);
    });

    it('takes nothing after its repeat was granted and that interval has ended', async () => {
      const { server, proxy, name, limiter } = await stage(way, 5, { commandTimeoutMs: COMMAND_TIMEOUT_MS });
      const zombie = proxy.holdRequest(ACQUIRE);
      const taking = limiter.tryAcquire(3, { waitMs: 20_000 });
      await zombie.held;
      await past(performance.now() + COMMAND_TIMEOUT_MS + 50);
      proxy.dropConnections();
      expect(await taking).toBe(true);
      expect(await leftOn(server, name)).toBe(2);
      await age(server, name, LONG_MS);
      const before = await scriptCalls(server);
      zombie.release();
      await eventually(async () => (await scriptCalls(server)) > before);
      expect(await leftOn(server, name)).toBe(2);
      expect(await limiter.availablePermits()).toBe(5);
    });
  });
});

describeWithProcess('rate limiter: a server that never answers', () => {
  it.each(EACH_WAY)('fails calls by their deadlines, and counts none of them, with %s', async (way) => {
    const { server, proxy, name, limiter } = await stage(way, 9, { commandTimeoutMs: COMMAND_TIMEOUT_MS });
    await limiter.availablePermits();
    proxy.blackhole();
    const [failed, released] = await Promise.all([failedInTime(limiter), timed(limiter.release(1))]);
    for (const { error } of [...failed, released]) expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(released.tookMs).toBeLessThan(COMMAND_TIMEOUT_MS + SLACK_MS);
    await proxy.heal();
    await undone(server, name, 'undone');
    await eventually(async () => expect(await limiter.availablePermits()).toBe(9));
    expect(await grantedOn(server, name)).toEqual([]);
  });

  it.each(EACH_WAY)(
    'does not cause a second release after one that ran without an answer, with %s',
    async (way) => {
      const { server, proxy, name, limiter } = await stage(way, 9, { commandTimeoutMs: COMMAND_TIMEOUT_MS });
      await limiter.acquire(6);
      const swallowed = proxy.swallowReply(RELEASE, { after: 'silence' });
      const released = await timed(limiter.release(2));
      await swallowed;
      expect(released.error).toBeInstanceOf(OutcomeUnknownError);
      const before = await scriptCalls(server);
      await proxy.heal();
      await eventually(async () => (await scriptCalls(server)) > before);
      expect(await eventually(() => limiter.availablePermits())).toBe(5);
      expect(await leftOn(server, name)).toBe(5);
    },
  );
});

describeWithProcess('rate limiter: waiting', () => {
  it('asks when its permits become free, and not before', async () => {
    const { server, limiter } = await stage('Holdfast.connect', 1, { intervalMs: 1_500 });
    await limiter.acquire();
    const before = await scriptCalls(server);
    await Promise.all([limiter.acquire(), limiter.tryAcquire(1, { waitMs: 1_000 })]);
    // Each beside the line, the head in line, and when the time has come; once more if the server's clock lags.
    const asked = (await scriptCalls(server)) - before;
    expect(asked).toBeGreaterThanOrEqual(3);
    expect(asked).toBeLessThanOrEqual(6);
  });

  it('waits out an outage that begins while it waits', async () => {
    const { server, proxy, name, limiter } = await stage('Holdfast.connect', 1, {
      commandTimeoutMs: 500,
      intervalMs: 1_000,
    });
    await limiter.acquire();
    const waiting = timed(limiter.acquire());
    // It asks beside the line and in it, before the last of these on the same connection: then it sleeps.
    for (let trip = 0; trip < 4; trip += 1) await limiter.availablePermits();
    await proxy.refuse();
    await past(performance.now() + 2_000);
    await proxy.heal();
    expect((await waiting).error).toBeUndefined();
    expect(await grantedOn(server, name)).toEqual([1]);
  });

  it('SIGKILL of a process with permits and a waiter: its permits are free after their interval, and its waiter blocks no other', async () => {
    const { server, name, limiter } = await stage('Holdfast.connect', 2, { intervalMs: 2_000 });
    const child = spawnChild(CHILD, { args: [server.url, name, '2'] });
    await child.next(({ state }) => state === 'taken');
    child.kill('SIGKILL');
    await child.exited;
    const { tookMs, error } = await timed(limiter.acquire(2));
    expect(error).toBeUndefined();
    expect(tookMs).toBeLessThan(2_000 + SLACK_MS);
    expect(await grantedOn(server, name)).toEqual([2]);
  });
});

describeWithProcess('rate limiter: connections break again and again', () => {
  it.each(EACH_WAY)('and exactly the granted permits count, with %s', async (way) => {
    const RATE = 100_000;
    const { server, proxy, name, client } = await stage(way, RATE, { commandTimeoutMs: 1_000 });
    const clients = [client, await join(way, proxy, { commandTimeoutMs: 1_000 })];
    const granted: number[] = [];
    await workThroughBreaks(proxy, clients, 6, async (each, i) => {
      const count = 1 + (i % 3);
      const limiter = each.getRateLimiter(name);
      // What fails is not known to have happened, and must be as if it had not.
      const isGranted = await limiter.tryAcquire(count, { waitMs: 20 + 20 * i }).catch(() => false);
      if (isGranted) granted.push(count);
    });
    expect(granted.length).toBeGreaterThan(0);
    const total = granted.reduce((sum, count) => sum + count, 0);
    const sorted = granted.sort((a, b) => a - b);
    const check = async () => {
      expect(await grantedOn(server, name)).toEqual(sorted);
      expect(await leftOn(server, name)).toBe(RATE - total);
    };
    await eventually(check, { withinMs: 15_000 });
    // Nothing that is still on its way changes that.
    await past(performance.now() + 300);
    await check();
  });
});
