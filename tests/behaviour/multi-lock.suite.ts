/**
 * What the multi lock promises while it is being taken: all or nothing, in one order for everybody, in as few
 * round trips as can be, and nothing left behind. What it promises once it is held is in `multi-lock-held.suite.ts`.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { AcquireTimeoutError, ClosedError, Holdfast, type Lock, OptionError } from '../../src/index.ts';
import { fairQueueKey, fairTimeoutKey, tokenKey } from '../../src/keys.ts';
import type { RawView } from '../harness/cluster-connection.ts';
import { randomName } from '../harness/names.ts';
import { itWithProcess, ownProxy, ownServer, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough, onOneServer } from './support/context.ts';
import { Room, rejection, timed } from './support/moments.ts';

type KindOf = (client: Holdfast, name: string) => Lock;

const KINDS: readonly (readonly [string, KindOf])[] = [
  ['getLock', (client, name) => client.getLock(name)],
  ['getNonReentrantLock', (client, name) => client.getNonReentrantLock(name)],
  ['getSpinLock', (client, name) => client.getSpinLock(name)],
  ['getSimpleLock', (client, name) => client.getSimpleLock(name)],
  ['getFencedLock', (client, name) => client.getFencedLock(name)],
  ['getFairLock', (client, name) => client.getFairLock(name)],
  ['readLock', (client, name) => client.getReadWriteLock(name).readLock()],
  ['writeLock', (client, name) => client.getReadWriteLock(name).writeLock()],
];

async function existing(raw: RawView, names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) if ((await raw.command('EXISTS', name)) === 1) found.push(name);
  return found;
}

function oneOfEach(client: Holdfast): Lock[] {
  return KINDS.map(([, kindOf]) => kindOf(client, randomName()));
}

const namesOf = (locks: readonly Lock[]) => locks.map(({ name }) => name);

/** Two names in their order. */
function twoNames(): [string, string] {
  const name = randomName();
  return [`${name}:a`, `${name}:b`];
}

function giveUpLater(): { readonly signal: AbortSignal; now(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, now: () => controller.abort() };
}

function describeMultiLock(context: Context): void {
  describeTaking(context);
  describeOrder(context);
  describeGivingUp(context);
  describeLeases(context);
  describeWhatIsRefused(context);
}

function describeTaking(context: Context): void {
  describe('taking', () => {
    it('takes one lock of each kind, of two clients, and frees them all', async () => {
      const [one, two] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const locks = [...oneOfEach(one), ...oneOfEach(two)];
      const multi = one.getMultiLock(...locks);
      const hold = await multi.lock();
      expect(await existing(raw, namesOf(locks))).toHaveLength(2 * KINDS.length);
      expect(hold.owner.split(' ')).toHaveLength(2 * KINDS.length);
      expect(hold.name).toBe(multi.name);
      hold.assertHeld();
      expect(await hold.unlock()).toBe(true);
      expect(await existing(raw, namesOf(locks))).toEqual([]);
    });

    it.each(KINDS)('keeps no member when one is taken: %s', async (_, kindOf) => {
      const [one, two] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      // The one that is taken comes first, in the middle and last in the order.
      for (const [before, after] of [
        ['c', 'd'],
        ['a', 'd'],
        ['a', 'b'],
      ]) {
        const taken = `${name}:${before === 'c' ? 'a' : after === 'd' ? 'b' : 'c'}`;
        await using _theirs = await two.getReadWriteLock(taken).writeLock().lock();
        const others = [`${name}:${before}`, `${name}:${after}`];
        const member = one.getReadWriteLock(taken).writeLock();
        const multi = one.getMultiLock(...others.map((other) => kindOf(one, other)), member);
        expect(await multi.tryLock()).toBeNull();
        expect(await multi.tryLock({ waitMs: 30 })).toBeNull();
        expect(await existing(raw, others)).toEqual([]);
      }
    });

    onOneServer(context, it)('takes many permits at once in the time of one', async () => {
      const proxy = await ownProxy(sharedServer());
      const client = await context.client({}, proxy);
      await client.getMultiLock(...oneOfEach(client)).withLock(() => 'scripts are known from here on');
      const locks = [...oneOfEach(client), ...oneOfEach(client)];
      proxy.delay(150);
      const { result, tookMs } = await timed(() => client.getMultiLock(...locks).lock());
      proxy.delay(0);
      expect(tookMs).toBeGreaterThan(290);
      expect(tookMs).toBeLessThan(2 * locks.length * 150);
      expect(await result.unlock()).toBe(true);
    });

    it('is granted as soon as the last busy member is free, whatever its position', async () => {
      const [one, two] = [await context.client(), await context.client()];
      const raw = await context.raw();
      for (const place of ['a', 'b', 'c']) {
        const name = randomName();
        const names = ['a', 'b', 'c'].map((letter) => `${name}:${letter}`);
        const theirs = await two.getLock(`${name}:${place}`).lock();
        const waiting = one.getMultiLock(...names.map((each) => one.getLock(each))).lock();
        // What comes before is held meanwhile, what comes after is not.
        const before = names.slice(0, names.indexOf(theirs.name) + 1);
        await eventually(async () => expect(await existing(raw, names)).toEqual(before));
        await theirs.unlock();
        const { result, tookMs } = await timed(() => waiting);
        expect(tookMs).toBeLessThan(3_500);
        result.assertHeld();
        expect(await result.unlock()).toBe(true);
      }
    });
  });
}

