/** What makes no sense is refused before it is sent, and what is no lock is left alone. */
import { expect, it } from 'vitest';
import { DriverError, type Lock, OptionError } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { arena, join, leftovers, scriptCalls } from './support/arena.ts';
import { KINDS, LAYOUTS } from './support/kinds.ts';

const BAD_LEASES = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2 ** 63, '5000', null];

async function reason(call: () => Promise<unknown>): Promise<unknown> {
  return call().then(
    (value) => ({ resolved: value }),
    (error: unknown) => error,
  );
}

describeWithProcess('bad input', () => {
  it.each(KINDS)('a lease of 0, 1.5, NaN, 2^63: $title refuses before anything is sent', async (kind) => {
    const { server } = await arena();
    const client = await join('Holdfast.connect', server);
    const lock = kind.get(client, randomName());
    const hold = await lock.lock();
    const before = await scriptCalls(server);
    for (const lease of BAD_LEASES) {
      const leaseMs = lease as number;
      const refused = [
        await reason(() => lock.lock({ leaseMs })),
        await reason(() => lock.tryLock({ leaseMs })),
        await reason(() => lock.withLock(() => 'never', { leaseMs })),
        await reason(() => hold.extend(leaseMs)),
      ];
      for (const error of refused) {
        expect(error, String(lease)).toBeInstanceOf(OptionError);
        expect(error, String(lease)).toBeInstanceOf(TypeError);
      }
    }
    expect(await scriptCalls(server)).toBe(before);
    hold.assertHeld();
    expect(await hold.unlock()).toBe(true);
  });

  it('invalid waits, names and options are refused before anything is sent', async () => {
    const { server } = await arena();
    const client = await join('Holdfast.connect', server);
    const lock = client.getLock(randomName());
    await lock.isLocked();
    const before = await scriptCalls(server);
    for (const waitMs of [-1, 0.5, Number.NaN, '5' as unknown as number]) {
      expect(await reason(() => lock.tryLock({ waitMs }))).toBeInstanceOf(OptionError);
    }
    expect(await reason(() => lock.lock({ lease: 5 } as object))).toBeInstanceOf(OptionError);
    for (const name of ['', '\ud800', 7 as unknown as string, undefined as unknown as string]) {
      expect(() => client.getLock(name)).toThrow(OptionError);
    }
    expect(await scriptCalls(server)).toBe(before);
    expect(await leftovers(server)).toEqual(new Map());
  });
});

const STRANGERS: { title: string; put: (server: TestServer, name: string) => Promise<unknown> }[] = [
  { title: 'a string', put: (server, name) => server.command('SET', name, 'data', 'PX', 600_000) },
  { title: 'a list', put: (server, name) => server.command('RPUSH', name, 'a', 'b') },
  { title: 'a set', put: (server, name) => server.command('SADD', name, 'a') },
  { title: 'a hash', put: (server, name) => server.command('HSET', name, 'field', 'value', 'other', '2') },
  { title: 'a stream', put: (server, name) => server.command('XADD', name, '1-1', 'field', 'value') },
];

/** The bytes of a key's value. */
async function dump(server: TestServer, name: string): Promise<unknown> {
  return [await server.command('DUMP', name), Number(await server.command('PTTL', name)) > 0];
}

describeWithProcess('the key already has another type', () => {
  const cases = LAYOUTS.flatMap((kind) => STRANGERS.map((stranger) => ({ kind, stranger, ...stranger })));
  it.each(cases)(
    '$kind.title on $title: is not granted, and the key stays unchanged',
    async ({ kind, stranger }) => {
      const { server } = await arena();
      const name = randomName();
      await stranger.put(server, name);
      const before = await dump(server, name);
      const client = await join('Holdfast.connect', server);
      const lock: Lock = kind.get(client, name);
      const looksLikeOne = stranger.title === (kind.title === 'getSimpleLock' ? 'a string' : 'a hash');
      const outcome = await reason(() => lock.tryLock());
      if (looksLikeOne) {
        expect(outcome).toEqual({ resolved: null });
      } else {
        expect(outcome).toBeInstanceOf(DriverError);
        expect(outcome).toMatchObject({
          message: expect.stringContaining('not a lock; holdfast did not change it'),
        });
        expect(await reason(() => lock.lock())).toBeInstanceOf(DriverError);
        expect(await reason(() => lock.forceUnlock())).toBeInstanceOf(DriverError);
      }
      expect(await dump(server, name)).toEqual(before);
      expect([...(await leftovers(server)).keys()]).toEqual([name]);
    },
  );
});
