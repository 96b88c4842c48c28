/** The rate limiter: counting within a window that slides, waiting, giving back, and sharing it with Redisson. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  ClosedError,
  DriverError,
  type Holdfast,
  OptionError,
  type RateLimiter,
  type RateOptions,
} from '../../src/index.ts';
import type { RawView } from '../harness/cluster-connection.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough } from './support/context.ts';
import { rejection, timed } from './support/moments.ts';
import {
  bytesOn,
  entriesOn,
  entryOf,
  historyKey,
  JavaLimiter,
  leftKey,
  serverTime,
} from './support/rate-limiter-by-hand.ts';

/** So long that no test sees its end. */
const LONG_MS = 600_000;
/** What a busy machine may add to a time. */
const SLACK_MS = 2_000;

/** A limiter with a rate, and what looks at it from outside. */
async function prepared(
  context: Context,
  rate: number,
  intervalMs = LONG_MS,
  mode: RateOptions['mode'] = 'overall',
): Promise<{ client: Holdfast; raw: RawView; name: string; limiter: RateLimiter }> {
  const client = await context.client();
  const raw = await context.raw();
  const limiter = client.getRateLimiter(randomName());
  await limiter.trySetRate({ mode, rate, intervalMs });
  return { client, raw, name: limiter.name, limiter };
}

async function stored(raw: RawView, name: string): Promise<number> {
  return Number(await raw.command('GET', leftKey(name)));
}

/** How long ago each entry was granted, the oldest first, is made so. */
async function age(raw: RawView, name: string, byMs: number): Promise<void> {
  for (const { entry } of await bytesOn(raw, historyKey(name))) {
    await raw.command('ZINCRBY', historyKey(name), -byMs, entry);
  }
}

/**
 * Resolves when those who began to wait before have been told to: each asks beside the line and then in it, on
 * the connection that these questions use behind them.
 */
async function untilAsleep(limiter: RateLimiter): Promise<void> {
  for (let trip = 0; trip < 4; trip += 1) await limiter.availablePermits();
}

