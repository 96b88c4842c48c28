/** The count-down latch under faults: every count counts once, and nobody waits at an open latch. */
import { describe, expect, it } from 'vitest';
import { type CountDownLatch, OutcomeUnknownError } from '../../src/index.ts';
import { latchChannel } from '../../src/keys.ts';
import * as scripts from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { LATEST_POLL_MS, SLACK_MS, SOONEST_POLL_MS, seen, subscribersOf, timed } from './support/arena.ts';
import { COMMAND_TIMEOUT_MS, type CounterStage, counterStage, unheard } from './support/counter-stage.ts';
import { EACH_WAY } from './support/each-way.ts';
import { runs } from './support/requests.ts';
import type { Way } from './support/ways.ts';

const COUNT_DOWN = runs(scripts.countDownLatchCountDown);
const LOOK = runs(scripts.countDownLatchGetCount);

interface Stage extends CounterStage {
  readonly latch: CountDownLatch;
}

async function stage(way: Way, count: number, commandTimeoutMs = 3_000): Promise<Stage> {
  const place = await counterStage(way, (name) => ['SET', name, count], { commandTimeoutMs });
  return { ...place, latch: place.client.getCountDownLatch(place.name) };
}

async function countOn(server: TestServer, name: string): Promise<number> {
  return Number((await server.command('GET', name)) ?? 0);
}

/** Begins a wait, and resolves when it has looked before and behind its subscription: it sleeps then. */
async function asleep({ proxy, latch }: Stage, waitMs?: number) {
  const first = seen(proxy, LOOK);
  const waiting = timed(() => latch.await(waitMs === undefined ? {} : { waitMs }));
  await first;
  await seen(proxy, LOOK);
  // Answered behind that look, on the same connection.
  await latch.getCount();
  // In an object, or the promise would be awaited here.
  return { waiting };
}

describeWithProcess('count-down latch: the reply is lost after execution', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('of countDown(): the call counts once', async () => {
      const { server, proxy, name, latch } = await stage(way, 3);
      const swallowed = proxy.swallowReply(COUNT_DOWN);
      await latch.countDown();
      await swallowed;
      expect(await countOn(server, name)).toBe(2);
    });

    it('of the last countDown(): the next latch is not counted down', async () => {
      const { server, proxy, name, latch } = await stage(way, 1);
      const swallowed = proxy.swallowReply(COUNT_DOWN);
      const counted = latch.countDown();
      await swallowed;
      await server.command('SET', name, 5);
      await counted;
      expect(await countOn(server, name)).toBe(5);
    });

    it('of trySetCount() and delete(): each takes effect once and gives the first answer', async () => {
      const { server, proxy, name, latch } = await stage(way, 1);
      const removed = proxy.swallowReply(runs(scripts.countDownLatchDelete));
      const deleting = latch.delete();
      await removed;
      await server.command('SET', name, 5);
      expect(await deleting).toBe(true);
      expect(await countOn(server, name)).toBe(5);
      await server.command('DEL', name);
      const set = proxy.swallowReply(runs(scripts.countDownLatchTrySetCount));
      expect(await latch.trySetCount(4)).toBe(true);
      await set;
      expect(await countOn(server, name)).toBe(4);
    });

    it('of a read: the waiter reads again', async () => {
      const { proxy, latch, server, name } = await stage(way, 1);
      await server.command('DEL', name);
      const swallowed = proxy.swallowReply(LOOK);
      expect(await latch.await()).toBe(true);
      await swallowed;
    });

    it('and no answer arrives in time: the call rejects, and counts once in the end', async () => {
      const { server, proxy, name, latch } = await stage(way, 3, COMMAND_TIMEOUT_MS);
      const swallowed = proxy.swallowReply(COUNT_DOWN, { after: 'silence' });
      const counted = await timed(latch.countDown());
      await swallowed;
      expect(counted.error).toBeInstanceOf(OutcomeUnknownError);
      expect(counted.tookMs).toBeLessThan(COMMAND_TIMEOUT_MS + SLACK_MS);
      const repeated = seen(proxy, COUNT_DOWN);
      await proxy.heal();
      await repeated;
      expect(await eventually(() => latch.getCount())).toBe(2);
      expect(await countOn(server, name)).toBe(2);
    });

    it('and the server cannot be reached: the call counts when the server is back', async () => {
      const { server, proxy, name, latch } = await stage(way, 3, COMMAND_TIMEOUT_MS);
      await latch.getCount();
      proxy.blackhole();
      expect((await timed(latch.countDown())).error).toBeInstanceOf(OutcomeUnknownError);
      expect(await countOn(server, name)).toBe(3);
      await proxy.heal();
      await eventually(async () => (await countOn(server, name)) === 2);
    });
  });
});

describeWithProcess('count-down latch: no waiter waits at an open latch', () => {
  it('that opened without a message: the poll finds it', async () => {
    const opened = await stage('Holdfast.connect', 1);
    const { waiting } = await asleep(opened);
    await opened.server.command('DEL', opened.name);
    const { tookMs, value } = await waiting;
    expect(value).toBe(true);
    expect(tookMs).toBeGreaterThan(SOONEST_POLL_MS - 100);
    expect(tookMs).toBeLessThan(LATEST_POLL_MS + SLACK_MS);
  });

  it('when its wait ends before the next poll', async () => {
    const opened = await stage('Holdfast.connect', 1);
    const { waiting } = await asleep(opened, 1_500);
    await opened.server.command('DEL', opened.name);
    const { tookMs, value } = await waiting;
    expect(value).toBe(true);
    expect(tookMs).toBeGreaterThan(1_400);
    expect(tookMs).toBeLessThan(1_500 + SLACK_MS);
  });

  it('that opened while the subscription was broken', async () => {
    const place = await stage('Holdfast.connect', 1);
    const { server, name, latch } = place;
    const waiting = timed(latch.await());
    await eventually(async () => (await subscribersOf(server, latchChannel(name))) === 1);
    await unheard(place, (other) => other.getCountDownLatch(name).countDown());
    const { tookMs, value } = await waiting;
    expect(value).toBe(true);
    expect(tookMs).toBeLessThan(SOONEST_POLL_MS);
  });
});
