/** The subscriber connection fails silently, or misses a release while it is away. */
import { describe, expect, it } from 'vitest';
import { lockChannel } from '../../src/keys.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import {
  arena,
  join,
  LATEST_POLL_MS,
  SLACK_MS,
  SOONEST_POLL_MS,
  seen,
  subscribersOf,
  timed,
} from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { LOCK } from './support/kinds.ts';

describeWithProcess('the subscriber connection', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('half open: its silence reveals it, it is replaced, and the next release arrives', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const holder = await (await join('Holdfast.connect', server)).getLock(name).lock();
      const client = await join(way, proxy, { commandTimeoutMs: 500 });
      const waiting = client.getLock(name).lock();
      await eventually(async () => (await subscribersOf(server, lockChannel(name))) === 1);

      proxy.blackholeWhere(/^SUBSCRIBE/);
      const again = proxy.holdRequest(/^SUBSCRIBE/);
      await again.held;
      const attempt = seen(proxy, LOCK.requests.acquire);
      again.release();
      await attempt;
      // It has just looked and found the lock taken: only a message can tell it sooner than the next poll.
      const entering = timed(waiting);
      await eventually(async () => (await subscribersOf(server, lockChannel(name))) === 2);
      expect(await holder.unlock()).toBe(true);
      const { tookMs, value } = await entering;
      expect(value).toMatchObject({ name });
      expect(tookMs).toBeLessThan(SOONEST_POLL_MS);
    });

    it('broken: a release during the gap is found after the re-subscription', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const channel = lockChannel(name);
      const holder = await (await join('Holdfast.connect', server)).getLock(name).lock();
      const client = await join(way, proxy);
      const waiting = timed(client.getLock(name).lock());
      await eventually(async () => (await subscribersOf(server, channel)) === 1);

      const again = proxy.holdRequest(/^SUBSCRIBE/);
      expect(await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')).toBe(1);
      await again.held;
      expect(await subscribersOf(server, channel)).toBe(0);
      expect(await holder.unlock()).toBe(true);
      // Announced to nobody, and taken by nobody.
      expect(await server.command('EXISTS', name)).toBe(0);
      again.release();
      const { tookMs, value } = await waiting;
      expect(value).toMatchObject({ name });
      // The first poll was not due yet.
      expect(tookMs).toBeLessThan(SOONEST_POLL_MS);
    });
  });

  it('never acknowledged: the waiter gets the lock at its poll', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const holder = await (await join('Holdfast.connect', server)).getLock(name).lock();
    const client = await join('Holdfast.connect', proxy, { commandTimeoutMs: 500 });
    void proxy.swallowReply(/^SUBSCRIBE/, { after: 'silence', count: 1_000 }).catch(() => {});
    const waiting = client.getLock(name).lock();
    // Once before it tries to subscribe, once when it has given up on that.
    await seen(proxy, LOCK.requests.acquire);
    await seen(proxy, LOCK.requests.acquire);
    const entering = timed(waiting);
    expect(await holder.unlock()).toBe(true);
    const { tookMs, value } = await entering;
    expect(value).toMatchObject({ name });
    expect(tookMs).toBeGreaterThan(SOONEST_POLL_MS - 100);
    expect(tookMs).toBeLessThan(LATEST_POLL_MS + SLACK_MS);
  });
});
