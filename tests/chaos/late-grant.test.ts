/** The server grants, and its answer comes after the deadline: nothing is handed out, and nothing stays taken. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { Hold, Holdfast, Lock } from '../../src/index.ts';
import { tombstoneKey } from '../../src/keys.ts';
import * as scripts from '../../src/scripts/generated.ts';
import type { FaultProxy, TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { startReplicas } from '../harness/replicas.ts';
import { describeWithProcess, ownProxy } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { arena, join, leftovers, past, SLACK_MS, timed } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { KINDS, loadScripts } from './support/kinds.ts';
import { runs } from './support/requests.ts';

const LEASE_MS = 250;

const LOST = { code: 'ERR_LEASE_LOST', reason: 'expired' };
/** What every late grant is answered with. */
const TOO_LATE = { ...LOST, message: expect.stringContaining('came too late') };

interface Granted {
  readonly title: string;
  get(client: Holdfast, name: string): Lock;
  /** The request that takes it, as the proxy sees it. */
  readonly acquire: string;
}

const EVERY_KIND: readonly Granted[] = [
  ...KINDS.map(({ title, get, requests: { acquire } }) => ({ title, get, acquire })),
  {
    title: 'getNonReentrantLock',
    get: (client, name) => client.getNonReentrantLock(name),
    acquire: runs(scripts.lockAcquire),
  },
  {
    title: 'getFairLock',
    get: (client, name) => client.getFairLock(name),
    acquire: runs(scripts.fairLockAcquire),
  },
  {
    title: 'the read side',
    get: (client, name) => client.getReadWriteLock(name).readLock(),
    acquire: runs(scripts.readWriteLockReadAcquire),
  },
  {
    title: 'the write side',
    get: (client, name) => client.getReadWriteLock(name).writeLock(),
    acquire: runs(scripts.readWriteLockWriteAcquire),
  },
];

const LOCK = EVERY_KIND[0] as Granted;

/** Keeps the request from the server until what it asks for would be over, and lets it run then. */
async function delivered(proxy: FaultProxy, request: string, afterMs = LEASE_MS): Promise<void> {
  const held = proxy.holdRequest(request);
  await held.held;
  await past(performance.now() + afterMs);
  held.release();
}

