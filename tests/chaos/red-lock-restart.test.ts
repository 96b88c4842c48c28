/**
 * The red lock, what needs servers of a test's own: one of three killed, restarted inside a lease, with a wrong clock;
 * and servers that have all just started.
 */
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Hold, Holdfast, type Lock, QuorumError } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { closedAtEnd } from '../behaviour/support/context.ts';
import { untilTheyVote } from '../behaviour/support/red-lock-servers.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { past, timed } from './support/arena.ts';
import { CAN_SHIFT, NEEDS_GCC, shiftableServer } from './support/clock-shift.ts';
import { loadScripts } from './support/kinds.ts';
import { expectService, holdersOn, party } from './support/red-arena.ts';

vi.setConfig({ testTimeout: 90_000 });

const LEASE_MS = 6_000;
const OPTIONS = { watchdogMs: LEASE_MS };

/** The lock of somebody who may not ask the servers who they are, nor for how long they have run. */
async function blindLock(servers: readonly TestServer[], name: string): Promise<Lock> {
  const username = 'blind';
  const clients = servers.map(async (server) => {
    const { host, port } = server;
    await server.command('ACL', 'SETUSER', username, 'on', '>pw', '~*', '&*', '+@all', '-info');
    const redis = new Redis({ host, port, username, password: 'pw', enableReadyCheck: false });
    onTestFinished(() => redis.disconnect());
    return closedAtEnd(Holdfast.from(redis, OPTIONS));
  });
  const [first, ...others] = await Promise.all(clients);
  return (first as Holdfast).getRedLock(
    ...[first, ...others].map((client) => (client as Holdfast).getLock(name)),
  );
}

describeWithProcess('the red lock over three servers', () => {
  async function three(): Promise<TestServer[]> {
    const servers = await Promise.all([ownServer(), ownServer(), ownServer()]);
    await Promise.all(servers.map(loadScripts));
    await untilTheyVote(servers, LEASE_MS);
    return servers;
  }

  it('with one killed: the lock is kept, and can be taken on the others', async () => {
    const servers = await three();
    const [ours, theirs] = [await party(servers, OPTIONS), await party(servers, OPTIONS)];
    await expectService(
      ours,
      theirs,
      LEASE_MS,
      async () => servers[1]?.kill(),
      async () => {},
    );
  });

  it('with one that restarts inside a lease: that server abstains, and no other owner gets the lock beside the holder', async () => {
    const servers = await three();
    const [kept, restarted, spare] = servers as [TestServer, TestServer, TestServer];
    const ours = await party(servers, OPTIONS);
    const lock = ours.lock(randomName());
    // The third server is somebody else's for a moment, so that the majority hangs on the second.
    await spare.command('HSET', lock.name, 'somebody:1', '1');
    const hold = await lock.lock({ leaseMs: LEASE_MS });
    expect(hold.owner.split(' ')).toHaveLength(2);
    await spare.command('DEL', lock.name);
    await restarted.restart();
    expect(await holdersOn(servers, lock.name)).toEqual([expect.any(String), null, null]);

    const theirs = await party(servers, OPTIONS);
    expect(await theirs.lock(lock.name).tryLock()).toBeNull();
    hold.assertHeld();
    // Two of three servers would give it away: only the uptime keeps them from it. Who may not ask for it, gets in.
    const unguarded = await (await blindLock(servers, lock.name)).tryLock({ waitMs: 1_000 });
    expect(unguarded).not.toBeNull();
    hold.assertHeld();
    expect(await unguarded?.unlock()).toBe(true);

    const next = await theirs.lock(lock.name).lock();
    expect(hold.signal.aborted).toBe(true);
    expect(await next.unlock()).toBe(true);
    expect(await kept.command('EXISTS', lock.name)).toBe(0);
  });

  it('that have all just started: a call without a limit waits until they may vote, a call with a limit rejects', async () => {
    const servers = await Promise.all([ownServer(), ownServer(), ownServer()]);
    const options = { watchdogMs: 3_000, commandTimeoutMs: 1_000 };
    const ours = await party(servers, options);
    const lock = ours.lock(randomName());
    const { error } = await timed(lock.tryLock());
    expect(error).toBeInstanceOf(QuorumError);
    for (const outcome of (error as QuorumError).outcomes) {
      expect(outcome.outcome).toBe('failed');
      expect(String(outcome.error)).toContain('restarted a moment ago');
    }
    const { value, tookMs } = await timed(() => lock.lock());
    expect(tookMs).toBeGreaterThan(1_000);
    expect(await (value as Hold).unlock()).toBe(true);
  });

  describe.skipIf(!CAN_SHIFT)(`with the wall clock of one${NEEDS_GCC}`, () => {
    it('moved forward and back: the lock is kept, and no other owner gets it beside the holder', async () => {
      const { server: moved, shift } = await shiftableServer();
      const servers = [await ownServer(), moved, await ownServer()];
      await Promise.all(servers.map(loadScripts));
      await untilTheyVote(servers, LEASE_MS);
      const [ours, theirs] = [await party(servers, OPTIONS), await party(servers, OPTIONS)];
      const lock = ours.lock(randomName());
      for (const byMs of [40_000, -100_000]) {
        const hold = await lock.lock();
        await shift(byMs);
        await past(performance.now() + LEASE_MS / 2);
        hold.assertHeld();
        expect(await theirs.lock(lock.name).tryLock({ waitMs: 500 })).toBeNull();
        hold.assertHeld();
        expect(await hold.unlock()).toBe(true);
        await shift(0);
        expect(await (await theirs.lock(lock.name).lock()).unlock()).toBe(true);
      }
    });
  });
});