function describeOrder(context: Context): void {
  describe('two callers that list the same locks in opposite orders', () => {
    /** Each takes both locks many times, in an order of its own. */
    async function contend(ones: readonly Lock[], others: readonly Lock[], rounds: number): Promise<void> {
      const client = await context.client();
      const room = new Room();
      const turns = async (locks: readonly Lock[]) => {
        for (let round = 0; round < rounds; round += 1) {
          await client.getMultiLock(...locks).withLock(() => room.visit('inside', () => Promise.resolve()));
        }
      };
      await Promise.all([turns(ones), turns(others)]);
      expect(room.visitors).toHaveLength(2 * rounds);
      expect(room.most).toBe(1);
    }

    it('never deadlock', async () => {
      const [one, two] = [await context.client(), await context.client()];
      const names = [randomName(), randomName(), randomName()];
      await contend(
        names.map((name) => one.getLock(name)),
        names.reverse().map((name) => two.getLock(name)),
        15,
      );
    });

    onOneServer(context, itWithProcess)('never deadlock if one name means locks on two servers', async () => {
      const server = await ownServer();
      const clients = [await context.client(), await context.client({}, server)];
      const others = [await context.client({}, server), await context.client()];
      const name = randomName();
      await contend(
        clients.map((client) => client.getLock(name)),
        others.map((client) => client.getLock(name)),
        8,
      );
    });

    onOneServer(context, it)(
      'never deadlock if one name means locks in two databases of one server',
      async () => {
        const { host, port } = sharedServer();
        const open = async (db: number) => {
          const client = await Holdfast.connect({ host, port, db });
          onTestFinished(() => client.close());
          return client;
        };
        const [one, two, three, four] = [await open(0), await open(1), await open(1), await open(0)];
        const name = randomName();
        await contend([one.getLock(name), two.getLock(name)], [three.getLock(name), four.getLock(name)], 4);
      },
    );

    it('exclude each other when they share one lock', async () => {
      const [one, two] = [await context.client(), await context.client()];
      const shared = randomName();
      await contend(
        [one.getLock(randomName()), one.getLock(shared)],
        [two.getLock(shared), two.getLock(randomName())],
        15,
      );
    });
  });
}

