/** What the command time-out promises where calls meet an outage, a local crowd, or each other. */
import { describe, expect, it } from 'vitest';
import { HoldfastError, OutcomeUnknownError } from '../../src/index.ts';
import { latchChannel } from '../../src/keys.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, ownProxy, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough, onOneServer } from './support/context.ts';
import { rejection, timed } from './support/moments.ts';

/** What a busy machine may add to a time. */
const SLACK_MS = 1_000;

function describeCommandTimeouts(context: Context): void {
  describe('the command time-out', () => {
    it('at its maximum: latches and semaphores answer', async () => {
      const client = await context.client({ commandTimeoutMs: Number.MAX_SAFE_INTEGER });
      const latch = client.getCountDownLatch(randomName());
      const semaphore = client.getSemaphore(randomName());
      expect(await latch.trySetCount(1)).toBe(true);
      expect(await latch.getCount()).toBe(1);
      expect(await semaphore.trySetPermits(1)).toBe(true);
      expect(await semaphore.availablePermits()).toBe(1);
    }, 5_000);

    it('bounds how long answers are remembered once the client has closed', async () => {
      const raw = await context.raw();
      const commandTimeoutMs = 5_000;
      const client = await context.client({ commandTimeoutMs });
      const name = randomName();
      await raw.command('SET', name, '3');
      expect(await client.getSemaphore(name).withPermit(() => 'done')).toBe('done');
      await client.close();
      expect(await raw.command('GET', name)).toBe('3');
      for (const key of (await raw.command('KEYS', `redisson_unlock_latch:{${name}}:*`)) as string[]) {
        const leftMs = await raw.command('PTTL', key);
        expect(leftMs, `${key} has an expiry`).not.toBe(-1);
        expect(leftMs, key).toBeLessThanOrEqual(2 * commandTimeoutMs);
      }
    });
  });

  onOneServer(context, describeWithProcess)('the command time-out in an outage', () => {
    it('applies once to a call on a latch that others of the process wait for too', async () => {
      const server = await ownServer();
      const commandTimeoutMs = 1_500;
      const waitMs = 50;
      const client = await context.client({ commandTimeoutMs }, server);
      const latch = client.getCountDownLatch(randomName());
      await latch.trySetCount(1);
      const first = latch.await({ waitMs: 20_000 });
      const channel = latchChannel(latch.name);
      await eventually(async () => {
        expect(await server.command('PUBSUB', 'NUMSUB', channel)).toEqual([channel, 1]);
      });

      await server.pause();
      const { result, tookMs } = await timed(() => rejection(latch.await({ waitMs })));
      await server.resume();
      await latch.countDown();
      expect(await first).toBe(true);
      expect(result).toBeInstanceOf(HoldfastError);
      expect(tookMs).toBeLessThan(waitMs + commandTimeoutMs + SLACK_MS);
    });

    it('of an inner unlock: the outcome is unknown, and the unlock happens once the server is back', async () => {
      const server = await ownServer();
      const proxy = await ownProxy(server);
      const client = await context.client({ commandTimeoutMs: 500 }, proxy);
      const lock = client.getLock(randomName());
      const owner = client.owner();
      const outer = await lock.lock({ owner });
      const inner = await lock.lock({ owner });
      const count = () => server.command('HGET', lock.name, outer.owner);
      expect(await count()).toBe('2');

      proxy.blackhole();
      expect(await rejection(inner.unlock())).toBeInstanceOf(OutcomeUnknownError);
      expect(await count()).toBe('2');
      await proxy.heal();
      await eventually(async () => expect(await count()).toBe('1'), { withinMs: 10_000 });
      outer.assertHeld();
      expect(await lock.getHoldCount({ owner })).toBe(1);
      expect(await outer.unlock()).toBe(true);
      expect(await server.command('EXISTS', lock.name)).toBe(0);
    });
  });
}

describeThrough('odd orders', describeCommandTimeouts);
