/**
 * The red lock with a minority of its servers frozen, cut off or slow; with split votes; and without a
 * majority. Servers that die, restart or have a wrong clock are in `red-lock-restart.test.ts`.
 */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type Hold, QuorumError } from '../../src/index.ts';
import { lockAcquire } from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { Room } from '../behaviour/support/moments.ts';
import { LEASE_MS, serversForAll, whereHeld } from '../behaviour/support/red-lock-servers.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { aborted, expiryOf, join, past, SLACK_MS, timed } from './support/arena.ts';
import { loadScripts } from './support/kinds.ts';
import { expectService, freeEverywhere, party } from './support/red-arena.ts';
import { runs } from './support/requests.ts';

vi.setConfig({ testTimeout: 90_000 });

const OPTIONS = { watchdogMs: LEASE_MS };
const ACQUIRE = runs(lockAcquire);
/** What a server may take for its answer: a twentieth of the lease. */
const ANSWER_MS = LEASE_MS / 20;

describeWithProcess('the red lock over five servers', () => {
  const servers = serversForAll(5);
  beforeAll(() => Promise.all(servers.map(loadScripts)));

  describe('with two of them', () => {
    it('frozen: the lock is kept, released and taken on the others', async () => {
      const ours = await party(servers, OPTIONS, 'default ioredis 6');
      const theirs = await party(servers, OPTIONS, 'default node-redis 6');
      const frozen = [servers[0], servers[3]] as TestServer[];
      const pause = () => Promise.all(frozen.map((server) => server.pause()));
      const resume = () => Promise.all(frozen.map((server) => server.resume()));
      await expectService(ours, theirs, LEASE_MS, pause, resume);
    });

    it('cut off: the lock is kept, released and taken on the others', async () => {
      const ours = await party(servers, OPTIONS, 'default node-redis 6');
      const theirs = await party(servers, OPTIONS, 'default ioredis 6');
      // Different ones for each: what they have in common is enough.
      const cut = async () => {
        for (const place of [0, 1]) ours.proxies[place]?.blackhole();
        for (const place of [3, 4]) await theirs.proxies[place]?.refuse();
      };
      const heal = () => Promise.all([...ours.proxies, ...theirs.proxies].map((proxy) => proxy.heal()));
      await expectService(ours, theirs, LEASE_MS, cut, heal);
    });

    it('slow: the lock is taken without them, and they join if they answer in time', async () => {
      const ours = await (await party(servers, OPTIONS)).meet();
      const lock = ours.lock(randomName());
      const joined = (hold: Hold, votes: number) =>
        eventually(() => hold.owner.split(' ').length === votes, { withinMs: ANSWER_MS });
      // On a busy machine a round may be over before the late answer comes.
      await eventually(
        async () => {
          const request = ours.proxies[2]?.holdRequest(ACQUIRE);
          const hold = await lock.lock();
          try {
            await joined(hold, 4);
            expect(await whereHeld(servers, lock)).toEqual([0, 1, 3, 4]);
            request?.release();
            await joined(hold, 5);
            expect(await whereHeld(servers, lock)).toEqual([0, 1, 2, 3, 4]);
          } finally {
            request?.release();
            expect(await hold.unlock()).toBe(true);
            await freeEverywhere(servers, lock.name);
          }
        },
        { withinMs: 30_000 },
      );
    });

    it('slower than the hold lasts: their late grants are released', async () => {
      const ours = await (await party(servers, OPTIONS)).meet();
      const lock = ours.lock(randomName());
      const requests = [1, 4].map((place) => ours.proxies[place]?.holdRequest(ACQUIRE));
      const hold = await lock.lock();
      expect(await hold.unlock()).toBe(true);
      for (const request of requests) request?.release();
      await freeEverywhere(servers, lock.name);
    });
  });

  describe('with three of them', () => {
    it('cut off during a hold: the signal aborts before any of them grants another owner', async () => {
      const ours = await party(servers, { ...OPTIONS, commandTimeoutMs: 500 });
      const lock = ours.lock(randomName());
      const hold = await lock.lock();
      const told = aborted(hold.signal);
      const cut = [0, 2, 4];
      for (const place of cut) ours.proxies[place]?.blackhole();
      const expiries = await Promise.all(
        cut.map((place) => expiryOf(servers[place] as TestServer, lock.name)),
      );
      const { value, atWallMs } = await told;
      expect(value).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'unreachable', lockName: lock.name });
      // Each server is let go of before its own lease ends there, so the last one that mattered is.
      expect(atWallMs).toBeLessThan(Math.max(...expiries));
      expect(() => hold.assertHeld()).toThrow('no renewal reached the server in time');
      // The two that are left are not kept forever.
      await freeEverywhere(servers, lock.name);
      expect(await hold.unlock()).toBe(false);
    });

    it("down from the start: the call rejects in time with every server's answer, and leaves nothing on the others", async () => {
      const ours = await party(servers, { ...OPTIONS, commandTimeoutMs: 1_000 });
      const lock = ours.lock(randomName());
      for (const place of [0, 1, 2]) await ours.proxies[place]?.refuse();
      const once = await timed(lock.tryLock());
      expect(once.error).toBeInstanceOf(QuorumError);
      expect(once.tookMs).toBeLessThan(ANSWER_MS + SLACK_MS);
      const limited = await timed(() => lock.withLock(() => 'never', { waitMs: 400 }));
      expect(limited.error).toBeInstanceOf(QuorumError);
      expect(limited.tookMs).toBeGreaterThanOrEqual(399);
      expect(limited.tookMs).toBeLessThan(400 + ANSWER_MS + SLACK_MS);
      const unlimited = await timed(() => lock.lock());
      expect(unlimited.tookMs).toBeGreaterThanOrEqual(999);
      expect(unlimited.tookMs).toBeLessThan(1_000 + ANSWER_MS + SLACK_MS);
      const { outcomes } = unlimited.error as QuorumError;
      expect(outcomes.slice(0, 3).map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed']);
      for (const { error } of outcomes.slice(0, 3)) expect(error).toBeInstanceOf(Error);
      await freeEverywhere(servers, lock.name);
    });

    it('down from the start: two concurrent callers both reject, and neither mistakes the other for a holder', async () => {
      const ours = await party(servers, { ...OPTIONS, commandTimeoutMs: 500 });
      const lock = ours.lock(randomName());
      for (const place of [0, 1, 2]) await ours.proxies[place]?.refuse();
      for (const { error } of await Promise.all([timed(lock.lock()), timed(lock.lock())])) {
        expect(error).toBeInstanceOf(QuorumError);
      }
      await freeEverywhere(servers, lock.name);
    });

    it('down during a wait: the waiter waits until they are back', async () => {
      const options = { ...OPTIONS, commandTimeoutMs: 500 };
      const [ours, theirs] = [await party(servers, options), await party(servers, options)];
      const hold = await ours.lock(randomName()).lock();
      const waiting = theirs.lock(hold.name).lock();
      // Another of the same party that has been told to wait shows that this one has.
      expect(await theirs.lock(hold.name).tryLock({ waitMs: 400 })).toBeNull();
      for (const place of [1, 2, 3]) await theirs.proxies[place]?.refuse();
      await past(performance.now() + 2_000);
      await Promise.all(theirs.proxies.map((proxy) => proxy.heal()));
      expect(await hold.unlock()).toBe(true);
      expect(await (await waiting).unlock()).toBe(true);
    });

    it('frozen: an aborted call rejects at once, and nothing is left when they continue', async () => {
      const ours = await (await party(servers, OPTIONS)).meet();
      const lock = ours.lock(randomName());
      const frozen = servers.slice(1, 4);
      await Promise.all(frozen.map((server) => server.pause()));
      try {
        const controller = new AbortController();
        const waiting = timed(lock.lock({ signal: controller.signal }));
        await eventually(async () => expect(await servers[0]?.command('EXISTS', lock.name)).toBe(1));
        const from = performance.now();
        controller.abort('enough');
        expect((await waiting).error).toBe('enough');
        expect(performance.now() - from).toBeLessThan(ANSWER_MS);
      } finally {
        await Promise.all(frozen.map((server) => server.resume()));
      }
      await freeEverywhere(servers, lock.name);
    });
  });

  it('with votes split 2 + 2 + 1: one caller wins, and all get the lock in the end', async () => {
    const parties = await Promise.all([1, 2, 3].map(async () => (await party(servers, OPTIONS)).meet()));
    const name = randomName();
    const own = [[0, 1], [2, 3], [4]];
    // In the first round each reaches its own servers only; what it sends to the others is held up.
    const requests = parties.flatMap(({ proxies }, i) =>
      proxies.flatMap((proxy, place) => (own[i]?.includes(place) ? [] : [proxy.holdRequest(ACQUIRE)])),
    );
    const room = new Room();
    const stay = () => past(performance.now() + ANSWER_MS);
    const visits = parties.map((each, i) => each.lock(name).withLock(() => room.visit(`party ${i}`, stay)));
    await Promise.all(requests.map(({ held }) => held));
    // Nobody can have more than its own two yet.
    expect(room.visitors).toEqual([]);
    for (const request of requests) request.release();
    await Promise.all(visits);
    expect([...room.visitors].sort()).toEqual(['party 0', 'party 1', 'party 2']);
    expect(room.most).toBe(1);
    await freeEverywhere(servers, name);
  });

  it('with one server listed twice, directly and through a proxy: the lock is refused', async () => {
    const { clients } = await party(servers.slice(0, 2), OPTIONS);
    const again = await join('Holdfast.connect', servers[0] as TestServer, OPTIONS);
    const name = randomName();
    const lock = again.getRedLock(...[...clients, again].map((client) => client.getLock(name)));
    expect((await timed(lock.lock())).error).toMatchObject({ code: 'ERR_INVALID_OPTION' });
    await freeEverywhere(servers, name);
  });
});