function describeGivingUp(context: Context): void {
  describe('giving up', () => {
    it('frees the acquired members when the time has passed, and names the holder of the busy one', async () => {
      const [one, two] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const [a, b] = twoNames();
      await using theirs = await two.getLock(b).lock();
      const multi = one.getMultiLock(one.getLock(a), one.getLock(b));
      expect(await multi.tryLock({ waitMs: 50 })).toBeNull();
      expect(await existing(raw, [a])).toEqual([]);
      const error = await rejection(multi.withLock(() => 'never', { waitMs: 50 }));
      expect(error).toBeInstanceOf(AcquireTimeoutError);
      expect(error).toMatchObject({ lockName: `${a} + ${b}`, holder: theirs.owner, waitedMs: 50 });
      expect(await existing(raw, [a])).toEqual([]);
    });

    it('when aborted: rejects with the reason at once and leaves nothing behind', async () => {
      const [one, two] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const [a, b] = twoNames();
      await using _theirs = await two.getFairLock(b).lock();
      const controller = new AbortController();
      const multi = one.getMultiLock(one.getLock(a), one.getFairLock(b));
      const refused = rejection(multi.lock({ signal: controller.signal }));
      await eventually(async () => expect(await existing(raw, [a, fairQueueKey(b)])).toHaveLength(2));
      const reason = new Error('changed my mind');
      controller.abort(reason);
      expect(await refused).toBe(reason);
      await eventually(async () => expect(await existing(raw, [a, fairQueueKey(b)])).toEqual([]));
      const late = rejection(multi.lock({ signal: controller.signal }));
      expect(await late).toBe(reason);
    });

    it('when aborted with attempts in flight: the attempts take nothing', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const locks = oneOfEach(client);
      const multi = client.getMultiLock(...locks);
      await multi.withLock(() => undefined);
      for (let round = 0; round < 10; round += 1) {
        const controller = new AbortController();
        const refused = rejection(multi.lock({ signal: controller.signal }));
        if (round % 2 === 1) await Promise.resolve();
        controller.abort(round);
        expect(await refused).toBe(round);
      }
      await client.close();
      expect(await existing(raw, namesOf(locks))).toEqual([]);
    });

    it('when the client of one member is closed: the others are freed', async () => {
      const [one, two] = [await context.client(), await context.client()];
      const raw = await context.raw();
      for (const [open, closed] of [twoNames(), twoNames().reverse()]) {
        const leaving = await context.client();
        const multi = one.getMultiLock(one.getLock(open as string), leaving.getLock(closed as string));
        await using _theirs = await two.getLock(closed as string).lock();
        const waiting = rejection(multi.lock());
        await eventually(async () => (await existing(raw, [closed as string])).length === 1);
        await leaving.close();
        expect(await waiting).toBeInstanceOf(ClosedError);
        expect(await rejection(multi.tryLock())).toBeInstanceOf(ClosedError);
        expect(await rejection(multi.withLock(() => 'never'))).toBeInstanceOf(ClosedError);
        await eventually(async () => expect(await existing(raw, [open as string])).toEqual([]));
      }
    });

    it('starts over when a member is lost while it waits for others', async () => {
      const [one, two, three] = [await context.client(), await context.client(), await context.client()];
      const raw = await context.raw();
      const [a, b] = twoNames();
      const last = await two.getLock(b).lock();
      const waiting = one.getMultiLock(one.getLock(a), one.getLock(b)).lock();
      await eventually(async () => (await existing(raw, [a])).length === 1);
      // By force, from the same client: it hears of it at once.
      await one.getLock(a).forceUnlock();
      const between = three.getLock(a).withLock(() => existing(raw, [a]));
      await last.unlock();
      const hold = await waiting;
      hold.assertHeld();
      expect(await existing(raw, [a, b])).toEqual([a, b]);
      expect(await hold.unlock()).toBe(true);
      // Before or after: both wanted it from the same moment on.
      expect(await between).toEqual([a]);
    });
  });
}

