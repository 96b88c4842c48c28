/** On the wire: Redisson's keys and channels, and other clients on them, played with plain commands. */
import { describe, expect, it } from 'vitest';
import { AcquireTimeoutError, type Hold } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { channelOf, listenTo, RedissonByHand, RedlockByHand, untilWaiting } from '../support/by-hand.ts';
import type { Context } from '../support/context.ts';
import { type Kind, SIMPLE } from '../support/kinds.ts';
import { rejection, timed } from '../support/moments.ts';

/** A waiter that heard nothing would look again by itself after this time at the earliest. */
const POLL_MS = 4_000;

export function describeRedissonWire(context: Context, kind: Kind): void {
  describe("on Redisson's keys", () => {
    it('keeps a hash with one field, the owner with its count, under the name', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const me = client.owner();
      const hold = await kind.of(client, name).lock({ owner: me, leaseMs: 60_000 });
      expect(await raw.command('TYPE', name)).toBe('hash');
      expect(await raw.command('HGETALL', name)).toEqual([hold.owner, '1']);
      const leftMs = Number(await raw.command('PTTL', name));
      expect(leftMs).toBeGreaterThan(55_000);
      expect(leftMs).toBeLessThanOrEqual(60_000);
      await hold.unlock();
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    const names = [
      ['a plain name', 'order:<id>', 'redisson_lock__channel:{order:<id>}'],
      ['a name with braces', '{tag}:<id>', 'redisson_lock__channel:{tag}:<id>'],
    ];
    // In a Cluster these are refused: their channels are in other slots.
    if (context.topology !== 'cluster') {
      names.push(['an odd brace', 'a{b:<id>', 'redisson_lock__channel:a{b:<id>']);
      names.push(['a closing brace', 'a}b:<id>', 'redisson_lock__channel:{a}b:<id>}']);
    }

    it.each(names)('publishes exactly one 0 after the last unlock: %s', async (_title, ...templates) => {
      const client = await context.client();
      const raw = await context.raw();
      const id = randomName();
      const [name = '', channel = ''] = templates.map((template) => template.replace('<id>', id));
      const heard = await listenTo(context, channel);
      const me = client.owner();
      const lock = kind.of(client, name);
      const first = await lock.lock({ owner: me });
      if (kind.isReentrant) await (await lock.lock({ owner: me })).unlock();
      expect(await heard()).toEqual([]);
      expect(await raw.command('HGETALL', name)).toEqual([first.owner, '1']);
      await first.unlock();
      expect(await heard()).toEqual(['0']);
    });

    it('publishes one 0 for a forced release, and nothing when there was nothing to release', async () => {
      const client = await context.client();
      const lock = kind.of(client, randomName());
      const channel = channelOf(lock.name);
      const heard = await listenTo(context, channel);
      expect(await lock.forceUnlock()).toBe(false);
      await lock.lock();
      expect(await lock.forceUnlock()).toBe(true);
      expect(await heard()).toEqual(['0']);
    });

    it('leaves nothing behind, or an expiring tombstone where copies of commands may arrive', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const id = randomName();
      const hold = await kind.of(client, id).lock();
      await hold.unlock();
      const keys = (await raw.command('KEYS', `*${id}*`)) as string[];
      const left = keys.filter((key) => key !== kind.keeps?.(id));
      const mayComeTwice = context.library === 'valkey-glide';
      expect(left).toEqual(mayComeTwice ? [`redisson_unlock_latch:{${id}}:${hold.owner}`] : []);
      for (const key of left) expect(Number(await raw.command('PTTL', key))).toBeGreaterThan(0);
    });

    it('waits while a Redisson client holds the lock, and names the holder', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const redisson = new RedissonByHand(raw, randomName());
      const lock = kind.of(client, redisson.name);
      await redisson.tryLock();
      await redisson.tryLock();
      expect(await lock.tryLock()).toBeNull();
      expect(await lock.tryLock({ waitMs: 50 })).toBeNull();
      expect([await lock.isLocked(), await lock.isHeld()]).toEqual([true, false]);
      expect(await lock.getRemainingMs()).toBeGreaterThan(25_000);
      const error = await rejection(lock.withLock(() => 1, { waitMs: 0 }));
      expect(error).toBeInstanceOf(AcquireTimeoutError);
      expect(error).toMatchObject({ holder: redisson.owner });
      await redisson.unlock();
      expect(await lock.tryLock()).toBeNull();
      expect(await raw.command('HGETALL', lock.name)).toEqual([redisson.owner, '1']);
      await redisson.unlock();
      expect(await lock.tryLock()).not.toBeNull();
    });

    it('gets the lock as soon as a Redisson client releases it', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const redisson = new RedissonByHand(raw, randomName());
      await redisson.tryLock(30_000);
      const waiter = kind.of(client, redisson.name).lock();
      await untilWaiting(raw, kind, redisson.name);
      await redisson.unlock();
      const { result: hold, tookMs } = await timed(() => waiter);
      expect(tookMs).toBeLessThan(POLL_MS);
      expect(await raw.command('HGETALL', redisson.name)).toEqual([hold.owner, '1']);
    });

    it('keeps a Redisson client out, and wakes it', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const redisson = new RedissonByHand(raw, randomName());
      const hold = await kind.of(client, redisson.name).lock();
      expect(await redisson.tryLock()).toBe(false);
      const subscriber = await context.raw();
      await subscriber.subscribe(channelOf(redisson.name));
      // Redisson tries once more when its subscription is confirmed, then waits for a message.
      expect(await redisson.tryLock()).toBe(false);
      const message = subscriber.nextMessage();
      await hold.unlock();
      expect(await message).toEqual({ channel: channelOf(redisson.name), message: '0' });
      expect(await redisson.tryLock()).toBe(true);
      expect(await kind.of(client, redisson.name).tryLock()).toBeNull();
    });

    it('waits for a lock without an expiry, as for any other', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const redisson = new RedissonByHand(raw, randomName());
      await redisson.tryLock();
      await raw.command('PERSIST', redisson.name);
      const lock = kind.of(client, redisson.name);
      expect(await lock.getRemainingMs()).toBe(Number.POSITIVE_INFINITY);
      expect(await lock.tryLock({ waitMs: 50 })).toBeNull();
      const waiter = lock.lock();
      await untilWaiting(raw, kind, lock.name);
      await redisson.unlock();
      const { tookMs } = await timed(() => waiter);
      expect(tookMs).toBeLessThan(POLL_MS);
    });

    it('frees by force a lock of a Redisson client', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const redisson = new RedissonByHand(raw, randomName());
      await redisson.tryLock();
      expect(await kind.of(client, redisson.name).forceUnlock()).toBe(true);
      expect(await raw.command('EXISTS', redisson.name)).toBe(0);
    });
  });
}

