/** What the compiler must know of locks and holds; checked by `npm run typecheck`, never run. */
import { expectTypeOf } from 'vitest';
import type { Hold, Holdfast, Lock, Owner, SpinLockOptions } from '../../src/index.ts';

export async function kindsOfLocks(client: Holdfast): Promise<void> {
  expectTypeOf(client.getLock('name')).toEqualTypeOf<Lock>();
  expectTypeOf(client.getNonReentrantLock('name')).toEqualTypeOf<Lock>();
  expectTypeOf(client.getSpinLock('name')).toEqualTypeOf<Lock>();
  expectTypeOf<Holdfast['getSpinLock']>().parameter(1).toEqualTypeOf<SpinLockOptions | undefined>();
  expectTypeOf(client.getSimpleLock('name')).toEqualTypeOf<Lock>();
  client.getSpinLock('name', { backoff: { kind: 'constant', delayMs: 5 } });
  client.getSpinLock('name', { backoff: { kind: 'exponential', initialMs: 1, maxMs: 64, multiplier: 1.5 } });
  // @ts-expect-error: a lock has a name
  client.getLock();
  // @ts-expect-error: a name is text
  client.getLock(42);
  // @ts-expect-error: a back-off says its kind
  client.getSpinLock('name', { delayMs: 5 });
  // @ts-expect-error: a constant back-off does not grow
  client.getSpinLock('name', { backoff: { kind: 'constant', maxMs: 5 } });
  // @ts-expect-error: only spin locks have a back-off
  client.getLock('name', { kind: 'constant' });
}

export async function takingALock(lock: Lock, owner: Owner, signal: AbortSignal): Promise<void> {
  expectTypeOf(lock.name).toEqualTypeOf<string>();
  expectTypeOf(lock.lock()).toEqualTypeOf<Promise<Hold>>();
  expectTypeOf(lock.tryLock()).toEqualTypeOf<Promise<Hold | null>>();
  expectTypeOf(lock.lock({ leaseMs: 1, signal, owner, maxHoldMs: 1 })).resolves.toEqualTypeOf<Hold>();
  expectTypeOf(lock.tryLock({ waitMs: 1, leaseMs: 1, signal, owner, maxHoldMs: 1 })).resolves.toBeNullable();
  // Options that an application passes along may be undefined.
  await lock.lock({ leaseMs: undefined, signal: undefined, owner: undefined, maxHoldMs: undefined });

  const maybe = await lock.tryLock();
  // @ts-expect-error: it may not have been granted
  await maybe.unlock();
  if (maybe !== null) expectTypeOf(maybe).toEqualTypeOf<Hold>();

  // @ts-expect-error: lock() waits as long as it takes
  await lock.lock({ waitMs: 5 });
  // @ts-expect-error: milliseconds are a number
  await lock.lock({ leaseMs: '5s' });
  // @ts-expect-error: a misspelt option
  await lock.lock({ leaseMS: 5 });
  // @ts-expect-error: an unknown option
  await lock.tryLock({ retries: 5 });
  // @ts-expect-error: the signal, not its controller
  await lock.lock({ signal: new AbortController() });
  // @ts-expect-error: an owner comes from client.owner()
  await lock.lock({ owner: 'me' });
}

export async function runningWork(lock: Lock, signal: AbortSignal, owner: Owner): Promise<void> {
  expectTypeOf(lock.withLock(() => 42)).toEqualTypeOf<Promise<number>>();
  expectTypeOf(lock.withLock(async () => 'text')).toEqualTypeOf<Promise<string>>();
  expectTypeOf(lock.withLock(() => {})).toEqualTypeOf<Promise<void>>();
  expectTypeOf(lock.withLock(async (hold) => hold)).resolves.toEqualTypeOf<Hold>();
  await lock.withLock((hold) => expectTypeOf(hold).toEqualTypeOf<Hold>(), {
    waitMs: 1,
    leaseMs: 1,
    signal,
    maxHoldMs: 1,
    onAcquire: (hold) => expectTypeOf(hold).toEqualTypeOf<Hold>(),
    onRelease: (hold, released) => {
      expectTypeOf(hold).toEqualTypeOf<Hold>();
      expectTypeOf(released).toEqualTypeOf<boolean>();
    },
  });
  // @ts-expect-error: a section has its own owner
  await lock.withLock(() => 1, { owner });
  // @ts-expect-error: there is nothing to run
  await lock.withLock();
  // @ts-expect-error: an unknown option
  await lock.withLock(() => 1, { onReleased: () => 1 });
}

export async function askingALock(lock: Lock, owner: Owner): Promise<void> {
  expectTypeOf(lock.unlock({ owner })).resolves.toBeVoid();
  expectTypeOf(lock.forceUnlock()).resolves.toBeBoolean();
  expectTypeOf(lock.isLocked()).resolves.toBeBoolean();
  expectTypeOf(lock.isHeld({ owner })).resolves.toBeBoolean();
  expectTypeOf(lock.getHoldCount({ owner })).resolves.toBeNumber();
  expectTypeOf(lock.getRemainingMs()).resolves.toEqualTypeOf<number | null>();
  // @ts-expect-error: nobody waits for an unlock
  await lock.unlock({ waitMs: 5 });
  // @ts-expect-error: a name is not to be changed
  lock.name = 'other';
}

export async function holding(lock: Lock): Promise<void> {
  await using hold = await lock.lock();
  expectTypeOf(hold).toExtend<AsyncDisposable>();
  expectTypeOf(hold.name).toEqualTypeOf<string>();
  expectTypeOf(hold.owner).toEqualTypeOf<string>();
  expectTypeOf(hold.signal).toEqualTypeOf<AbortSignal>();
  expectTypeOf(hold.remainingMs).toEqualTypeOf<number>();
  expectTypeOf(hold.assertHeld()).toBeVoid();
  expectTypeOf<Hold['extend']>().toEqualTypeOf<(leaseMs: number) => Promise<void>>();
  expectTypeOf<Hold['unlock']>().toEqualTypeOf<() => Promise<boolean>>();
  // What may be null can be used in a block all the same.
  await using maybe = await lock.tryLock();
  expectTypeOf(maybe).toEqualTypeOf<Hold | null>();
  // @ts-expect-error: it is not synchronously disposable
  using _wrong = hold;
  // @ts-expect-error: what a hold says is not to be changed
  hold.remainingMs = 5;
  // @ts-expect-error: a lease has a length
  await hold.extend();
}
