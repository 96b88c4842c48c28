/** Closing a client: nobody is left waiting, nothing is left held, and the user's client is left alone. */
import { describe, expect, it } from 'vitest';
import { ClosedError, Holdfast, type Lock } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { ownProxy, sharedServer } from '../../harness/servers.ts';
import { eventually } from '../../harness/wait.ts';
import { subscribersOf, untilWaiting } from '../support/by-hand.ts';
import { type BringYourOwn, type Context, onOneServer } from '../support/context.ts';
import { KINDS, REENTRANT } from '../support/kinds.ts';
import { rejection, timed } from '../support/moments.ts';

export function describeClose(context: Context): void {
  describe('closing a client', () => {
    it('rejects waiters with ClosedError', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const hold = await ours.getLock(name).lock();
      const lock = theirs.getLock(name);
      const refused = [
        rejection(lock.lock()),
        rejection(lock.tryLock({ waitMs: 60_000 })),
        rejection(lock.withLock(() => expect.unreachable('the work ran'))),
        rejection(theirs.getSpinLock(name).lock()),
      ];
      await untilWaiting(raw, REENTRANT, name);
      await theirs.close();
      for (const error of await Promise.all(refused)) expect(error).toBeInstanceOf(ClosedError);
      await eventually(async () => (await subscribersOf(raw, name)) === 0);
      hold.assertHeld();
      await hold.unlock();
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('rejects a waiter that has just called', async () => {
      const client = await context.client();
      const lock = client.getLock(randomName());
      const refused = [rejection(lock.lock()), rejection(lock.withLock(() => 'too late'))];
      const closing = client.close();
      for (const error of await Promise.all(refused)) expect(error).toBeInstanceOf(ClosedError);
      await closing;
      const raw = await context.raw();
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
    });

    it('aborts the signals of holders and releases their locks', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const lost: unknown[] = [];
      client.on('lost', ({ reason }) => lost.push(reason));
      const holds = await Promise.all(KINDS.map((kind) => kind.of(client, randomName()).lock()));
      const leased = await client.getLock(randomName()).lock({ leaseMs: 60_000 });
      const me = client.owner();
      const twice = client.getLock(randomName());
      const entries = [await twice.lock({ owner: me }), await twice.lock({ owner: me })];
      const all = [...holds, leased, ...entries];
      const signals = all.map((hold) => hold.signal);
      await client.close();
      for (const signal of signals) {
        expect(signal.reason).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'closed' });
      }
      for (const { name } of all) expect(await raw.command('EXISTS', name), name).toBe(0);
      expect(lost).toEqual(Array.from({ length: KINDS.length + 2 }, () => 'closed'));
      for (const hold of all) {
        expect(() => hold.assertHeld()).toThrow(expect.objectContaining({ reason: 'closed' }));
        expect(hold.remainingMs).toBe(0);
        expect(await hold.unlock()).toBe(false);
      }
    });

    it('rejects a running withLock with the error of the work, or with the loss', async () => {
      const client = await context.client();
      const lock = client.getLock(randomName());
      const closed = lock.withLock(() => client.close().then(() => 'done in vain'));
      expect(await rejection(closed)).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'closed' });
    });

    it('refuses every call from then on', async () => {
      const client = await context.client();
      const lock = client.getLock(randomName());
      const hold = await lock.lock();
      await client.close();
      const calls: ((lock: Lock) => Promise<unknown>)[] = [
        (it) => it.lock(),
        (it) => it.tryLock(),
        (it) => it.withLock(() => 1),
        (it) => it.unlock(),
        (it) => it.forceUnlock(),
        (it) => it.isLocked(),
        (it) => it.isHeld(),
        (it) => it.getHoldCount(),
        (it) => it.getRemainingMs(),
        () => client.inspect('name'),
        () => client.list(),
        () => client.capabilities(),
      ];
      for (const call of calls) {
        const error = await rejection(call(lock));
        expect(error).toBeInstanceOf(ClosedError);
        expect(error).toMatchObject({ code: 'ERR_CLOSED' });
      }
      for (const kind of KINDS) expect(() => kind.of(client, 'name')).toThrow(ClosedError);
      expect(await rejection(hold.extend(1_000))).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'closed' });
    });

    it('can be called more than once, and by the end of a block', async () => {
      const client = await context.client();
      const hold = await client.getLock(randomName()).lock();
      const { signal } = hold;
      const first = client.close();
      expect(client.close()).toBe(first);
      await first;
      await client.close();
      expect(signal.reason).toMatchObject({ reason: 'closed' });

      const other = await context.client();
      const name = randomName();
      {
        await using closing = other;
        await closing.getLock(name).lock();
      }
      expect(() => other.getLock(name)).toThrow(ClosedError);
      const raw = await context.raw();
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    onOneServer(context, it)(
      'ends within about one command time-out when the server does not answer',
      async () => {
        const proxy = await ownProxy(sharedServer());
        const client = await context.client({ commandTimeoutMs: 1_000 }, proxy);
        const hold = await client.getLock(randomName()).lock();
        const { signal } = hold;
        client.on('error', () => {});
        proxy.blackhole();
        const { tookMs } = await timed(() => client.close());
        // Its own connections are given another half second to close politely.
        expect(tookMs).toBeLessThan(3_500);
        expect(signal.reason).toMatchObject({ reason: 'closed' });
      },
    );
  });
}

export function describeBringYourOwn(context: BringYourOwn): void {
  describe("a user's own client", () => {
    it('is neither closed nor reconfigured', async () => {
      const user = await context.userClient();
      const client = Holdfast.from(user.redis);
      const other = await context.client();
      const name = randomName();
      const hold = await other.getLock(name).lock();
      const waiter = rejection(client.getLock(name).lock());
      const raw = await context.raw();
      await untilWaiting(raw, REENTRANT, name);
      // While it waits, the user's client is no subscriber: that is a connection of its own.
      expect(await user.ping()).toBe('PONG');
      await client.close();
      expect(await waiter).toBeInstanceOf(ClosedError);
      expect(await user.ping()).toBe('PONG');
      const second = Holdfast.from(user.redis);
      await hold.unlock();
      expect(await second.getLock(name).withLock(() => 'still there')).toBe('still there');
      await second.close();
      expect(await user.ping()).toBe('PONG');
    });

    it('can serve several holdfast clients, which exclude each other', async () => {
      const user = await context.userClient();
      const [one, two] = [Holdfast.from(user.redis), Holdfast.from(user.redis)];
      expect(one.id).not.toBe(two.id);
      const name = randomName();
      await one.getLock(name).lock();
      expect(await two.getLock(name).tryLock()).toBeNull();
      await one.close();
      expect(await two.getLock(name).tryLock()).not.toBeNull();
      await two.close();
    });
  });
}
