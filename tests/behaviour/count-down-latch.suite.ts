/** The count-down latch: closing, counting, opening, and sharing it with Redisson. */
import { describe, expect, it } from 'vitest';
import { ClosedError, type CountDownLatch, DriverError, OptionError } from '../../src/index.ts';
import type { RawView } from '../harness/cluster-connection.ts';
import { randomName } from '../harness/names.ts';
import { itWithProcess, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough, onOneServer } from './support/context.ts';
import { untilListening, WELL_BEFORE_POLL_MS } from './support/listeners.ts';
import { rejection, timed } from './support/moments.ts';
import { commandCounts, resetCounts } from './support/server-stats.ts';

const channelOf = (name: string) => `redisson_countdownlatch__channel__{${name}}`;

const untilWaiting = (raw: RawView, name: string, processes = 1) =>
  untilListening(raw, channelOf(name), processes);

async function closed(
  context: Context,
  count: number,
): Promise<{ latch: CountDownLatch; raw: RawView; name: string }> {
  const latch = (await context.client()).getCountDownLatch(randomName());
  expect(await latch.trySetCount(count)).toBe(true);
  return { latch, raw: await context.raw(), name: latch.name };
}

function describeCountDownLatch(context: Context): void {
  describe('counting', () => {
    it('is open before its count is set', async () => {
      const latch = (await context.client()).getCountDownLatch(randomName());
      expect(await latch.getCount()).toBe(0);
      expect(await latch.await()).toBe(true);
      expect(await latch.await({ waitMs: 0 })).toBe(true);
      await latch.countDown();
      expect(await latch.getCount()).toBe(0);
      expect(await latch.delete()).toBe(false);
    });

    it('opens when the count reaches zero, and can be set again only then', async () => {
      const { latch, raw, name } = await closed(context, 2);
      expect(await raw.command('GET', name)).toBe('2');
      expect(await latch.trySetCount(5)).toBe(false);
      await latch.countDown();
      expect(await latch.getCount()).toBe(1);
      expect(await latch.await({ waitMs: 0 })).toBe(false);
      await latch.countDown();
      expect(await raw.command('EXISTS', name)).toBe(0);
      expect(await latch.await({ waitMs: 0 })).toBe(true);
      expect(await latch.trySetCount(5)).toBe(true);
      expect(await latch.getCount()).toBe(5);
    });

    it('counts every concurrent countDown()', async () => {
      const { latch, name } = await closed(context, 40);
      const theirs = (await context.client()).getCountDownLatch(name);
      await Promise.all(Array.from({ length: 39 }, (_, i) => (i % 2 === 0 ? latch : theirs).countDown()));
      expect(await latch.getCount()).toBe(1);
    });

    it('treats a 0 that Java leaves behind as an open latch', async () => {
      const raw = await context.raw();
      const latch = (await context.client()).getCountDownLatch(randomName());
      await raw.command('SET', latch.name, '0');
      expect(await latch.await({ waitMs: 0 })).toBe(true);
      expect(await latch.trySetCount(2)).toBe(true);
      expect(await latch.getCount()).toBe(2);
    });

    it.each([0, -1, 1.5, Number.NaN, 2 ** 53, '2'])('refuses a count of %s', async (wrong) => {
      const latch = (await context.client()).getCountDownLatch(randomName());
      expect(await rejection(latch.trySetCount(wrong as number))).toBeInstanceOf(OptionError);
      expect(await (await context.raw()).command('EXISTS', latch.name)).toBe(0);
    });

    it('refuses unknown options', async () => {
      const latch = (await context.client()).getCountDownLatch(randomName());
      expect(await rejection(latch.await({ waitMs: -1 }))).toBeInstanceOf(OptionError);
      expect(await rejection(latch.await({ leaseMs: 1 } as object))).toBeInstanceOf(OptionError);
    });

    it('does not change a key that is not a latch', async () => {
      const raw = await context.raw();
      const latch = (await context.client()).getCountDownLatch(randomName());
      await raw.command('RPUSH', latch.name, 'data');
      const calls = [
        latch.trySetCount(1),
        latch.countDown(),
        latch.getCount(),
        latch.delete(),
        latch.await(),
      ];
      for (const error of await Promise.all(calls.map(rejection))) expect(error).toBeInstanceOf(DriverError);
      expect(await raw.command('LRANGE', latch.name, 0, -1)).toEqual(['data']);
    });
  });

  describe('waiting', () => {
    it('wakes all waiters of all processes when the count reaches zero', async () => {
      const { latch, raw, name } = await closed(context, 2);
      const theirs = (await context.client()).getCountDownLatch(name);
      const waiters = [latch, theirs].flatMap((each) => [
        each.await(),
        each.await({ waitMs: 20_000 }),
        each.await(),
      ]);
      await untilWaiting(raw, name, 2);
      await latch.countDown();
      let isIn = false;
      void Promise.race(waiters).then(() => {
        isIn = true;
      });
      expect(await latch.getCount()).toBe(1);
      expect(isIn).toBe(false);
      await theirs.countDown();
      const { result, tookMs } = await timed(() => Promise.all(waiters));
      expect(result).toEqual([true, true, true, true, true, true]);
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      await untilWaiting(raw, name, 0);
    });

    it('answers false when waitMs has passed, not before', async () => {
      const { latch, raw, name } = await closed(context, 1);
      const { result, tookMs } = await timed(() => latch.await({ waitMs: 150 }));
      expect(result).toBe(false);
      expect(tookMs).toBeGreaterThanOrEqual(148);
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      await untilWaiting(raw, name, 0);
    });

    it('checks once more when waitMs has passed, in case the message was lost', async () => {
      const { latch, raw, name } = await closed(context, 1);
      const waiter = latch.await({ waitMs: 400 });
      await untilWaiting(raw, name);
      // The look behind the subscription must not be the one that sees it.
      await raw.command('PUBLISH', channelOf(name), '1');
      await raw.command('DEL', name);
      expect(await waiter).toBe(true);
    });

    it('a new waiter asks the server, and wakes the waiters that missed the opening', async () => {
      const { latch, raw, name } = await closed(context, 1);
      const sleeper = latch.await();
      await untilWaiting(raw, name);
      await raw.command('DEL', name);
      const { result, tookMs } = await timed(() => Promise.all([latch.await(), sleeper]));
      expect(result).toEqual([true, true]);
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
    });

    it('is woken when the latch is deleted', async () => {
      const { latch, raw, name } = await closed(context, 3);
      const waiter = latch.await();
      await untilWaiting(raw, name);
      expect(await (await context.client()).getCountDownLatch(name).delete()).toBe(true);
      const { result, tookMs } = await timed(() => waiter);
      expect(result).toBe(true);
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(await latch.delete()).toBe(false);
    });

    it('stops at once when aborted', async () => {
      const { latch, raw, name } = await closed(context, 1);
      const giveUp = new AbortController();
      const waiters = [
        latch.await({ signal: giveUp.signal }),
        latch.await({ signal: giveUp.signal, waitMs: 9_000 }),
      ];
      await untilWaiting(raw, name);
      const why = new Error('changed my mind');
      giveUp.abort(why);
      for (const waiter of waiters) expect(await rejection(waiter)).toBe(why);
      await untilWaiting(raw, name, 0);
      expect(await latch.getCount()).toBe(1);
    });

    it('rejects when the client closes', async () => {
      const client = await context.client();
      const latch = client.getCountDownLatch(randomName());
      await latch.trySetCount(1);
      const waiter = latch.await();
      await untilWaiting(await context.raw(), latch.name);
      const closing = client.close();
      expect(await rejection(waiter)).toBeInstanceOf(ClosedError);
      await closing;
      expect(await rejection(latch.countDown())).toBeInstanceOf(ClosedError);
    });

    onOneServer(context, itWithProcess)('opens for hundreds of waiters with a few reads', async () => {
      const server = await ownServer();
      const client = await context.client({}, server);
      const latch = client.getCountDownLatch(randomName());
      await latch.trySetCount(1);
      const raw = await context.client({}, server);
      const waiters = Array.from({ length: 300 }, () => latch.await());
      // Each newcomer looks for itself; a call sent after them is answered after them.
      await latch.getCount();
      await eventually(async () => {
        const found = (await server.command('PUBSUB', 'NUMSUB', channelOf(latch.name))) as [string, number];
        return Number(found[1]) === 1;
      });
      await latch.getCount();
      await resetCounts(server);
      await raw.getCountDownLatch(latch.name).countDown();
      expect(await Promise.all(waiters)).toEqual(Array.from({ length: 300 }, () => true));
      const counts = await commandCounts(server);
      expect((counts.get('evalsha') ?? 0) + (counts.get('eval') ?? 0)).toBeLessThan(20);
    });
  });

  describe('shared with Redisson', () => {
    it('is woken by the last count of Java, which deletes the key and publishes 0', async () => {
      const { latch, raw, name } = await closed(context, 1);
      const waiter = latch.await();
      await untilWaiting(raw, name);
      expect(await raw.command('DECR', name)).toBe(0);
      await raw.command('DEL', name);
      await raw.command('PUBLISH', channelOf(name), '0');
      expect((await timed(() => waiter)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
    });

    it('publishes 1 when the count is set, and 0 when the latch opens or is deleted', async () => {
      const raw = await context.raw();
      const latch = (await context.client()).getCountDownLatch(randomName());
      const listener = await context.raw();
      await listener.subscribe(channelOf(latch.name));
      const heard: string[] = [];
      listener.onMessage(({ message }) => heard.push(message));
      await latch.trySetCount(2);
      await latch.countDown();
      await latch.countDown();
      await latch.trySetCount(1);
      await latch.delete();
      await raw.command('PUBLISH', channelOf(latch.name), 'end');
      await eventually(() => heard.includes('end'));
      expect(heard).toEqual(['1', '0', '1', '1', '0', 'end']);
    });

    onOneServer(context, it)('keeps the odd channel of a name with braces', async () => {
      const raw = await context.raw();
      const latch = (await context.client()).getCountDownLatch(`{${randomName()}}:start`);
      await latch.trySetCount(1);
      const waiter = latch.await();
      await untilWaiting(raw, latch.name);
      await latch.countDown();
      expect(await waiter).toBe(true);
    });
  });
}

describeThrough('count-down latch', describeCountDownLatch);
