/**
 * A longer lease was asked for, the server gave it, and its answer was lost. The holder goes on by the lease it knows of,
 * is told when that is over, and the longer one does not stay behind on the server.
 */
import { describe, expect, it } from 'vitest';
import type { Holdfast, Lock } from '../../src/index.ts';
import * as scripts from '../../src/scripts/generated.ts';
import type { FaultProxy, TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { aborted, arena, join } from './support/arena.ts';
import { LAYOUTS } from './support/kinds.ts';
import { runs } from './support/requests.ts';

const LEASE_MS = 800;
const LONG_MS = 60_000;
/** The caller has its answer, that there is none, before its deadline. */
const OPTIONS = { commandTimeoutMs: 200 };

interface Prolonged {
  readonly title: string;
  get(client: Holdfast, name: string): Lock;
  readonly renew: string;
  readonly enter: string;
}

const LOCKS: readonly Prolonged[] = [
  ...LAYOUTS.map(({ title, get, requests: { renew, enter } }) => ({ title, get, renew, enter })),
  {
    title: 'getFairLock',
    get: (client, name) => client.getFairLock(name),
    renew: runs(scripts.lockRenew),
    enter: runs(scripts.lockEnter),
  },
];

/** The answer to the next such request is lost, and so is all that follows, until the network is well again. */
async function unanswered(proxy: FaultProxy, request: string, ask: () => Promise<unknown>): Promise<void> {
  const swallowed = proxy.swallowReply(request, { after: 'silence' });
  const asked = ask();
  await swallowed;
  await expect(asked).rejects.toMatchObject({ code: 'ERR_OUTCOME_UNKNOWN' });
}

/** Well before the long lease would be over. */
async function freed(server: TestServer, name: string): Promise<void> {
  await eventually(async () => expect(await server.command('EXISTS', name)).toBe(0), { withinMs: 10_000 });
}

describeWithProcess('a lease granted without an answer, when the known lease ends', () => {
  describe.each(LOCKS)('of $title', (kind) => {
    it('by extend: is released', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const hold = await kind
        .get(await join('Holdfast.connect', proxy, OPTIONS), name)
        .lock({ leaseMs: LEASE_MS });
      const told = aborted(hold.signal);
      await unanswered(proxy, kind.renew, () => hold.extend(LONG_MS));
      expect(await server.command('PTTL', name)).toBeGreaterThan(LEASE_MS);
      expect((await told).value).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'expired' });
      await proxy.heal();
      await freed(server, name);
    });

    it('by a re-entry: is released', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const client = await join('Holdfast.connect', proxy, OPTIONS);
      const lock = kind.get(client, name);
      const owner = client.owner();
      const hold = await lock.lock({ owner, leaseMs: LEASE_MS });
      const told = aborted(hold.signal);
      await unanswered(proxy, kind.enter, () => lock.lock({ owner, leaseMs: LONG_MS }));
      expect(await server.command('PTTL', name)).toBeGreaterThan(LEASE_MS);
      expect((await told).value).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'expired' });
      await proxy.heal();
      await freed(server, name);
    });
  });

  it('of a holder that cannot reach the server: the client repeats the release while the lease may last', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const lock = (await join('Holdfast.connect', proxy, OPTIONS)).getLock(name);
    const hold = await lock.lock({ leaseMs: LEASE_MS });
    await unanswered(proxy, runs(scripts.lockRenew), () => hold.extend(LONG_MS));
    proxy.blackhole();
    await eventually(() => hold.signal.aborted);
    expect(await hold.unlock()).toBe(false);
    // Longer than the lease that the holder knew of.
    const until = performance.now() + 2 * LEASE_MS;
    await eventually(() => performance.now() > until);
    await proxy.heal();
    await freed(server, name);
  });
});

describeWithProcess('a permit whose lease was changed without an answer, when the shorter lease ends', () => {
  const update = runs(scripts.permitSemaphoreUpdateLease);

  async function stage(leaseMs: number) {
    const { server, proxy } = await arena();
    const name = randomName();
    const semaphore = (await join('Holdfast.connect', proxy, OPTIONS)).getPermitExpirableSemaphore(name);
    await semaphore.trySetPermits(1);
    const permit = await semaphore.acquire({ leaseMs });
    const told = aborted(permit.signal);
    const isFree = () =>
      eventually(async () => expect(await server.command('GET', name)).toBe('1'), { withinMs: 10_000 });
    return { server, proxy, name, semaphore, permit, told, isFree };
  }

  it.each([
    { title: 'made longer', leaseMs: LEASE_MS, updateMs: LONG_MS },
    { title: 'made permanent', leaseMs: LEASE_MS, updateMs: Number.POSITIVE_INFINITY },
  ])('$title: is released', async ({ leaseMs, updateMs }) => {
    const { proxy, semaphore, permit, told, isFree } = await stage(leaseMs);
    await unanswered(proxy, update, () => semaphore.updateLease(permit.id, updateMs));
    expect((await told).value).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'expired' });
    await proxy.heal();
    await isFree();
  });

  it.each([
    { title: 'to be cut short', leaseMs: LONG_MS },
    { title: 'to be permanent no more', leaseMs: Number.POSITIVE_INFINITY },
  ])('$title, and never was: is released', async ({ leaseMs }) => {
    const { proxy, semaphore, permit, told, isFree } = await stage(leaseMs);
    proxy.blackhole();
    const asked = semaphore.updateLease(permit.id, LEASE_MS);
    await expect(asked).rejects.toMatchObject({ code: 'ERR_OUTCOME_UNKNOWN' });
    expect((await told).value).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'expired' });
    await proxy.heal();
    await isFree();
  });

  it('and then changed by another client: is left to that client', async () => {
    const { server, name, semaphore, permit, told } = await stage(LONG_MS);
    expect(await semaphore.updateLease(permit.id, LEASE_MS)).toBe(true);
    const theirs = (await join('Holdfast.connect', server)).getPermitExpirableSemaphore(name);
    expect(await theirs.updateLease(permit.id, LONG_MS)).toBe(true);
    expect((await told).value).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'expired' });
    const until = performance.now() + LEASE_MS;
    await eventually(() => performance.now() > until);
    expect(await theirs.getLeaseMs(permit.id)).toBeGreaterThan(LEASE_MS);
    expect(await theirs.tryRelease(permit.id)).toBe(true);
  });
});
