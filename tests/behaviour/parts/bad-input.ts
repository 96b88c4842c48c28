/** What is refused before anything is sent, and what the server refuses. */
import { describe, expect, it } from 'vitest';
import {
  type ClientOptions,
  DriverError,
  type Holdfast,
  type Lock,
  OptionError,
} from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { itWithProcess, ownServer } from '../../harness/servers.ts';
import { type Context, onOneServer } from '../support/context.ts';
import { KINDS, type Kind, SIMPLE } from '../support/kinds.ts';
import { rejection } from '../support/moments.ts';
import { commandCounts, resetCounts } from '../support/server-stats.ts';

/** No number of milliseconds, whatever it is. */
const NO_TIME = [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '5', null, true, {}] as never[];
const NO_NAME = ['', undefined, null, 7, {}, [], Symbol('name'), '\ud800 a lone surrogate'] as never[];
const NO_OPTIONS = [null, 5, 'options', true] as never[];

/** Every way to take a lock. */
const WAYS: [string, (lock: Lock, options: never) => Promise<unknown>][] = [
  ['lock', (lock, options) => lock.lock(options)],
  ['tryLock', (lock, options) => lock.tryLock(options)],
  ['withLock', (lock, options) => lock.withLock(() => expect.unreachable('the work ran'), options)],
];

function badOptions(way: string): never[] {
  const bad: object[] = [0, ...NO_TIME].flatMap((time) => [{ leaseMs: time }, { maxHoldMs: time }]);
  bad.push({ signal: {} }, { signal: new AbortController() }, { signal: null });
  bad.push({ leaseMS: 5 }, { ttl: 5 }, { __proto__: null, toString: 5 }, { constructor: 5 });
  if (way === 'lock') bad.push({ waitMs: 5 }, { onAcquire: () => 1 });
  else bad.push(...NO_TIME.map((waitMs) => ({ waitMs })));
  if (way === 'withLock') bad.push({ owner: undefined, foo: 1 }, { onAcquire: 5 }, { onRelease: 'no' });
  return [...NO_OPTIONS, ...bad] as never[];
}

/** Calls that must be refused, with what they were given. */
function* refusedCalls(client: Holdfast, kind: Kind): Generator<[string, () => unknown]> {
  for (const name of NO_NAME) yield [`name ${String(name)}`, () => kind.of(client, name)];
  const lock = kind.of(client, randomName());
  for (const [way, take] of WAYS) {
    for (const [i, options] of badOptions(way).entries()) {
      yield [`${way} with bad options ${i}`, () => take(lock, options)];
    }
  }
  for (const options of [...NO_OPTIONS, { waitMs: 5 }, { owner: client.id }, { owner: {} }] as never[]) {
    yield ['unlock', () => lock.unlock(options)];
    yield ['isHeld', () => lock.isHeld(options)];
    yield ['getHoldCount', () => lock.getHoldCount(options)];
  }
}

