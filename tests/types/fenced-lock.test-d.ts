/** What the compiler must know of fencing; checked by `npm run typecheck`, never run. */
import { expectTypeOf } from 'vitest';
import {
  type FencedHold,
  type FencedLock,
  type FencedRegister,
  type Hold,
  type Holdfast,
  type Lock,
  MemoryFence,
  type SqlFence,
  sqlFence,
} from '../../src/index.ts';

export async function tokens(client: Holdfast): Promise<void> {
  const lock = client.getFencedLock('name');
  expectTypeOf(lock).toEqualTypeOf<FencedLock>();
  expectTypeOf(lock.getToken()).resolves.toBeNumber();
  expectTypeOf(lock.lock()).resolves.toEqualTypeOf<FencedHold>();
  expectTypeOf(lock.tryLock({ waitMs: 5 })).resolves.toEqualTypeOf<FencedHold | null>();
  expectTypeOf(lock.withLock((hold) => hold.token)).resolves.toBeNumber();
  await lock.withLock(() => {}, {
    onAcquire: (hold) => expectTypeOf(hold).toEqualTypeOf<FencedHold>(),
    onRelease: (hold) => expectTypeOf(hold).toEqualTypeOf<FencedHold>(),
  });

  await using hold = await lock.lock();
  expectTypeOf(hold.token).toEqualTypeOf<number>();
  expectTypeOf(hold).toExtend<Hold>();
  // @ts-expect-error: a token is not to be changed
  hold.token = 5;

  // It is a lock like the others, and can stand where one is asked for.
  expectTypeOf(lock).toExtend<Lock>();
  client.getMultiLock(lock, client.getLock('other'));
}

export async function noTokens(client: Holdfast): Promise<void> {
  expectTypeOf<Hold>().not.toHaveProperty('token');
  expectTypeOf<Lock>().not.toHaveProperty('getToken');
  const plain = await client.getLock('name').lock();
  // @ts-expect-error: only fenced locks have tokens
  plain.token;
  // @ts-expect-error: neither has the hold of many locks
  await client.getMultiLock(client.getFencedLock('name')).withLock((hold) => hold.token);
  // @ts-expect-error: a plain lock is no fenced lock
  client.getLock('name') satisfies FencedLock;
}

export function options(client: Holdfast): void {
  client.getFencedLock('name', { tokenRetentionMs: 86_400_000 });
  client.getFencedLock('name', { tokenRetentionMs: undefined });
  // @ts-expect-error: milliseconds are a number
  client.getFencedLock('name', { tokenRetentionMs: '1d' });
  // @ts-expect-error: a misspelt option
  client.getFencedLock('name', { retentionMs: 86_400_000 });
}

export async function guards(client: Holdfast): Promise<void> {
  const register = client.getFencedRegister('name');
  expectTypeOf(register).toEqualTypeOf<FencedRegister>();
  expectTypeOf(register.write('value', 7)).resolves.toBeVoid();
  expectTypeOf(register.read(7)).resolves.toEqualTypeOf<{
    readonly value: string;
    readonly token: number;
  } | null>();
  // @ts-expect-error: nothing is written without a token
  await register.write('value');
  // @ts-expect-error: a value is text
  await register.write(7, 7);

  expectTypeOf(new MemoryFence().admit('name', 7)).toBeVoid();
  // @ts-expect-error: a token is a number
  new MemoryFence().admit('name', '7');
  expectTypeOf(sqlFence('$1')).toEqualTypeOf<SqlFence>();
  expectTypeOf<SqlFence>().toEqualTypeOf<{ readonly set: string; readonly where: string }>();
}
