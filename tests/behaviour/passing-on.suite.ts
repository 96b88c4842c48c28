/** A release hands the lock to the next waiter of this process, where clients pass locks on. */
import { expect, inject, it } from 'vitest';
import type { Holdfast, Lock, LockOptions } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { describeThrough } from './support/context.ts';
import { NON_REENTRANT, REENTRANT, SIMPLE } from './support/kinds.ts';

/** No test here takes so long: only the options and the kind of lock decide whether it is passed on. */
const UNHURRIED = { maxMs: 60_000 };

/** Has one task wait for what another holds. Both ask in one turn, so the second never speaks to the server itself. */
async function handOver(lock: Lock, options: { first?: LockOptions; second?: LockOptions } = {}) {
  const [first, second] = [lock.lock(options.first), lock.lock(options.second)];
  const former = await first;
  expect(await former.unlock()).toBe(true);
  return { former, hold: await second };
}

/** What needs no reply of a server has happened when this resolves. */
async function withoutReplies(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
}

type Get = (client: Holdfast, name: string) => Lock;

const NEVER_PASSED: readonly (readonly [title: string, get: Get])[] = [
  ['getFairLock', (client, name) => client.getFairLock(name)],
  ['getNonReentrantFairLock', (client, name) => client.getNonReentrantFairLock(name)],
  ['getFencedLock', (client, name) => client.getFencedLock(name)],
  ['getSpinLock', (client, name) => client.getSpinLock(name)],
  ['the write side', (client, name) => client.getReadWriteLock(name).writeLock()],
];

const GROUPS: readonly (readonly [title: string, of: (client: Holdfast, lock: Lock) => Lock])[] = [
  ['getMultiLock', (client, lock) => client.getMultiLock(lock)],
  ['getRedLock', (client, lock) => client.getRedLock(lock)],
];

describeThrough('passing on', (context) => {
  const isOn = inject('passing') !== 'off';

  it(`is ${isOn ? 'on' : 'off'} by default`, async () => {
    const lock = (await context.client()).getLock(randomName());
    const fields: string[] = [];
    // A release that comes after the budget of 10 ms is a real one; of many, some come before it.
    const waiters = Array.from({ length: 100 }, async () => {
      const hold = await lock.lock();
      fields.push(hold.owner);
      expect(await hold.unlock()).toBe(true);
    });
    await Promise.all(waiters);
    const different = new Set(fields).size;
    if (isOn) expect(different).toBeLessThan(fields.length);
    else expect(different).toBe(fields.length);
  });

  it.each([REENTRANT, NON_REENTRANT, SIMPLE])('follows the option of the client: $title', async (kind) => {
    for (const passOn of [UNHURRIED, false]) {
      const lock = kind.of(await context.client({ passOn }), randomName());
      const { former, hold } = await handOver(lock);
      expect(hold.owner === former.owner).toBe(passOn !== false);
      expect(await hold.unlock()).toBe(true);
      expect(await lock.isLocked()).toBe(false);
    }
  });

  it('goes from a reentrant lock to a non-reentrant one of the same name', async () => {
    const client = await context.client({ passOn: UNHURRIED });
    const name = randomName();
    const first = client.getLock(name).lock();
    const second = client.getNonReentrantLock(name).lock();
    const former = await first;
    expect(await former.unlock()).toBe(true);
    expect((await second).owner).toBe(former.owner);
  });

  it.each(NEVER_PASSED)('is not for %s', async (_title, get) => {
    const lock = get(await context.client({ passOn: UNHURRIED }), randomName());
    const { former, hold } = await handOver(lock);
    expect(hold.owner).not.toBe(former.owner);
    expect(await hold.unlock()).toBe(true);
  });

  it.each([
    {
      title: 'whose holder has a lease of its own',
      options: { first: { leaseMs: 20_000 } },
      isPassed: false,
    },
    { title: 'whose waiter wants one', options: { second: { leaseMs: 20_000 } }, isPassed: false },
    { title: 'with maxHoldMs', options: { second: { maxHoldMs: 20_000 } }, isPassed: true },
  ])('of a lock $title: $isPassed', async ({ options, isPassed }) => {
    const lock = (await context.client({ passOn: UNHURRIED })).getLock(randomName());
    const { former, hold } = await handOver(lock, options);
    expect(hold.owner === former.owner).toBe(isPassed);
    expect(await hold.unlock()).toBe(true);
  });

  it.each(GROUPS)('is not for the members of a %s, neither to them nor from them', async (title, groupOf) => {
    const client = await context.client({ passOn: UNHURRIED, watchdogMs: 1_000 });
    // A server votes for a red lock once it has been up for longer than the watchdog's lease.
    await (await groupOf(client, client.getLock(randomName())).lock()).unlock();
    const raw = await context.raw();
    const lock = client.getLock(randomName());
    const fieldOf = async () => ((await raw.command('HKEYS', lock.name)) as string[])[0];
    const first = title === 'getMultiLock' ? lock.lock() : undefined;
    const entering = groupOf(client, lock).lock();
    await withoutReplies();
    const last = lock.lock();
    const former = await first;
    expect(await former?.unlock()).not.toBe(false);
    const group = await entering;
    const field = await fieldOf();
    if (former !== undefined) expect(field).not.toBe(former.owner);
    expect(await group.unlock()).toBe(true);
    const hold = await last;
    expect(hold.owner).not.toBe(field);
    expect(await hold.unlock()).toBe(true);
  });
});