function describeRateLimiter(context: Context): void {
  describe('setting the rate', () => {
    it('happens once, and getConfig() shows the rate', async () => {
      const client = await context.client();
      const limiter = client.getRateLimiter(randomName());
      expect(await limiter.getConfig()).toBeNull();
      expect(await limiter.trySetRate({ mode: 'overall', rate: 3, intervalMs: 5_000 })).toBe(true);
      const config = { mode: 'overall', rate: 3, intervalMs: 5_000, keepAliveMs: 0 };
      expect(await limiter.getConfig()).toEqual(config);
      expect(await limiter.trySetRate({ mode: 'perClient', rate: 9, intervalMs: 9_000 })).toBe(false);
      expect(await limiter.getConfig()).toEqual(config);
    });

    it('writes the fields of Redisson', async () => {
      const { raw, name, limiter } = await prepared(context, 3, 5_000, 'perClient');
      const read = async () => {
        const fields = ['rate', 'interval', 'type', 'keepAliveTime'] as const;
        return raw.command('HMGET', name, ...fields);
      };
      expect(await read()).toEqual(['3', '5000', '1', '0']);
      await limiter.setRate({ mode: 'overall', rate: 4, intervalMs: 6_000, keepAliveMs: 60_000 });
      expect(await read()).toEqual(['4', '6000', '0', '60000']);
      expect(await raw.command('PTTL', name)).toBeGreaterThan(30_000);
    });

    it('again forgets all grants, and getConfig() shows the new rate', async () => {
      const { limiter } = await prepared(context, 2);
      await limiter.acquire(2);
      const config = await limiter.getConfig();
      if (config === null) return expect.unreachable();
      await limiter.setRate({ ...config, rate: 5 });
      expect(await limiter.availablePermits()).toBe(5);
      expect(await limiter.getConfig()).toEqual({ ...config, rate: 5 });
    });
  });

  describe('counting', () => {
    it('grants all requested permits or none, and no more than the rate', async () => {
      const { raw, name, limiter } = await prepared(context, 5);
      expect(await limiter.tryAcquire(3)).toBe(true);
      expect(await limiter.tryAcquire(3)).toBe(false);
      expect(await limiter.availablePermits()).toBe(2);
      await limiter.acquire(2);
      expect(await limiter.tryAcquire()).toBe(false);
      expect(await stored(raw, name)).toBe(0);
    });

    it('leaves entries of 21 bytes', async () => {
      const { raw, name, limiter } = await prepared(context, 5);
      await limiter.acquire(3);
      const entries = (await bytesOn(raw, historyKey(name))).map(({ entry }) => entry);
      expect(entries.map((entry) => entry.length)).toEqual([21]);
      const [entry = Buffer.alloc(0)] = entries;
      expect(entry[0]).toBe(0x10);
      expect([...entry.subarray(17)]).toEqual([3, 0, 0, 0]);
    });

    it('counts for all clients together, or for each client', async () => {
      const overall = await prepared(context, 2);
      const other = (await context.client()).getRateLimiter(overall.name);
      await overall.limiter.acquire(2);
      expect(await other.tryAcquire()).toBe(false);

      const each = await prepared(context, 2, LONG_MS, 'perClient');
      const second = await context.client();
      await each.limiter.acquire(2);
      expect(await second.getRateLimiter(each.name).availablePermits()).toBe(2);
      await second.getRateLimiter(each.name).acquire();
      expect(await each.raw.command('GET', leftKey(each.name, each.client.id))).toBe('0');
      expect(await each.raw.command('GET', leftKey(each.name, second.id))).toBe('1');
      expect(await each.raw.command('ZCARD', historyKey(each.name, second.id))).toBe(1);
    });

    it('grants exactly the free permits to concurrent callers', async () => {
      const { limiter } = await prepared(context, 30);
      const asked = Array.from({ length: 40 }, (_, i) =>
        i % 2 === 0 ? limiter.tryAcquire() : limiter.tryAcquire(1, { waitMs: 1 }),
      );
      expect((await Promise.all(asked)).filter((granted) => granted)).toHaveLength(30);
      expect(await limiter.availablePermits()).toBe(0);
    });

    it('gets permits back one after the other, as their intervals end', async () => {
      const { raw, name, limiter } = await prepared(context, 4, LONG_MS);
      await limiter.acquire(3);
      await age(raw, name, LONG_MS - 60_000);
      await limiter.acquire(1);
      expect(await limiter.tryAcquire()).toBe(false);
      await age(raw, name, 60_000);
      expect(await limiter.availablePermits()).toBe(3);
      expect(await limiter.tryAcquire(4)).toBe(false);
      expect(await limiter.tryAcquire(3)).toBe(true);
    });

    it('accepts released permits up to the rate, and does not return them again after their interval', async () => {
      const { raw, name, limiter } = await prepared(context, 3);
      await limiter.acquire(2);
      await limiter.release(2);
      expect(await limiter.availablePermits()).toBe(3);
      await limiter.release(7);
      expect(await limiter.availablePermits()).toBe(3);
      await age(raw, name, LONG_MS);
      expect(await limiter.availablePermits()).toBe(3);
      await limiter.acquire(3);
      expect(await limiter.tryAcquire()).toBe(false);
    });

    it('stays alive while it is used, and expires otherwise', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const limiter = client.getRateLimiter(randomName());
      // Long enough that it is still there when it is used.
      await limiter.setRate({ mode: 'overall', rate: 3, intervalMs: 300, keepAliveMs: 1_000 });
      await limiter.acquire();
      for (const key of [limiter.name, leftKey(limiter.name), historyKey(limiter.name)]) {
        const remainingMs = Number(await raw.command('PTTL', key));
        expect(remainingMs).toBeLessThanOrEqual(1_000);
        expect(remainingMs).not.toBe(-1);
      }
      await eventually(async () => (await limiter.getConfig()) === null);
      await eventually(
        async () => ((await raw.command('KEYS', `{${limiter.name}}*`)) as string[]).length === 0,
      );
    });

    it('sends nothing for 0 permits', async () => {
      const limiter = (await context.client()).getRateLimiter(randomName());
      await limiter.acquire(0);
      expect(await limiter.tryAcquire(0)).toBe(true);
      await limiter.release(0);
      expect(await limiter.getConfig()).toBeNull();
    });
  });

  describe('errors', () => {
    it('more than the rate is an OptionError, at once', async () => {
      const { raw, name, limiter } = await prepared(context, 3);
      const calls = [
        () => limiter.acquire(4),
        () => limiter.tryAcquire(4),
        () => limiter.tryAcquire(4, { waitMs: 60_000 }),
      ];
      for (const call of calls) {
        const error = await rejection(call());
        expect(error).toBeInstanceOf(OptionError);
        expect(String(error)).toContain('its rate is 3, and a request cannot exceed the rate');
      }
      expect(await raw.command('EXISTS', historyKey(name))).toBe(0);
    });

    it('a limiter without a rate is a DriverError that says what to do', async () => {
      const limiter = (await context.client()).getRateLimiter(randomName());
      const calls = [
        () => limiter.acquire(),
        () => limiter.tryAcquire(),
        () => limiter.tryAcquire(1, { waitMs: 60_000 }),
        () => limiter.release(),
        () => limiter.availablePermits(),
      ];
      for (const call of calls) {
        const error = await rejection(call());
        expect(error).toBeInstanceOf(DriverError);
        expect(String(error)).toContain('trySetRate');
      }
    });

    it('a limiter that loses its rate does not let waiters wait forever', async () => {
      const { raw, name, limiter } = await prepared(context, 1, 1_000);
      await limiter.acquire();
      const waiting = rejection(limiter.acquire());
      await untilAsleep(limiter);
      await raw.command('DEL', name);
      expect(await waiting).toBeInstanceOf(DriverError);
    });

    it.each([
      undefined,
      {},
      { mode: 'overall', rate: 1 },
      { rate: 1, intervalMs: 1 },
      { mode: 'all', rate: 1, intervalMs: 1 },
      { mode: 'overall', rate: 0, intervalMs: 1 },
      { mode: 'overall', rate: 1.5, intervalMs: 1 },
      { mode: 'overall', rate: 1, intervalMs: 0 },
      { mode: 'overall', rate: 1, intervalMs: 2 ** 53 },
      { mode: 'overall', rate: 1, intervalMs: 100, keepAliveMs: 99 },
      { mode: 'overall', rate: 1, intervalMs: 100, keepAliveMs: -1 },
      { mode: 'overall', rate: 1, intervalMs: 100, burst: 5 },
    ])('refuses the rate %o', async (wrong) => {
      const limiter = (await context.client()).getRateLimiter(randomName());
      expect(await rejection(limiter.trySetRate(wrong as RateOptions))).toBeInstanceOf(OptionError);
      expect(await rejection(limiter.setRate(wrong as RateOptions))).toBeInstanceOf(OptionError);
      expect(await limiter.getConfig()).toBeNull();
    });

    it.each([-1, 1.5, Number.NaN, 2 ** 32, '1', null])('refuses %s permits', async (wrong) => {
      const { limiter } = await prepared(context, 3);
      const permits = wrong as number;
      const calls = [
        () => limiter.acquire(permits),
        () => limiter.tryAcquire(permits),
        () => limiter.release(permits),
        () => limiter.tryAcquire(1, { waitMs: wrong as number }),
      ];
      if (wrong === 2 ** 32) calls.pop();
      for (const call of calls) expect(await rejection(call())).toBeInstanceOf(OptionError);
      expect(await limiter.availablePermits()).toBe(3);
    });
  });

  describe('waiting', () => {
    it('waits until its permits are free, not before', async () => {
      const { raw, name, limiter } = await prepared(context, 2, 700);
      await limiter.acquire(2);
      const [entry] = await entriesOn(raw, historyKey(name));
      await limiter.acquire();
      const takenAt = (await entriesOn(raw, historyKey(name)))[0]?.score ?? 0;
      expect(takenAt - (entry?.score ?? 0)).toBeGreaterThanOrEqual(700);
      expect(takenAt - (entry?.score ?? 0)).toBeLessThan(700 + SLACK_MS);
    });

    it('waits for as many entries as it needs', async () => {
      const { raw, name, limiter } = await prepared(context, 3, 900);
      const now = await serverTime(raw);
      await raw.command('SET', leftKey(name), 0);
      for (const ageMs of [800, 600, 100]) {
        await raw.command('ZADD', historyKey(name), now - ageMs, entryOf(1));
      }
      await limiter.acquire(3);
      const [entry] = await entriesOn(raw, historyKey(name));
      expect(entry?.permits).toBe(3);
      expect((entry?.score ?? 0) - now).toBeGreaterThanOrEqual(800);
      expect((entry?.score ?? 0) - now).toBeLessThan(800 + SLACK_MS);
    });

    it('never grants more than the rate within the interval, to any number of waiters', async () => {
      const [rate, intervalMs] = [5, 250];
      const { raw, name, limiter } = await prepared(context, rate, intervalMs);
      const theirs = (await context.client()).getRateLimiter(name);
      // Entries that are too old are dropped, so they are noted while they are there.
      const seen = new Map<string, { permits: number; score: number }>();
      const look = async () => {
        for (const { entry, score } of await bytesOn(raw, historyKey(name))) {
          seen.set(entry.toString('hex'), { permits: entry.readUInt32LE(17), score });
        }
      };
      let isOver = false;
      const watching = (async () => {
        while (!isOver) await look();
      })();
      const worker = async (each: RateLimiter, count: number) => {
        for (let i = 0; i < 3; i += 1) await each.acquire(count);
      };
      await Promise.all([worker(limiter, 1), worker(theirs, 2), worker(limiter, 3), worker(theirs, 1)]);
      isOver = true;
      await watching;
      await look();
      const grants = [...seen.values()];
      expect(grants.length).toBeGreaterThan(3);
      for (const { score: from } of grants) {
        const within = grants.filter(({ score }) => score >= from && score < from + intervalMs);
        expect(within.reduce((sum, { permits }) => sum + permits, 0)).toBeLessThanOrEqual(rate);
      }
    });

    it('answers false when waitMs has passed, not before', async () => {
      const { limiter } = await prepared(context, 1);
      await limiter.acquire();
      const { result, tookMs } = await timed(() => limiter.tryAcquire(1, { waitMs: 150 }));
      expect(result).toBe(false);
      expect(tookMs).toBeGreaterThanOrEqual(148);
      expect(tookMs).toBeLessThan(150 + SLACK_MS);
      expect(await limiter.availablePermits()).toBe(0);
    });

    it('gets permits within waitMs', async () => {
      const { limiter } = await prepared(context, 1, 300);
      await limiter.acquire();
      expect(await limiter.tryAcquire(1, { waitMs: 20_000 })).toBe(true);
    });

    it('is served at once by a release in the same process, whatever its size', async () => {
      const { client, raw, name, limiter } = await prepared(context, 6);
      await limiter.acquire(6);
      const waiting = [limiter.acquire(), limiter.acquire(), client.getRateLimiter(name).acquire(3)];
      await untilAsleep(limiter);
      await client.getRateLimiter(name).release(5);
      expect((await timed(() => Promise.all(waiting))).tookMs).toBeLessThan(SLACK_MS);
      expect(await stored(raw, name)).toBe(0);
    });

    it('is served at once by a new rate set in the same process', async () => {
      const { limiter } = await prepared(context, 1);
      await limiter.acquire();
      const waiting = [limiter.acquire(), limiter.acquire()];
      await untilAsleep(limiter);
      await limiter.setRate({ mode: 'overall', rate: 2, intervalMs: LONG_MS });
      expect((await timed(() => Promise.all(waiting))).tookMs).toBeLessThan(SLACK_MS);
    });

    it('learns at its poll of permits that other clients release', async () => {
      const { name, limiter } = await prepared(context, 1);
      await limiter.acquire();
      const waiting = limiter.acquire();
      await untilAsleep(limiter);
      await (await context.client()).getRateLimiter(name).release();
      expect((await timed(() => waiting)).tookMs).toBeLessThan(6_000 + SLACK_MS);
    });

    it('serves small requests though larger ones arrived before', async () => {
      const { limiter } = await prepared(context, 6);
      await limiter.acquire(6);
      const many = limiter.acquire(5);
      const few = limiter.acquire(1);
      await untilAsleep(limiter);
      await limiter.release(1);
      await few;
      await limiter.release(5);
      await many;
      expect(await limiter.availablePermits()).toBe(0);
    });

    it('stops at once when aborted, and takes nothing afterwards', async () => {
      const { raw, name, limiter } = await prepared(context, 3);
      await limiter.acquire(3);
      const giveUp = new AbortController();
      const { signal } = giveUp;
      const waiters = [
        limiter.acquire(1, { signal }),
        limiter.acquire(1, { signal }),
        limiter.tryAcquire(2, { waitMs: 20_000, signal }),
      ];
      await untilAsleep(limiter);
      const why = new Error('changed my mind');
      giveUp.abort(why);
      for (const waiter of waiters) expect(await rejection(waiter)).toBe(why);
      await limiter.release(3);
      expect(await limiter.availablePermits()).toBe(3);
      expect(await rejection(limiter.acquire(1, { signal }))).toBe(why);
      expect(await stored(raw, name)).toBe(3);
    });

    it('rejects when the client closes', async () => {
      const { client, limiter } = await prepared(context, 1);
      await limiter.acquire();
      const waiter = limiter.acquire();
      await untilAsleep(limiter);
      const closing = client.close();
      expect(await rejection(waiter)).toBeInstanceOf(ClosedError);
      await closing;
      expect(await rejection(limiter.release())).toBeInstanceOf(ClosedError);
      expect(await rejection(limiter.availablePermits())).toBeInstanceOf(ClosedError);
    });
  });

  describe('shared with Redisson', () => {
    it('counts the permits granted to Java, and Java counts ours', async () => {
      const { raw, name, limiter } = await prepared(context, 5);
      const java = new JavaLimiter(raw, name);
      await limiter.acquire(2);
      expect(await java.tryAcquire(2)).toBeNull();
      expect(await limiter.availablePermits()).toBe(1);
      expect(await limiter.tryAcquire(2)).toBe(false);
      expect(await java.tryAcquire(2)).toBeGreaterThan(LONG_MS - 60_000);
      expect(await limiter.tryAcquire(1)).toBe(true);
      expect(await java.tryAcquire(1)).toBeGreaterThan(LONG_MS - 60_000);
    });

    it('each side gets the permits of the other back after their interval', async () => {
      const { raw, name, limiter } = await prepared(context, 3);
      const java = new JavaLimiter(raw, name);
      await java.tryAcquire(3);
      await age(raw, name, LONG_MS);
      await limiter.acquire(3);
      expect(await java.tryAcquire(1)).not.toBeNull();
      // By Java's clock, which may be behind the server's by the blink of an eye.
      await age(raw, name, LONG_MS + 1_000);
      expect(await java.tryAcquire(2)).toBeNull();
      expect(await limiter.availablePermits()).toBe(1);
    });

    it('each side sees the permits that the other releases', async () => {
      const { raw, name, limiter } = await prepared(context, 3);
      const java = new JavaLimiter(raw, name);
      await limiter.acquire(3);
      await java.release(1);
      expect(await limiter.tryAcquire()).toBe(true);
      await limiter.release(2);
      expect(await java.tryAcquire(2)).toBeNull();
      expect(await limiter.availablePermits()).toBe(0);
    });

    it('works with a rate that Java set, for all and for each', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const limiter = client.getRateLimiter(randomName());
      const java = new JavaLimiter(raw, limiter.name, { clientId: randomUUID() });
      await java.setRate('1', 2, LONG_MS);
      expect(await limiter.getConfig()).toMatchObject({ mode: 'perClient', rate: 2, intervalMs: LONG_MS });
      await java.tryAcquire(2);
      expect(await limiter.tryAcquire(2)).toBe(true);
      await java.setRate('0', 4, LONG_MS);
      await java.tryAcquire(3);
      expect(await limiter.availablePermits()).toBe(1);
    });

    it('is not blocked for longer than the interval by a client whose clock is ahead', async () => {
      const { raw, name, limiter } = await prepared(context, 1, 1_000);
      const java = new JavaLimiter(raw, name, { aheadMs: 61_000 });
      expect(await java.tryAcquire(1)).toBeNull();
      expect(await limiter.tryAcquire()).toBe(false);
      const { tookMs } = await timed(() => limiter.acquire());
      expect(tookMs).toBeLessThan(1_000 + SLACK_MS);
    });

    it('survives the loss of either of its keys', async () => {
      const { raw, name, limiter } = await prepared(context, 4);
      await limiter.acquire(4);
      await raw.command('DEL', historyKey(name));
      expect(await limiter.tryAcquire(3)).toBe(true);
      await raw.command('DEL', leftKey(name));
      expect(await limiter.tryAcquire(2)).toBe(false);
      expect(await limiter.tryAcquire(1)).toBe(true);
      expect(await limiter.tryAcquire(1)).toBe(false);
    });
  });
}

describeThrough('rate limiter', describeRateLimiter);
