/** 200 ms without an answer cost nobody the lock, whatever was under way. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { arena, join, listenTo, seen } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { LOCK } from './support/kinds.ts';
import { FAULTS } from './support/unanswered.ts';

describeWithProcess('a blip', () => {
  describe.each(FAULTS)('200 ms of $title', (fault) => {
    it.each(EACH_WAY)('cost no holder its lock, with %s', async (way) => {
      const place = await arena();
      const { server, proxy } = place;
      const name = randomName();
      const client = await join(way, proxy, { watchdogMs: 3_000 });
      const { lost } = listenTo(client);
      const hold = await client.getLock(name).lock();
      const waiter = client.getLock(name).lock();
      // It hits a renewal under way, the worst moment.
      const renewal = proxy.holdRequest(LOCK.requests.renew);
      await renewal.held;
      await fault.begin(place);
      renewal.release();
      await sleep(200);
      await fault.end(place);
      await seen(proxy, LOCK.requests.renew);
      hold.assertHeld();
      expect(lost).toEqual([]);
      expect(await LOCK.holderOn(server, name)).toBe(hold.owner);
      expect(await hold.unlock()).toBe(true);
      const next = await waiter;
      expect(await LOCK.holderOn(server, name)).toBe(next.owner);
    });
  });
});
