/** `client.withLocks`: work under the locks of several names. */
import { expect, it } from 'vitest';
import { AcquireTimeoutError, type Hold, OptionError } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { type Context, describeThrough } from './support/context.ts';
import { gate, Room, rejection } from './support/moments.ts';

/** Names in their order. */
function namesIn(order: readonly string[]): string[] {
  const name = randomName();
  return order.map((end) => `${name}:${end}`);
}

function describeWithLocks(context: Context): void {
  it('holds all of them while the work runs, and none afterwards', async () => {
    const client = await context.client();
    const names = namesIn(['a', 'b', 'c']);
    const held = () => Promise.all(names.map((name) => client.getLock(name).isLocked()));
    const inside = await client.withLocks([...names].reverse(), async (hold) => {
      hold.assertHeld();
      expect(hold.name).toBe(names.join(' + '));
      return held();
    });
    expect(inside).toEqual([true, true, true]);
    expect(await held()).toEqual([false, false, false]);
    const why = new Error('of the work');
    expect(await rejection(client.withLocks(names, () => Promise.reject(why)))).toBe(why);
    expect(await held()).toEqual([false, false, false]);
  });

  it('lets two callers with opposite orders in one after the other, and both in the end', async () => {
    const [one, two] = [await context.client(), await context.client()];
    const names = namesIn(['a', 'b', 'c']);
    const room = new Room();
    const visits = Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? one : two).withLocks(i % 4 < 2 ? names : [...names].reverse(), () => room.visit(`${i}`)),
    );
    await Promise.all(visits);
    expect(room.visitors).toHaveLength(20);
    expect(room.most).toBe(1);
  });

  it('excludes those who hold one of the locks, and leaves the others alone when it gives up', async () => {
    const [one, two] = [await context.client(), await context.client()];
    const [a, b] = namesIn(['a', 'b']) as [string, string];
    await using _theirs = await two.getLock(b).lock();
    const waiting = one.withLocks([a, b], () => expect.unreachable(), { waitMs: 50 });
    expect(await rejection(waiting)).toBeInstanceOf(AcquireTimeoutError);
    expect(await two.getLock(a).isLocked()).toBe(false);
  });

  it('takes a name that is given twice, or that is mapped to the same key, once', async () => {
    const client = await context.client({ mapName: (name) => name.toLowerCase() });
    const [a, b] = namesIn(['a', 'b']) as [string, string];
    const count = (hold: Hold) => hold.owner.split(' ').length;
    expect(await client.withLocks([a, b, a, a.toUpperCase()], count)).toBe(2);
    expect(await client.withLocks([a, a], count)).toBe(1);
  });

  it('can be entered again, and enters what is held', async () => {
    const client = await context.client();
    const [a, b] = namesIn(['a', 'b']) as [string, string];
    const inner = await client
      .getLock(a)
      .withLock(() =>
        client.withLocks([a, b], () => client.withLocks([b], () => client.getLock(b).getHoldCount())),
      );
    expect(inner).toBe(2);
  });

  it('passes its options on', async () => {
    const client = await context.client();
    const told: unknown[] = [];
    const options = {
      leaseMs: 5_000,
      onAcquire: () => told.push('acquired'),
      onRelease: (_hold: Hold, released: boolean) => told.push(released),
    };
    const left = await client.withLocks(namesIn(['a', 'b']), ({ remainingMs }) => remainingMs, options);
    expect(left).toBeLessThanOrEqual(5_000);
    expect(told).toEqual(['acquired', true]);
    const giveUp = new AbortController();
    const [name] = namesIn(['a']) as [string];
    const [entered, finish] = [gate(), gate()];
    const busy = client.withLocks([name], () => {
      entered.open();
      return finish.opened;
    });
    await entered.opened;
    const waiting = client.withLocks([name], () => expect.unreachable(), { signal: giveUp.signal });
    const why = new Error('enough');
    giveUp.abort(why);
    expect(await rejection(waiting)).toBe(why);
    finish.open();
    await busy;
  });

  it('refuses no names, bad names and bad options, before anything is taken', async () => {
    const client = await context.client();
    const raw = await context.raw();
    const [name] = namesIn(['a']) as [string];
    const never = () => expect.unreachable();
    const calls = [
      client.withLocks([], never),
      client.withLocks(name as never, never),
      client.withLocks(undefined as never, never),
      client.withLocks([name, ''], never),
      client.withLocks([name, undefined] as never, never),
      // The holes of a sparse array are no names.
      client.withLocks(new Array(2) as never, never),
      client.withLocks([name, 7] as never, never),
      client.withLocks([name], 'work' as never),
      client.withLocks([name], never, { waitMs: -1 }),
      client.withLocks([name], never, { owner: client.owner() } as object),
    ];
    for (const call of calls) expect(await rejection(call)).toBeInstanceOf(OptionError);
    expect(await raw.command('EXISTS', name)).toBe(0);
  });
}

describeThrough('locks of several names', describeWithLocks);