export function describeSimpleWire(context: Context): void {
  describe('on the keys of redlock-style libraries', () => {
    it('keeps its owner as a plain string under the name itself', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const hold = await client.getSimpleLock(name).lock({ leaseMs: 60_000 });
      expect(await raw.command('TYPE', name)).toBe('string');
      expect(await raw.command('GET', name)).toBe(hold.owner);
      expect(Number(await raw.command('PTTL', name))).toBeGreaterThan(55_000);
      await hold.unlock();
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('and such a library keep each other out', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const redlock = new RedlockByHand(raw, randomName());
      const lock = client.getSimpleLock(redlock.name);
      const hold = await lock.lock();
      expect(await redlock.tryLock()).toBe(false);
      await redlock.unlock();
      expect(await raw.command('GET', redlock.name)).toBe(hold.owner);
      await hold.unlock();
      expect(await redlock.tryLock()).toBe(true);
      expect(await lock.tryLock()).toBeNull();
      expect(await rejection(lock.withLock(() => 1, { waitMs: 0 }))).toMatchObject({ holder: redlock.owner });
      await redlock.unlock();
      expect(((await lock.tryLock()) as Hold).owner).toContain(client.id);
    });

    it('gets the lock soon after such a library releases it without a message', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const redlock = new RedlockByHand(raw, randomName());
      await redlock.tryLock(30_000);
      const waiter = client.getSimpleLock(redlock.name).lock();
      await untilWaiting(raw, SIMPLE, redlock.name);
      await redlock.unlock();
      const { tookMs } = await timed(() => waiter);
      expect(tookMs).toBeLessThan(POLL_MS);
    });
  });
}
