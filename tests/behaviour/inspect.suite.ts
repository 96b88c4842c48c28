/** What people see of every primitive, and of the clients behind it. */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { AcquireTimeoutError, type ClientEvents, type Description, OptionError } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { describeThrough, onOneServer } from './support/context.ts';
import { rejection } from './support/moments.ts';

const JAVA = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455';

/** What remains of a lease that began a moment ago. */
function expectLeft(remainingMs: number, leaseMs: number): void {
  expect(remainingMs).toBeGreaterThan(leaseMs - 5_000);
  expect(remainingMs).toBeLessThanOrEqual(leaseMs);
}

function ofKind<Kind extends Description['kind']>(found: Description, kind: Kind) {
  expect(found.kind).toBe(kind);
  return found as Extract<Description, { kind: Kind }>;
}

describeThrough('inspection', (context) => {
  const isOneServer = context.topology === 'standalone';

  describe('of locks', () => {
    it('tells who holds a lock, how often, for how long, and since when if it is this client', async () => {
      const [ours, theirs] = [await context.client({ label: 'ours' }), await context.client()];
      const name = randomName();
      const before = Date.now();
      const hold = await ours.getLock(name).lock({ leaseMs: 60_000 });
      const after = Date.now();
      const { holders } = ofKind(await ours.inspect(name), 'lock');
      expect(holders).toEqual([
        {
          owner: hold.owner,
          clientId: ours.id,
          client: { label: 'ours', host: hostname(), pid: process.pid, since: expect.any(Date) },
          holdCount: 1,
          remainingMs: expect.any(Number),
          heldSince: expect.any(Date),
        },
      ]);
      expectLeft(holders[0].remainingMs, 60_000);
      const since = holders[0].heldSince?.getTime() ?? 0;
      expect(since).toBeGreaterThanOrEqual(before - 5);
      expect(since).toBeLessThanOrEqual(after + 5);
      await eventually(async () => {
        const [seen] = ofKind(await theirs.inspect(name), 'lock').holders;
        expect(seen).toMatchObject({ owner: hold.owner, client: { label: 'ours' }, heldSince: null });
      });
    });

    it('tells since when another client has what it has held for a while', async () => {
      const [ours, theirs] = [await context.client(), await context.client({ watchdogMs: 1_500 })];
      const name = randomName();
      const before = Date.now();
      await theirs.getLock(name).lock();
      const after = Date.now();
      await eventually(
        async () => {
          const [seen] = ofKind(await ours.inspect(name), 'lock').holders;
          const since = seen.heldSince?.getTime() ?? 0;
          expect(since).toBeGreaterThanOrEqual(before - 5);
          expect(since).toBeLessThanOrEqual(after + 5);
        },
        { withinMs: 15_000, everyMs: 50 },
      );
    });

    it('names the waiters of a fair lock in order, also those of Java', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const lock = client.getFairLock(name);
      const hold = await lock.lock();
      expect(await client.inspect(name)).toMatchObject({ kind: 'lock' });
      const waiting: Promise<unknown>[] = [];
      const queue = `redisson_lock_queue:{${name}}`;
      const owners: string[] = [];
      for (let i = 1; i <= 2; i += 1) {
        waiting.push(lock.tryLock({ waitMs: 20_000 }).then((next) => next?.unlock()));
        await eventually(async () => {
          const queued = (await raw.command('LRANGE', queue, 0, -1)) as string[];
          expect(queued).toHaveLength(i);
          owners.splice(0, owners.length, ...queued);
        });
      }
      await raw.command('RPUSH', queue, `${JAVA}:41`);
      await raw.command('ZADD', `redisson_lock_timeout:{${name}}`, Date.now() + 60_000, `${JAVA}:41`);
      const found = ofKind(await client.inspect(name), 'fair');
      expect(found.holders).toMatchObject([{ owner: hold.owner }]);
      expect(found.waiters.map(({ owner }) => owner)).toEqual([...owners, `${JAVA}:41`]);
      expect(found.waiters).toMatchObject([
        { clientId: client.id },
        { clientId: client.id },
        { clientId: JAVA, client: null },
      ]);
      await raw.command('LREM', queue, 0, `${JAVA}:41`);
      await raw.command('ZREM', `redisson_lock_timeout:{${name}}`, `${JAVA}:41`);
      await hold.unlock();
      await Promise.all(waiting);
    });

    it('tells the last token of a fenced lock, held and free', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const hold = await client.getFencedLock(name).lock();
      const lastToken = hold.token;
      expect(await client.inspect(name)).toMatchObject({
        kind: 'fenced',
        holders: [{ owner: hold.owner }],
        lastToken,
      });
      await hold.unlock();
      expect(await client.inspect(name)).toEqual({ key: name, kind: 'fenced', holders: [], lastToken });
      await raw.command('DEL', `redisson_lock_token:{${name}}`);
    });

    it('tells the lease of each reader, and 0 for one whose lease is over', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const lock = client.getReadWriteLock(name).readLock();
      const [short, long] = [await lock.lock({ leaseMs: 20_000 }), await lock.lock({ leaseMs: 90_000 })];
      await raw.command('HSET', name, `${JAVA}:5`, 1);
      const { holders, mode } = ofKind(await client.inspect(name), 'readWrite');
      expect(mode).toBe('read');
      const left = new Map(holders.map(({ owner, remainingMs }) => [owner, remainingMs]));
      expectLeft(left.get(short.owner) as number, 20_000);
      expectLeft(left.get(long.owner) as number, 90_000);
      expect(left.get(`${JAVA}:5`)).toBe(0);
      await raw.command('HDEL', name, `${JAVA}:5`);
    });

    it('says Infinity of a lock of Java that lost its expiry', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      await raw.command('HSET', name, `${JAVA}:7`, 1);
      const { holders } = ofKind(await client.inspect(name), 'lock');
      expect(holders).toMatchObject([
        { clientId: JAVA, client: null, remainingMs: Number.POSITIVE_INFINITY },
      ]);
      await raw.command('DEL', name);
    });
  });

  describe('of synchronizers', () => {
    it('counts the permits of a semaphore and of a latch, where it is told what they are', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const [name, latch] = [randomName(), randomName()];
      await client.getSemaphore(name).trySetPermits(3);
      await client.getSemaphore(name).tryAcquire(2);
      expect(await client.inspect(name)).toEqual({ key: name, kind: 'counter', count: 1 });
      expect(await client.inspect(name, { as: 'semaphore' })).toEqual({
        key: name,
        kind: 'semaphore',
        freePermits: 1,
      });
      await client.getCountDownLatch(latch).trySetCount(4);
      expect(await client.inspect(latch, { as: 'latch' })).toEqual({ key: latch, kind: 'latch', count: 4 });
      await client.getCountDownLatch(latch).delete();
      expect(await client.inspect(latch)).toEqual({ key: latch, kind: 'free' });
      expect(await client.inspect(latch, { as: 'latch' })).toEqual({ key: latch, kind: 'latch', count: 0 });
      await raw.command('PEXPIRE', name, 60_000);
      expect(await client.inspect(name)).toMatchObject({ kind: 'simple' });
      expect(await client.inspect(name, { as: 'semaphore' })).toMatchObject({ freePermits: 1 });
    });

    it('lists the permits of a semaphore with leases, with and without any taken', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const semaphore = client.getPermitExpirableSemaphore(name);
      await semaphore.trySetPermits(4);
      expect(await client.inspect(name)).toEqual({ key: name, kind: 'counter', count: 4 });
      const empty = { key: name, kind: 'permitSemaphore', freePermits: 4, takenPermits: 0, permits: [] };
      expect(await client.inspect(name, { as: 'permitSemaphore' })).toEqual(empty);
      const leased = await semaphore.acquire({ leaseMs: 60_000 });
      const permanent = await semaphore.acquire({ leaseMs: Number.POSITIVE_INFINITY });
      const found = ofKind(await client.inspect(name), 'permitSemaphore');
      expect(found).toMatchObject({ freePermits: 2, takenPermits: 2 });
      expect(found.permits).toEqual([
        { id: leased.id, remainingMs: expect.any(Number), heldSince: expect.any(Date) },
        { id: permanent.id, remainingMs: Number.POSITIVE_INFINITY, heldSince: null },
      ]);
      expectLeft(found.permits[0]?.remainingMs ?? 0, 60_000);
      await Promise.all([leased.release(), permanent.release()]);
      await raw.command('DEL', name);
    });

    it('tells the rate of a limiter and what is free now', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const [name, own] = [randomName(), randomName()];
      const limiter = client.getRateLimiter(name);
      await limiter.trySetRate({ mode: 'overall', rate: 5, intervalMs: 60_000 });
      const rate = { rate: 5, intervalMs: 60_000 };
      const overall = { key: name, kind: 'rateLimiter', mode: 'overall', ...rate };
      expect(await client.inspect(name)).toEqual({ ...overall, freePermits: 5 });
      await limiter.tryAcquire(2);
      expect(await client.inspect(name)).toEqual({ ...overall, freePermits: 3 });
      await client.getRateLimiter(own).trySetRate({ mode: 'perClient', ...rate });
      const perClient = { key: own, kind: 'rateLimiter', mode: 'perClient', ...rate };
      expect(await client.inspect(own)).toEqual({ ...perClient, freePermits: null });
      for (const key of [name, own]) await raw.command('DEL', key);
      for (const side of ['value', 'permits']) await raw.command('DEL', `{${name}}:${side}`);
    });
  });

  describe('in a listing', () => {
    it('has every kind that its layout tells apart, and counters on request', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const id = randomName();
      await client.getFencedLock(`${id}:fenced`).lock();
      await client.getRateLimiter(`${id}:rate`).trySetRate({ mode: 'overall', rate: 5, intervalMs: 60_000 });
      await client.getRateLimiter(`${id}:rate`).tryAcquire();
      const seats = client.getPermitExpirableSemaphore(`${id}:seats`);
      await seats.trySetPermits(2);
      await seats.acquire();
      await client.getSemaphore(`${id}:semaphore`).trySetPermits(3);
      const kinds = async (counters: boolean) =>
        (await client.list(`*${id}*`, { counters })).map(({ key, kind }) => [key.slice(id.length + 1), kind]);
      const sure = [
        ['fenced', 'fenced'],
        ['rate', 'rateLimiter'],
        ['seats', 'permitSemaphore'],
      ];
      expect(await kinds(false)).toEqual(sure);
      expect(await kinds(true)).toEqual([...sure, ['semaphore', 'counter']]);
      await raw.command('DEL', `redisson_lock_token:{${id}:fenced}`);
    });

    it('finds hundreds in slices, each once, with the labels of their clients', async () => {
      const [ours, theirs] = [
        await context.client({ label: 'ours' }),
        await context.client({ label: 'theirs' }),
      ];
      const id = randomName();
      const names = Array.from({ length: 250 }, (_, i) => `${id}:${String(i).padStart(3, '0')}`);
      await Promise.all(names.map((name, i) => (i % 2 === 0 ? ours : theirs).getLock(name).lock()));
      const expected = names.map((key, i) => [key, i % 2 === 0 ? 'ours' : 'theirs']);
      const looker = await context.client();
      await eventually(async () => {
        const found = await looker.list(`${id}:*`);
        const seen = found.map((one) => [one.key, ofKind(one, 'lock').holders[0].client?.label]);
        expect(seen).toEqual(expected);
      });
    });
  });

  describe('of clients', () => {
    it('has a record from the first grant on, which is gone when the client closes', async () => {
      const client = await context.client({ label: 'short-lived' });
      const raw = await context.raw();
      const key = `holdfast_client:{${client.id}}`;
      await client.capabilities();
      expect(await client.getSemaphore(randomName()).availablePermits()).toBe(0);
      expect(await raw.command('EXISTS', key)).toBe(0);
      await client.getLock(randomName()).lock();
      await eventually(async () => expect(await raw.command('EXISTS', key)).toBe(1));
      expectLeft(Number(await raw.command('PTTL', key)), 30_000);
      const record = JSON.parse(String(await raw.command('GET', key)));
      expect(record).toMatchObject({ label: 'short-lived', pid: process.pid });
      await client.close();
      expect(await raw.command('EXISTS', key)).toBe(0);
    });

    it('keeps the record while something is held, and only then', async () => {
      const client = await context.client({ watchdogMs: 900 });
      const raw = await context.raw();
      const key = `holdfast_client:{${client.id}}`;
      const hold = await client.getLock(randomName()).lock();
      await eventually(async () => expect(await raw.command('EXISTS', key)).toBe(1));
      await raw.command('DEL', key);
      await eventually(async () => expect(await raw.command('EXISTS', key)).toBe(1));
      await hold.unlock();
      await eventually(async () => expect(await raw.command('EXISTS', key)).toBe(0), { withinMs: 8_000 });
    });

    it('names the holder and its label in the error of a caller that waited', async () => {
      const [ours, theirs] = [await context.client({ label: 'night shift' }), await context.client()];
      const name = randomName();
      const hold = await ours.getLock(name).lock();
      await eventually(async () => {
        const error = await rejection(theirs.getLock(name).withLock(() => 1, { waitMs: 0 }));
        expect(error).toBeInstanceOf(AcquireTimeoutError);
        expect(error).toMatchObject({
          message: expect.stringContaining(`: ${hold.owner} (night shift) holds it for another`),
          heldBy: { holder: hold.owner, label: 'night shift', remainingMs: expect.any(Number) },
        });
      });
      const group = theirs.getMultiLock(theirs.getLock(name), theirs.getLock(randomName()));
      const error = await rejection(group.withLock(() => 1, { waitMs: 0 }));
      expect(error).toMatchObject({ heldBy: { holder: hold.owner, label: 'night shift' } });
    });

    it('is in the events that name an owner', async () => {
      const client = await context.client({ label: 'night shift' });
      const lost: ClientEvents['lost'][] = [];
      client.on('lost', (event) => lost.push(event));
      const hold = await client.getLock(randomName()).lock();
      await client.getLock(hold.name).forceUnlock();
      const { name, owner } = hold;
      expect(lost).toEqual([{ kind: 'lock', name, owner, label: 'night shift', reason: 'forced' }]);
    });

    onOneServer(context, it)('is in the names of connections, but never of the user\u2019s own', async () => {
      const raw = await context.raw();
      const label = `büro ${randomName()}`;
      const client = await context.client({ label });
      const other = await context.client();
      const name = randomName();
      const hold = await other.getLock(name).lock();
      const waiting = client.getLock(name).lock();
      const named = `name=holdfast:${label.replace('ü', '_').replace(' ', '_')} `;
      const lines = async () =>
        String(await raw.command('CLIENT', 'LIST'))
          .split('\n')
          .filter((line) => line.includes(named));
      await eventually(async () => expect(await lines()).toHaveLength(1));
      expect((await lines())[0]).toMatch(/ (sub|ssub)=1 /);
      await hold.unlock();
      await (await waiting).unlock();
    });
  });

  describe('with wrong input', () => {
    it('is refused before anything is sent', async () => {
      const client = await context.client();
      for (const options of [{ as: 'lock' }, { as: 1 }, { kind: 'latch' }, 7, null]) {
        expect(await rejection(client.inspect('a', options as never))).toBeInstanceOf(OptionError);
      }
      for (const options of [{ counters: 'yes' }, { counter: true }, 'all']) {
        expect(await rejection(client.list('a*', options as never))).toBeInstanceOf(OptionError);
      }
    });
  });

  if (isOneServer) {
    describeWithProcess('without permission for records', () => {
      it('locks work, others see no label, and one warning says why', async () => {
        const server = await ownServer();
        const rules = ['on', '>pw', '~orders:*', '~redisson_*', '&*', '+@all'];
        await server.command('ACL', 'SETUSER', 'older', ...rules);
        const { host, port } = server;
        const login = { host, port, username: 'older', password: 'pw' };
        const client = await context.client({ watchdogMs: 900 }, login);
        const warnings: string[] = [];
        client.on('warning', ({ code }) => warnings.push(code));
        const hold = await client.getLock('orders:1').lock();
        await eventually(() => expect(warnings).toEqual(['HOLDFAST_NO_LABEL']));
        const other = await context.client({}, login);
        other.on('warning', () => {});
        const error = await rejection(other.getLock('orders:1').withLock(() => 1, { waitMs: 0 }));
        expect(error).toMatchObject({ heldBy: { holder: hold.owner, label: undefined } });
        expect(await hold.unlock()).toBe(true);
        expect(await client.health()).toMatchObject({ status: 'ok', problems: [] });
        expect(warnings).toEqual(['HOLDFAST_NO_LABEL']);
      });
    });
  }
});
