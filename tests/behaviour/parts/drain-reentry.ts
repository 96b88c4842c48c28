/** What a running section may still take while its client drains: what its owner holds already, and nothing else. */
import { describe, expect, it } from 'vitest';
import { ClosedError, type Holdfast, type Lock } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import type { Context } from '../support/context.ts';
import { REENTRANT_KINDS } from '../support/kinds.ts';
import { Room, rejection } from '../support/moments.ts';

const DRAIN_MS = 60_000;

/** Runs the work in a section that goes on while its client drains, and resolves when both are over. */
async function whileDraining<T>(client: Holdfast, lock: Lock, work: () => Promise<T>): Promise<T> {
  let closing: Promise<void> | undefined;
  const result = await lock.withLock(() => {
    closing = client.close({ drainMs: DRAIN_MS });
    return work();
  });
  await closing;
  return result;
}

export function describeDrainReentry(context: Context): void {
  describe('a section of a client that drains', () => {
    it.each(REENTRANT_KINDS.map((kind) => [kind.title, kind] as const))(
      'enters %s again',
      async (_, kind) => {
        const client = await context.client();
        const name = randomName();
        const counts = await whileDraining(client, kind.of(client, name), () =>
          // A new object: a section may have to make one to enter the lock again.
          kind.of(client, name).withLock(async () => {
            const inner = kind.of(client, name);
            const hold = await inner.lock();
            const count = await inner.getHoldCount();
            await hold.unlock();
            return [count, await inner.getHoldCount()];
          }),
        );
        expect(counts).toEqual([3, 2]);
        const raw = await context.raw();
        expect(await raw.command('EXISTS', name)).toBe(0);
      },
    );

    it('enters again from parallel calls, which take turns', async () => {
      const client = await context.client();
      const lock = client.getLock(randomName());
      const room = new Room();
      await whileDraining(client, lock, () =>
        Promise.all([1, 2, 3].map((i) => lock.withLock(() => room.visit(`${i}`, () => lock.getHoldCount())))),
      );
      expect(room.visitors).toEqual(['1', '2', '3']);
      expect(room.most).toBe(1);
    });

    it('enters again by an explicit owner, and in a scope', async () => {
      const client = await context.client();
      const [me, lock] = [client.owner(), client.getLock(randomName())];
      const first = await lock.lock({ owner: me });
      const entered = client.scope(async () => {
        const inScope = client.getLock(randomName());
        const outer = await inScope.lock();
        const closing = client.close({ drainMs: DRAIN_MS });
        const inner = await inScope.lock();
        expect(await inScope.getHoldCount()).toBe(2);
        const second = await lock.lock({ owner: me });
        expect(await lock.getHoldCount({ owner: me })).toBe(2);
        for (const hold of [inner, outer, second, first]) expect(await hold.unlock()).toBe(true);
        return closing;
      });
      await entered;
    });

    it('does not enter again what it has released', async () => {
      const client = await context.client();
      const other = await client.getLock(randomName()).lock();
      await client.scope(async () => {
        const lock = client.getLock(randomName());
        const hold = await lock.lock();
        const closing = client.close({ drainMs: DRAIN_MS });
        await hold.unlock();
        expect(await rejection(lock.lock())).toBeInstanceOf(ClosedError);
        await other.unlock();
        await closing;
      });
    });

    it('reads what it writes, and keeps the read lock when it no longer writes', async () => {
      const [client, other] = [await context.client(), await context.client()];
      const name = randomName();
      const book = client.getReadWriteLock(name);
      await client.scope(async () => {
        const writing = await book.writeLock().lock();
        const closing = client.close({ drainMs: DRAIN_MS });
        const reading = await book.readLock().lock();
        expect(await writing.unlock()).toBe(true);
        reading.assertHeld();
        expect(await rejection(book.writeLock().lock())).toMatchObject({ code: 'ERR_REENTRY' });
        expect(await other.getReadWriteLock(name).writeLock().tryLock()).toBeNull();
        expect(await reading.unlock()).toBe(true);
        await closing;
      });
      expect(await other.getReadWriteLock(name).writeLock().tryLock()).not.toBeNull();
    });

    it('does not read what it does not write', async () => {
      const client = await context.client();
      const hold = await client.getReadWriteLock(randomName()).writeLock().lock();
      const closing = client.close({ drainMs: DRAIN_MS });
      const another = client.getReadWriteLock(hold.name).readLock();
      expect(await rejection(another.tryLock())).toBeInstanceOf(ClosedError);
      await hold.unlock();
      await closing;
    });

    it('enters a multi lock again, and none with a member it does not hold', async () => {
      const client = await context.client();
      const tag = randomName();
      const locks = [1, 2].map((i) => client.getLock(`{${tag}}:${i}`));
      const both = client.getMultiLock(...locks);
      const counts = await whileDraining(client, both, async () => {
        const three = client.getMultiLock(...locks, client.getLock(`{${tag}}:3`));
        expect(await rejection(three.lock())).toBeInstanceOf(ClosedError);
        expect(await rejection(three.withLock(() => expect.unreachable('it ran')))).toBeInstanceOf(
          ClosedError,
        );
        return both.withLock(() => Promise.all(locks.map((lock) => lock.getHoldCount())));
      });
      expect(counts).toEqual([2, 2]);
      const raw = await context.raw();
      for (const i of [1, 2, 3]) expect(await raw.command('EXISTS', `{${tag}}:${i}`)).toBe(0);
    });

    it('is refused every other lock, by withLock, lock and tryLock', async () => {
      const client = await context.client();
      await whileDraining(client, client.getLock(randomName()), async () => {
        const other = client.getLock(randomName());
        const calls = [other.withLock(() => expect.unreachable('it ran')), other.lock(), other.tryLock()];
        for (const error of await Promise.all(calls.map(rejection))) {
          expect(error).toBeInstanceOf(ClosedError);
          expect(error).toMatchObject({ code: 'ERR_CLOSED' });
        }
      });
    });
  });
}