function describeLeases(context: Context): void {
  describe('leases', () => {
    it('do not end while the lock waits for other members, and start again with the last grant', async () => {
      const [one, two] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const [a, b] = twoNames();
      const leaseMs = 2_500;
      const theirs = await two.getLock(b).lock();
      const waiting = one.getMultiLock(one.getLock(a), one.getLock(b)).lock({ leaseMs });
      await eventually(async () => (await existing(raw, [a])).length === 1);
      const owner = (await raw.command('HKEYS', a)) as string[];
      const from = performance.now();
      await eventually(() => performance.now() - from > 1.3 * leaseMs);
      expect(await raw.command('HKEYS', a)).toEqual(owner);
      await theirs.unlock();
      const hold = await waiting;
      for (const name of [a, b]) {
        const leftMs = Number(await raw.command('PTTL', name));
        expect(leftMs).toBeLessThanOrEqual(leaseMs);
        expect(leftMs).toBeGreaterThan(leaseMs / 2);
      }
      expect(hold.remainingMs).toBeGreaterThan(leaseMs / 2);
      expect(await hold.unlock()).toBe(true);
    });

    it('change only the lock keys: tokens, queues and holds of other owners keep theirs', async () => {
      const [one, two] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const [fenced, fair, plain] = [`${name}:a`, `${name}:b`, `${name}:c`];
      const theirs = await two.getLock(plain).lock();
      const locks = [one.getFencedLock(fenced), one.getFairLock(fair), one.getLock(plain)];
      const leaseMs = 3_000;
      const waiting = one.getMultiLock(...locks).lock({ leaseMs });
      await eventually(async () => (await existing(raw, [fenced, fair])).length === 2);
      const queued = two.getFairLock(fair).lock();
      await eventually(async () => (await existing(raw, [fairQueueKey(fair)])).length === 1);
      // The first is deleted, and another owner, who knows nothing of us, takes it for a long time.
      await raw.command('DEL', fenced);
      await raw.command('HSET', fenced, 'somebody:1', '1');
      await raw.command('PEXPIRE', fenced, 60_000);
      await theirs.unlock();
      await eventually(async () => (await existing(raw, [plain])).length === 0, { withinMs: 10_000 });
      expect(await raw.command('HGETALL', fenced)).toEqual(['somebody:1', '1']);
      expect(Number(await raw.command('PTTL', fenced))).toBeGreaterThan(30_000);
      await (await queued).unlock();
      await raw.command('DEL', fenced);
      const hold = await waiting;
      await hold.extend(20_000);
      for (const key of [tokenKey(fenced)]) expect(await raw.command('PTTL', key)).toBe(-1);
      const { signal, ...giveUp } = giveUpLater();
      const next = rejection(two.getFairLock(fair).lock({ signal }));
      await eventually(async () => (await existing(raw, [fairQueueKey(fair)])).length === 1);
      await hold.extend(40_000);
      expect(await raw.command('PTTL', fairQueueKey(fair))).toBe(-1);
      expect(await raw.command('PTTL', fairTimeoutKey(fair))).toBe(-1);
      for (const key of [fenced, fair, plain]) {
        expect(Number(await raw.command('PTTL', key))).toBeGreaterThan(30_000);
      }
      giveUp.now();
      expect(await next).toBe(signal.reason);
      expect(await hold.unlock()).toBe(true);
    });
  });
}

function describeWhatIsRefused(context: Context): void {
  describe('is refused', () => {
    it('for members that are not locks, and for an empty list', async () => {
      const client = await context.client();
      const multi = client.getMultiLock(client.getLock(randomName()));
      expect(() => client.getMultiLock()).toThrow(OptionError);
      expect(() => client.getMultiLock(multi)).toThrow(OptionError);
      expect(() => client.getMultiLock({ name: 'x' } as Lock)).toThrow(OptionError);
    });

    it('for a lock listed twice, under any kind of lock', async () => {
      const client = await context.client();
      const name = randomName();
      const both = client.getReadWriteLock(name);
      expect(() => client.getMultiLock(client.getLock(name), client.getLock(name))).toThrow(OptionError);
      expect(() => client.getMultiLock(client.getLock(name), client.getFairLock(name))).toThrow(OptionError);
      expect(() => client.getMultiLock(both.readLock(), both.writeLock())).toThrow(OptionError);
    });

    it('for a lock listed twice through two clients, which would wait for itself', async () => {
      const [one, two] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const error = await rejection(one.getMultiLock(one.getLock(name), two.getLock(name)).lock());
      expect(error).toBeInstanceOf(OptionError);
      expect(String(error)).toContain('are the same lock');
      expect(await existing(raw, [name])).toEqual([]);
    });

    it('for an owner of a client without a member, and for unknown options', async () => {
      const [one, two] = [await context.client(), await context.client()];
      const multi = one.getMultiLock(one.getLock(randomName()));
      expect(await rejection(multi.lock({ owner: two.owner() }))).toBeInstanceOf(OptionError);
      expect(await rejection(multi.lock({ leaseMs: 0 }))).toBeInstanceOf(OptionError);
      expect(await rejection(multi.tryLock({ wait: 1 } as object))).toBeInstanceOf(OptionError);
      expect(await rejection(multi.withLock('work' as never))).toBeInstanceOf(OptionError);
    });
  });
}

describeThrough('multi lock', describeMultiLock);
