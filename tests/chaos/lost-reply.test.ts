/** The script ran, the reply was lost. One hold, the count as expected, one unlock frees it. */
import { describe, expect, it } from 'vitest';
import { tombstoneKey } from '../../src/keys.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { arena, join, leftovers, listenTo, seen } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { KINDS, LAYOUTS } from './support/kinds.ts';

/** Long enough that the default reconnection of both libraries fits between a renewal and the deadline. */
const WATCHDOG_MS = 1_500;

describeWithProcess('reply lost after execution', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it.each(KINDS)('of an acquire: $title is held once and freed by one unlock', async (kind) => {
      const { server, proxy } = await arena();
      const name = randomName();
      const lock = kind.get(await join(way, proxy), name);
      const swallowed = proxy.swallowReply(kind.requests.acquire);
      const hold = await lock.lock();
      await swallowed;
      expect(await kind.holderOn(server, name)).toBe(hold.owner);
      expect(await kind.countOn(server, name)).toBeOneOf([1, null]);
      expect(await hold.unlock()).toBe(true);
      const left = [...(await leftovers(server)).keys()].filter((key) => key !== kind.keeps?.(name));
      expect(left).toEqual([tombstoneKey(name, hold.owner)]);
      const rival = await kind.get(await join('Holdfast.connect', server), name).tryLock();
      expect(rival?.remainingMs).toBeGreaterThan(0);
    });

    it.each(LAYOUTS)('of a re-entry and of a partial unlock: $title counts each once', async (kind) => {
      const { server, proxy } = await arena();
      const name = randomName();
      const client = await join(way, proxy);
      const lock = kind.get(client, name);
      await client.scope(async () => {
        await lock.lock();
        const entered = proxy.swallowReply(kind.requests.enter);
        await lock.lock();
        await entered;
        expect(await lock.getHoldCount()).toBe(2);
        expect(await kind.countOn(server, name)).toBeOneOf([2, null]);

        const left = proxy.swallowReply(kind.requests.leave);
        await lock.unlock();
        await left;
        expect(await lock.getHoldCount()).toBe(1);
        expect(await kind.countOn(server, name)).toBeOneOf([1, null]);

        await lock.unlock();
        expect(await server.command('EXISTS', name)).toBe(0);
      });
    });

    it.each(LAYOUTS)('of a renewal: $title is renewed again in time and kept', async (kind) => {
      const { server, proxy } = await arena();
      const name = randomName();
      const client = await join(way, proxy, { watchdogMs: WATCHDOG_MS });
      const { lost } = listenTo(client);
      const hold = await kind.get(client, name).lock();
      await proxy.swallowReply(kind.requests.renew);
      // The one repeated, then three on schedule: together longer than the lease that was lost sight of.
      for (let renewal = 0; renewal < 4; renewal += 1) await seen(proxy, kind.requests.renew);
      hold.assertHeld();
      expect(lost).toEqual([]);
      expect(await kind.holderOn(server, name)).toBe(hold.owner);
      expect(await kind.countOn(server, name)).toBeOneOf([1, null]);
      expect(await hold.unlock()).toBe(true);
      expect(await server.command('EXISTS', name)).toBe(0);
    });

    it.each(LAYOUTS)('of an extension: $title has the longer lease', async (kind) => {
      const { server, proxy } = await arena();
      const name = randomName();
      const hold = await kind.get(await join(way, proxy), name).lock({ leaseMs: 5_000 });
      const swallowed = proxy.swallowReply(kind.requests.renew);
      await hold.extend(60_000);
      await swallowed;
      expect(hold.remainingMs).toBeGreaterThan(40_000);
      expect(await server.command('PTTL', name)).toBeGreaterThan(hold.remainingMs);
      expect(await hold.unlock()).toBe(true);
    });

    it.each(LAYOUTS)(
      'of an unlock: $title is released once, and an owner that took it in between keeps it',
      async (kind) => {
        const { server, proxy } = await arena();
        const name = randomName();
        const hold = await kind.get(await join(way, proxy), name).lock();
        const rival = kind.get(await join('Holdfast.connect', server), name).lock();
        const swallowed = proxy.swallowReply(kind.requests.release);
        expect(await hold.unlock()).toBe(true);
        await swallowed;
        const theirs = await rival;
        expect(await kind.holderOn(server, name)).toBe(theirs.owner);
        theirs.assertHeld();
        expect(await theirs.unlock()).toBe(true);
      },
    );

    it.each(LAYOUTS)(
      'of a forced unlock: $title is freed once, and an owner that took it in between keeps it',
      async (kind) => {
        const { server, proxy } = await arena();
        const name = randomName();
        const others = await join('Holdfast.connect', server);
        const first = await kind.get(others, name).lock();
        const swallowed = proxy.swallowReply(kind.requests.forceRelease);
        const forced = kind.get(await join(way, proxy), name).forceUnlock();
        await swallowed;
        const second = await kind.get(await join('Holdfast.connect', server), name).lock();
        expect(await forced).toBe(true);
        expect(await kind.holderOn(server, name)).toBe(second.owner);
        expect(await second.unlock()).toBe(true);
        expect(await first.unlock()).toBe(false);
      },
    );
  });
});
