/** From names to keys, and back to what people see of them. */
import { describe, expect, it } from 'vitest';
import { type Description, OptionError } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import { RedissonByHand, RedlockByHand } from '../support/by-hand.ts';
import type { Context } from '../support/context.ts';
import { rejection, timed } from '../support/moments.ts';

export function describeNames(context: Context): void {
  describe('names', () => {
    it('are mapped once; key, channel and tombstones derive from the result', async () => {
      const seen: string[] = [];
      const prefix = randomName('app');
      const mapName = (name: string) => {
        seen.push(name);
        return `${prefix}/${name}`;
      };
      const [ours, theirs] = [await context.client({ mapName }), await context.client()];
      const raw = await context.raw();
      const lock = ours.getLock('order');
      expect(lock.name).toBe('order');
      const hold = await lock.lock();
      expect(hold.name).toBe('order');
      expect(await raw.command('HGETALL', `${prefix}/order`)).toEqual([hold.owner, '1']);
      const waiter = theirs.getLock(`${prefix}/order`).lock();
      const channel = `redisson_lock__channel:{${prefix}/order}`;
      await eventually(async () => {
        expect(await raw.command('PUBSUB', 'NUMSUB', channel)).toEqual([channel, 1]);
      });
      await hold.unlock();
      const { tookMs } = await timed(() => waiter);
      expect(tookMs).toBeLessThan(4_000);
      const queued = await ours.getFairLock('queue').lock();
      await queued.unlock();
      expect(await raw.command('KEYS', `*${prefix}*`)).toContain(
        `redisson_unlock_latch:{${prefix}/queue}:${queued.owner}`,
      );
      expect(seen).toEqual(['order', 'queue']);
    });

    it('are refused if mapName returns an empty name', async () => {
      for (const bad of ['', 7, undefined] as never[]) {
        const client = await context.client({ mapName: () => bad });
        expect(() => client.getLock('order')).toThrow(OptionError);
        expect(await rejection(client.inspect('order'))).toBeInstanceOf(OptionError);
      }
    });
  });
}

/** For libraries that put a prefix before keys; they do not before channels. */
export function describeKeyPrefix(context: Context): void {
  describe('a key prefix of the client library', () => {
    it('is put before the key; channel and tombstones derive from both', async () => {
      const keyPrefix = `${randomName('prefix')}:`;
      const mapName = (name: string) => name.toUpperCase();
      const client = await context.client({ mapName }, { keyPrefix });
      const raw = await context.raw();
      const lock = client.getLock('order');
      const redisson = new RedissonByHand(raw, `${keyPrefix}ORDER`);
      const hold = await lock.lock();
      expect(await raw.command('HGETALL', redisson.name)).toEqual([hold.owner, '1']);
      expect(await redisson.tryLock()).toBe(false);
      await hold.unlock();
      const queued = await client.getFairLock('queue').lock();
      await queued.unlock();
      expect(await raw.command('KEYS', `*${keyPrefix}*`)).toEqual([
        `redisson_unlock_latch:{${keyPrefix}QUEUE}:${queued.owner}`,
      ]);

      expect(await redisson.tryLock()).toBe(true);
      const waiter = lock.lock();
      const channel = `redisson_lock__channel:{${keyPrefix}ORDER}`;
      await eventually(async () => {
        expect(await raw.command('PUBSUB', 'NUMSUB', channel)).toEqual([channel, 1]);
      });
      await redisson.unlock();
      const { result, tookMs } = await timed(() => waiter);
      expect(tookMs).toBeLessThan(4_000);
      const description = await client.inspect('order');
      const holders = [{ owner: result.owner }];
      expect(description).toMatchObject({ key: redisson.name, kind: 'lock', holders });
      expect(await client.list()).toMatchObject([{ key: redisson.name, holders }]);
    });
  });
}

/** Every holder has this much left of its lease, or a few seconds less. */
function expectLeases(description: Description, ...leases: number[]): void {
  const holders = 'holders' in description ? description.holders : [];
  expect(holders).toHaveLength(leases.length);
  for (const [i, { remainingMs }] of holders.entries()) {
    expect(remainingMs).toBeGreaterThan((leases[i] as number) - 5_000);
    expect(remainingMs).toBeLessThanOrEqual(leases[i] as number);
  }
}