/** Nothing is held under the name, and the owner can never hold it again. */
async function takenBack(server: TestServer, name: string, error: unknown): Promise<void> {
  const { owner } = error as { owner: string };
  await eventually(async () => {
    expect(await server.command('EXISTS', tombstoneKey(name, owner))).toBe(1);
    expect(await server.command('EXISTS', name)).toBe(0);
  });
}

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describeWithProcess('a grant that arrives after its deadline', () => {
  it.each(EVERY_KIND)('$title: the call rejects, and the client releases the lock', async (kind) => {
    const { server, proxy } = await arena();
    const name = randomName();
    const lock = kind.get(await join('Holdfast.connect', proxy), name);
    const late = delivered(proxy, kind.acquire);
    const { error } = await timed(lock.tryLock({ leaseMs: LEASE_MS }));
    await late;
    expect(error).toMatchObject({ ...TOO_LATE, lockName: name });
    await takenBack(server, name, error);
  });

  it.each(EACH_WAY)('with %s: the error says what to do', async (way) => {
    const { proxy } = await arena();
    const lock = (await join(way, proxy)).getLock(randomName());
    const late = delivered(proxy, LOCK.acquire);
    const { error } = await timed(lock.lock({ leaseMs: LEASE_MS }));
    await late;
    expect(error).toMatchObject({ ...TOO_LATE, message: expect.stringContaining('Use a longer lease') });
  });

  it('withLock: no work begins while a rival holds the lock', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const ours = await join('Holdfast.connect', proxy);
    const theirs = await join('Holdfast.connect', server);
    // The lease is over on the server before its answer is half way back.
    proxy.delay(LEASE_MS + 50);
    const begun: string[] = [];
    const note = (what: string) => () => begun.push(what);
    const working = timed(
      ours.getLock(name).withLock(note('work'), {
        leaseMs: LEASE_MS,
        onAcquire: note('onAcquire'),
        onRelease: note('onRelease'),
      }),
    );
    await eventually(async () => (await server.command('EXISTS', name)) === 1);
    const rival = await theirs.getLock(name).lock();
    const { error } = await working;
    expect(error).toMatchObject(TOO_LATE);
    expect(begun).toEqual([]);
    await takenOverBy(rival, server, name);
  });

  it('a rejected call does not block the next call of its owner', async () => {
    const { proxy } = await arena();
    const client = await join('Holdfast.connect', proxy);
    const lock = client.getLock(randomName());
    const owner = client.owner();
    const late = delivered(proxy, LOCK.acquire);
    await expect(lock.lock({ owner, leaseMs: LEASE_MS })).rejects.toMatchObject(TOO_LATE);
    await late;
    await using hold = await lock.lock({ owner });
    hold.assertHeld();
    expect(await lock.getHoldCount({ owner })).toBe(1);
  });

  it('the next waiter of this process attempts at once', async () => {
    const { proxy } = await arena();
    const lock = (await join('Holdfast.connect', proxy)).getLock(randomName());
    const late = delivered(proxy, LOCK.acquire);
    const first = timed(lock.lock({ leaseMs: LEASE_MS }));
    const second = lock.lock();
    expect((await first).error).toMatchObject(TOO_LATE);
    const { tookMs, value } = await timed(second);
    await late;
    (value as Hold).assertHeld();
    // Not after the next poll, which is seconds away.
    expect(tookMs).toBeLessThan(SLACK_MS);
  });

  it('a re-entry rejects, and nothing is left when the outer hold is released', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', proxy);
    const lock = client.getLock(name);
    const owner = client.owner();
    const outer = await lock.lock({ owner, leaseMs: LEASE_MS });
    const late = delivered(proxy, runs(scripts.lockEnter));
    const inner = await timed(lock.lock({ owner, leaseMs: 60_000 }));
    await late;
    expect(inner.error).toMatchObject(LOST);
    expect(await outer.unlock()).toBe(false);
    await eventually(async () => (await server.command('EXISTS', name)) === 0);
  });

  it('a section whose turn comes too late does not begin', async () => {
    const { proxy } = await arena();
    const lock = (await join('Holdfast.connect', proxy)).getLock(randomName());
    const leased = { leaseMs: LEASE_MS };
    const begun: string[] = [];
    const { error } = await timed(
      lock.withLock(async () => {
        const first = timed(lock.withLock(() => past(performance.now() + LEASE_MS), leased));
        const second = timed(lock.withLock(() => begun.push('second'), leased));
        for (const { error } of [await first, await second]) expect(error).toMatchObject(LOST);
      }, leased),
    );
    expect(error).toMatchObject(LOST);
    expect(begun).toEqual([]);
  });

  it('work does not begin if other work, granted at the same time, blocks past the deadline', async () => {
    const { proxy } = await arena();
    const client = await join('Holdfast.connect', proxy);
    const begun: string[] = [];
    // Both answers arrive together: the first to run keeps the other from running.
    const request = proxy.holdRequest(LOCK.acquire);
    const work = (name: string) => () => {
      begun.push(name);
      block(LEASE_MS);
    };
    const calls = ['a', 'b'].map((prefix) =>
      timed(client.getLock(randomName(prefix)).withLock(work(prefix), { leaseMs: LEASE_MS })),
    );
    await request.held;
    request.release();
    for (const { error } of await Promise.all(calls)) {
      expect(error).toMatchObject(LOST);
    }
    expect(begun).toEqual(['a']);
  });

  it('all permits are returned, and the call rejects', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const semaphore = (await join('Holdfast.connect', proxy)).getPermitExpirableSemaphore(name);
    await semaphore.trySetPermits(3);
    const late = delivered(proxy, runs(scripts.permitSemaphoreAcquire));
    await expect(semaphore.tryAcquireMany(3, { leaseMs: LEASE_MS })).rejects.toMatchObject(TOO_LATE);
    await late;
    // Undone, and not left to their leases: those would come back when somebody looks, not by themselves.
    await eventually(async () => expect(await server.command('GET', name)).toBe('3'));
    expect(await server.command('ZCARD', `{${name}}:timeout`)).toBe(0);
  });

  it('a permit without an end is never late', async () => {
    const { proxy } = await arena();
    const semaphore = (await join('Holdfast.connect', proxy)).getPermitExpirableSemaphore(randomName());
    await semaphore.trySetPermits(1);
    const late = delivered(proxy, runs(scripts.permitSemaphoreAcquire));
    const permit = await semaphore.acquire({ leaseMs: Number.POSITIVE_INFINITY });
    await late;
    expect(permit.remainingMs).toBe(Number.POSITIVE_INFINITY);
    expect(await permit.release()).toBe(true);
  });

  it.each([
    { mode: 'exclusive', acquire: runs(scripts.readWriteLockWriteAcquire) },
    { mode: 'shared', acquire: runs(scripts.readWriteLockReadAcquire) },
    { mode: 'exclusive', steal: true, acquire: runs(scripts.readWriteLockSteal) },
  ] as const)('a web lock, $mode: the callback is not called', async ({ acquire, ...options }) => {
    const { server, proxy } = await arena();
    const name = randomName();
    const { locks } = await join('Holdfast.connect', proxy, { watchdogMs: LEASE_MS });
    const late = delivered(proxy, acquire);
    const called: unknown[] = [];
    const { error } = await timed(locks.request(name, options, (lock) => called.push(lock)));
    await late;
    expect(error).toMatchObject(TOO_LATE);
    expect(called).toEqual([]);
    await takenBack(server, name, error);
  });

  it('a multi lock with one late member rejects, and keeps no member', async () => {
    const [quick, slow] = [await arena(), await arena()];
    const near = await join('Holdfast.connect', quick.server);
    const far = await join('Holdfast.connect', slow.proxy);
    const name = randomName();
    const multi = near.getMultiLock(near.getLock(`${name}:a`), far.getLock(`${name}:b`));
    const late = delivered(slow.proxy, LOCK.acquire);
    await expect(multi.lock({ leaseMs: LEASE_MS })).rejects.toMatchObject(LOST);
    await late;
    for (const { server } of [quick, slow]) {
      // Where the lock was there is only the note that its owner's hold is over.
      const note = expect.stringContaining('redisson_unlock_latch');
      await eventually(async () => expect([...(await leftovers(server)).keys()]).toEqual([note]));
    }
  });

  it('a red lock whose members are all late rejects, and keeps no member', async () => {
    const arenas = [await arena(), await arena(), await arena()];
    const clients = await Promise.all(
      arenas.map(({ server }) => join('Holdfast.connect', server, { watchdogMs: LEASE_MS })),
    );
    const name = randomName();
    const [first] = clients as [Holdfast, ...Holdfast[]];
    const red = first.getRedLock(...clients.map((client) => client.getLock(name)));
    // Servers that have just started do not vote.
    await red.withLock(() => undefined);
    const taking = timed(red.tryLock({ leaseMs: LEASE_MS }));
    await nextTurn();
    block(LEASE_MS);
    expect((await taking).error).toMatchObject(TOO_LATE);
    for (const { server } of arenas) {
      await eventually(async () => (await server.command('EXISTS', name)) === 0);
    }
  });

  it('with the guard: a grace that ends before the lease limits the deadline', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const options = { watchdogMs: LEASE_MS, guard: { graceMs: LEASE_MS } };
    const lock = (await join('Holdfast.connect', proxy, options)).getLock(name);
    // A server that has just started is in its grace.
    await lock.withLock(() => undefined);
    const late = delivered(proxy, name);
    const { error } = await timed(lock.tryLock({ leaseMs: 60_000 }));
    await late;
    expect(error).toMatchObject(TOO_LATE);
    await takenBack(server, name, error);
  });

  it('because replicas acknowledge late: the grant is undone', async () => {
    const replicas = await startReplicas({ replicas: 1 });
    onTestFinished(() => replicas.close());
    const { primary } = replicas;
    await loadScripts(primary);
    await whenAcknowledging(primary, 1);
    const proxy = await ownProxy(primary);
    const name = randomName();
    const lock = (await join('Holdfast.connect', proxy, { replicas: 1 })).getLock(name);
    await lock.withLock(() => undefined);
    const late = delivered(proxy, 'WAIT 1');
    const { error } = await timed(lock.tryLock({ leaseMs: LEASE_MS }));
    await late;
    expect(error).toMatchObject(TOO_LATE);
    await takenBack(primary, name, error);
  });
});

/** The rival has the lock, untouched by what is cleaned up behind the late grant. */
async function takenOverBy(rival: Hold, server: TestServer, name: string): Promise<void> {
  rival.assertHeld();
  expect(await server.command('HKEYS', name)).toEqual([rival.owner]);
  expect(await rival.unlock()).toBe(true);
}