export function describeBadInput(context: Context): void {
  describe('bad input', () => {
    onOneServer(context, itWithProcess)('is refused with OptionError before anything is sent', async () => {
      const server = await ownServer();
      const client = await context.client({}, server);
      await client.capabilities();
      await resetCounts(server);
      let refused = 0;
      for (const kind of KINDS) {
        for (const [what, call] of refusedCalls(client, kind)) {
          const error = await rejection((async () => call())());
          expect(error, `${kind.title}: ${what}`).toBeInstanceOf(OptionError);
          expect(error, `${kind.title}: ${what}`).toBeInstanceOf(TypeError);
          refused += 1;
        }
      }
      const badBackoffs = [
        null,
        'exponential',
        { kind: 'linear' },
        { kind: 'constant', delayMs: 0 },
        { kind: 'constant', initialMs: 5 },
        { kind: 'exponential', initialMs: -1 },
        { kind: 'exponential', maxMs: 1.5 },
        { kind: 'exponential', multiplier: 0 },
        { kind: 'exponential', delayMs: 5 },
      ] as never[];
      for (const backoff of badBackoffs)
        expect(() => client.getSpinLock('name', { backoff })).toThrow(OptionError);
      for (const name of NO_NAME) expect(await rejection(client.inspect(name))).toBeInstanceOf(OptionError);
      expect(await rejection(client.list(''))).toBeInstanceOf(OptionError);
      expect(refused).toBeGreaterThan(500);
      expect(await commandCounts(server)).toEqual(new Map());
    });

    it('such as waitMs in lock() is refused with a hint at tryLock', async () => {
      const client = await context.client();
      const error = await rejection(client.getLock('name').lock({ waitMs: 5 } as never));
      expect(error).toBeInstanceOf(OptionError);
      expect((error as Error).message).toContain('use tryLock({ waitMs })');
    });

    it('is refused when a client is made', async () => {
      const bad: object[] = [
        ...[0, ...NO_TIME].flatMap((time) => [
          { watchdogMs: time },
          { commandTimeoutMs: time },
          { fairWaitMs: time },
          { replicaTimeoutMs: time },
        ]),
        { watchdogMs: 99 },
        { mapName: 'prefix' },
        { closeOnSignals: 'yes' },
        { replicas: -1 },
        { replicas: 'most' },
        { replicaTimeoutMs: 3_000, commandTimeoutMs: 3_000 },
        { guard: 'yes' },
        { guard: {} },
        { guard: { graceMs: 99 } },
        { guard: { graceMs: 5_000, lease: 1 } },
        { guard: true, watchdogMs: 30_001 },
        { guard: { graceMs: 10_000 } },
        { shardedPubSub: true },
        { watchdog: 5_000 },
        { leaseMs: 5_000 },
      ];
      for (const options of bad) {
        const error = await rejection(context.client(options as ClientOptions));
        expect(error, JSON.stringify(options)).toBeInstanceOf(OptionError);
        expect(error).toMatchObject({ code: 'ERR_INVALID_OPTION', name: 'OptionError' });
      }
    });

    it('may leave options undefined', async () => {
      const client = await context.client({ watchdogMs: undefined, mapName: undefined, guard: undefined });
      const lock = client.getLock(randomName());
      const hold = await lock.tryLock({ leaseMs: undefined, waitMs: undefined, signal: undefined });
      expect(await hold?.unlock()).toBe(true);
      expect(await lock.withLock(() => 1, { onAcquire: undefined, onRelease: undefined })).toBe(1);
    });
  });

  describe('a key of another type', () => {
    it.each(KINDS.map((kind): [string, Kind] => [kind.title, kind]))(
      'is not changed by %s',
      async (_, kind) => {
        const client = await context.client();
        const raw = await context.raw();
        const contents: [string, string[]][] = [
          ['RPUSH', ['a', 'b']],
          ['SADD', ['a']],
          ['ZADD', ['1', 'a']],
          kind === SIMPLE ? ['HSET', ['field', 'value']] : ['SET', ['value']],
        ];
        for (const [write, values] of contents) {
          const lock = kind.of(client, randomName());
          await raw.command(write, lock.name, ...values);
          const before = await raw.command('DUMP', lock.name);
          const calls = [
            () => lock.lock(),
            () => lock.tryLock({ waitMs: 5_000 }),
            () => lock.withLock(() => expect.unreachable('the work ran')),
            () => lock.isLocked(),
            () => lock.getRemainingMs(),
            () => lock.forceUnlock(),
          ];
          for (const call of calls) {
            const error = await rejection(call());
            expect(error, `${write}: ${String(call)}`).toBeInstanceOf(DriverError);
            expect((error as DriverError).message).toContain(lock.name);
            expect((error as DriverError).message).toContain('not a lock');
            expect((error as DriverError).cause).toBeInstanceOf(Error);
          }
          expect(await raw.command('DUMP', lock.name)).toEqual(before);
          expect(await raw.command('PTTL', lock.name)).toBe(-1);
          await raw.command('DEL', lock.name);
        }
      },
    );

    it('counts as held if it looks like a lock, and cannot be forced open', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const [hash, text] = [randomName(), randomName()];
      await raw.command('HSET', hash, 'name', 'Ada', 'born', '1815');
      await raw.command('SET', text, 'a page of text');
      for (const lock of [client.getLock(hash), client.getSimpleLock(text)]) {
        expect(await lock.tryLock({ waitMs: 20 })).toBeNull();
        expect([await lock.isLocked(), await lock.getRemainingMs()]).toEqual([
          true,
          Number.POSITIVE_INFINITY,
        ]);
        expect(await rejection(lock.forceUnlock())).toMatchObject({
          code: 'ERR_DRIVER',
          message: expect.stringContaining('not a lock; holdfast did not change it'),
        });
      }
      expect(await raw.command('HGETALL', hash)).toEqual(['name', 'Ada', 'born', '1815']);
      expect(await raw.command('GET', text)).toBe('a page of text');
      expect(await raw.command('DEL', hash, text)).toBe(2);
    });
  });
}
