/** The event loop is blocked past the deadline: `signal` is right on the first line after, before any timer runs. */
import { expect, it } from 'vitest';
import type { Hold, Holdfast, Permit } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { arena, join } from './support/arena.ts';

const LEASE_MS = 800;
const leased = { leaseMs: LEASE_MS };

type Signalling = Pick<Hold | Permit, 'signal'>;

function block(): void {
  const until = performance.now() + LEASE_MS;
  while (performance.now() < until);
}

/** What a user's code finds that has waited for nothing since the block. */
function expectAborted({ signal }: Signalling, title?: string): void {
  expect(signal.aborted, title).toBe(true);
  expect(signal.reason, title).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'expired' });
}

const TAKEN: Record<string, (client: Holdfast, name: string) => Promise<Signalling>> = {
  'a lock that the watchdog renews': (client, name) => client.getLock(name).lock(),
  'a lock with a lease': (client, name) => client.getLock(name).lock(leased),
  'a simple lock': (client, name) => client.getSimpleLock(name).lock(leased),
  'a fenced lock': (client, name) => client.getFencedLock(name).lock(leased),
  'a fair lock': (client, name) => client.getFairLock(name).lock(leased),
  'the read side': (client, name) => client.getReadWriteLock(name).readLock().lock(leased),
  'the write side': (client, name) => client.getReadWriteLock(name).writeLock().lock(leased),
  'a re-entry': async (client, name) => {
    const owner = client.owner();
    await client.getLock(name).lock({ owner, ...leased });
    return client.getLock(name).lock({ owner, ...leased });
  },
  'a multi lock': (client, name) =>
    client.getMultiLock(client.getLock(`${name}:a`), client.getLock(`${name}:b`)).lock(leased),
  'a permit': async (client, name) => {
    const semaphore = client.getPermitExpirableSemaphore(name);
    await semaphore.trySetPermits(1);
    return semaphore.acquire(leased);
  },
};

describeWithProcess('after an event loop that was blocked past the deadline', () => {
  it('the signal of every kind of hold is aborted, whether or not it was read before', async () => {
    const client = await join('Holdfast.connect', (await arena()).server, { watchdogMs: LEASE_MS });
    const kinds = Object.entries(TAKEN).flatMap(([title, take]) => [
      { title, take, isRead: false },
      { title: `${title}, read before`, take, isRead: true },
    ]);
    const taken = await Promise.all(kinds.map(({ take }) => take(client, randomName())));
    for (const [i, { title, isRead }] of kinds.entries()) {
      if (isRead) expect(taken[i]?.signal.aborted, title).toBe(false);
    }
    block();
    for (const [i, { title }] of kinds.entries()) expectAborted(taken[i] as Signalling, title);
  });

  it('the signal of a web lock is aborted', async () => {
    const client = await join('Holdfast.connect', (await arena()).server, { watchdogMs: LEASE_MS });
    const request = client.locks.request(randomName(), (lock) => {
      block();
      expectAborted(lock);
    });
    await expect(request).rejects.toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'expired' });
  });

  it('the signal of a red lock is aborted', async () => {
    const servers = await Promise.all([arena(), arena(), arena()]);
    const clients = await Promise.all(
      servers.map(({ server }) => join('Holdfast.connect', server, { watchdogMs: LEASE_MS })),
    );
    const [first] = clients as [Holdfast, ...Holdfast[]];
    const name = randomName();
    const hold = await first.getRedLock(...clients.map((client) => client.getLock(name))).lock();
    expect(hold.signal.aborted).toBe(false);
    block();
    expectAborted(hold);
  });

  it('the signal of a hold that was released before does not abort', async () => {
    const client = await join('Holdfast.connect', (await arena()).server);
    const hold = await client.getLock(randomName()).lock(leased);
    await hold.unlock();
    block();
    expect(hold.signal.aborted).toBe(false);
  });
});