export function describeInspection(context: Context): void {
  describe('inspection', () => {
    it('describes the key of a name', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const [free, held, simple, list, data] = Array.from({ length: 5 }, () => randomName());
      const names = { free, held, simple, list, data } as Record<string, string>;
      const inspect = (which: string) => client.inspect(names[which] as string);
      expect(await inspect('free')).toEqual({ key: free, kind: 'free' });

      const me = client.owner();
      const lock = client.getLock(held as string);
      const hold = await lock.lock({ owner: me, leaseMs: 60_000 });
      await lock.lock({ owner: me });
      const description = await inspect('held');
      expect(description).toMatchObject({
        key: held,
        kind: 'lock',
        holders: [{ owner: hold.owner, clientId: client.id, holdCount: 2 }],
      });
      expectLeases(description, 60_000);

      const redlock = new RedlockByHand(raw, simple as string);
      await redlock.tryLock(60_000);
      expect(await inspect('simple')).toMatchObject({
        kind: 'simple',
        holders: [{ owner: redlock.owner, clientId: null, client: null, heldSince: null }],
      });
      await raw.command('RPUSH', list as string, 'a', 'b');
      expect(await inspect('list')).toEqual({ key: list, kind: 'other', type: 'list' });
      await raw.command('HSET', data as string, 'name', 'Ada', 'born', '1815');
      expect(await inspect('data')).toEqual({ key: data, kind: 'other', type: 'hash' });
      await raw.command('DEL', list as string, data as string);
    });

    it('describes a read/write lock: mode, holders and counts', async () => {
      const client = await context.client();
      const name = randomName();
      const lock = client.getReadWriteLock(name);
      const me = client.owner();
      const writing = await lock.writeLock().lock({ owner: me, leaseMs: 60_000 });
      const reading = await lock.readLock().lock({ owner: me, leaseMs: 60_000 });
      await lock.readLock().lock({ owner: me, leaseMs: 60_000 });
      const description = await client.inspect(name);
      expect(description).toMatchObject({
        key: name,
        kind: 'readWrite',
        mode: 'write',
        holders: [
          { owner: writing.owner, holdCount: 1 },
          { owner: reading.owner, holdCount: 2 },
        ],
      });
      expectLeases(description, 60_000, 60_000);
      await writing.unlock();
      const other = await lock.readLock().lock();
      expect(await client.inspect(name)).toMatchObject({
        mode: 'read',
        holders: [
          { owner: reading.owner, holdCount: 2 },
          { owner: other.owner, holdCount: 1 },
        ],
      });
      expectLeases(await client.inspect(name), 60_000, 30_000);
    });

    it('lists the locks that match a pattern, of all owners, and nothing else', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const id = randomName();
      const hold = await client.getLock(`${id}:a`).lock();
      const simple = await client.getSimpleLock(`${id}:b`).lock();
      const redisson = new RedissonByHand(raw, `${id}:c`);
      await redisson.tryLock();
      await raw.command('SET', `${id}:d`, 'a cached page', 'PX', 60_000);
      await raw.command('HSET', `${id}:e`, 'visits', 7);
      await (await client.getLock(`${id}:f`).lock()).unlock();
      const writing = await client.getReadWriteLock(`${id}:g`).writeLock().lock();
      const reading = await client.getReadWriteLock(`${id}:h`).readLock().lock();
      await raw.command('HSET', `${id}:i`, 'mode', 'read', 'chapter', 7);
      const found = await client.list(`${id}:*`);
      expect(found).toMatchObject([
        { key: `${id}:a`, kind: 'lock', holders: [{ owner: hold.owner, holdCount: 1 }] },
        { key: `${id}:b`, kind: 'simple', holders: [{ owner: simple.owner }] },
        { key: `${id}:c`, kind: 'lock', holders: [{ owner: redisson.owner, holdCount: 1, client: null }] },
        { key: `${id}:g`, kind: 'readWrite', mode: 'write', holders: [{ owner: writing.owner }] },
        { key: `${id}:h`, kind: 'readWrite', mode: 'read', holders: [{ owner: reading.owner }] },
      ]);
      expect(found).toHaveLength(5);
      expect(await client.list(`${id}:none`)).toEqual([]);
      expect((await client.list()).map(({ key }) => key)).toEqual(
        expect.arrayContaining([`${id}:a`, `${id}:b`, `${id}:c`]),
      );
      await raw.command('DEL', `${id}:d`, `${id}:e`, `${id}:i`);
    });

    it('lists a rate limiter, and no part of it or of a semaphore, though some are strings that expire', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const id = randomName();
      const limiter = client.getRateLimiter(id);
      await limiter.trySetRate({ mode: 'overall', rate: 5, intervalMs: 60_000, keepAliveMs: 60_000 });
      expect(await limiter.tryAcquire(2)).toBe(true);
      expect(await raw.command('GET', `{${id}}:value`)).toBe('3');
      expect(await raw.command('PTTL', `{${id}}:value`)).toBeGreaterThan(0);
      const semaphore = client.getSemaphore(`${id}:permits`);
      await semaphore.trySetPermits(3, { ttlMs: 60_000 });
      expect(await semaphore.tryAcquire()).toBe(true);
      const description = { key: id, kind: 'rateLimiter', mode: 'overall', rate: 5, intervalMs: 60_000 };
      expect(await client.list(`*${id}*`)).toEqual([{ ...description, freePermits: 3 }]);
    });

    it('reports the facts about the server and the modes in use', async () => {
      const client = await context.client();
      const isCluster = context.topology === 'cluster';
      const raw = await context.raw();
      const info = String(await raw.command('INFO', 'server'));
      // Valkey also tells which version of Redis it stands for.
      const version = /^valkey_version:(.*?)\r?$/m.exec(info) ?? /^redis_version:(.*?)\r?$/m.exec(info);
      expect(await client.capabilities()).toEqual({
        library: context.library,
        topology: context.topology,
        primaries: isCluster ? 3 : 1,
        info: true,
        server: info.includes('valkey_version') ? 'valkey' : 'redis',
        version: version?.[1],
        evictionPolicy: expect.any(String),
        mayEvictLocks: false,
        persistence: { appendOnly: expect.any(Boolean), failing: false },
        replicas: { connected: 0, required: 0, obstacle: null, stopsAlone: false },
        guard: { on: false, graceMs: 30_000, obstacle: null },
        pubSub: isCluster ? 'sharded' : 'plain',
        clockSkewMs: expect.any(Number),
      });
    });
  });
}
