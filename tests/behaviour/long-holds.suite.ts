/** What is held or waited for too long is said once, with where it came from. */
import { describe, expect, it } from 'vitest';
import { type ClientOptions, OptionError } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { describeThrough } from './support/context.ts';
import { warningsOf } from './support/moments.ts';

describeThrough('long holds and waits', (context) => {
  async function open(options: ClientOptions = {}) {
    const client = await context.client(options);
    return { client, warnings: warningsOf(client) };
  }

  describe('warnHeldMs', () => {
    it('warns once of each hold that lasts, with the stack of the call that took it', async () => {
      const { client, warnings } = await open({ warnHeldMs: 50 });
      const name = randomName();
      async function takesItHere() {
        return client.getLock(name).lock();
      }
      const hold = await takesItHere();
      await eventually(() => expect(warnings).toHaveLength(1));
      expect(warnings[0]).toMatchObject({
        code: 'HOLDFAST_HELD_LONG',
        message: expect.stringContaining(`"${name}" has been held by ${hold.owner} for`),
        about: { name, owner: hold.owner, stack: expect.stringContaining('takesItHere') },
      });
      expect(warnings[0]?.about?.forMs).toBeGreaterThanOrEqual(50);
      await hold.unlock();
      await client.getLock(name).withLock(async () => {
        await eventually(() => expect(warnings).toHaveLength(2));
      });
      expect(warnings[1]?.about?.stack).toContain('long-holds.suite.ts');
      expect(warnings[1]?.about?.stack).not.toContain('protocol-lock.ts');
      expect(await client.health()).toMatchObject({ status: 'ok', problems: [] });
    });

    it('warns of permits with leases, and not of what was given back in time', async () => {
      const { client, warnings } = await open({ warnHeldMs: 200 });
      const name = randomName();
      const seats = client.getPermitExpirableSemaphore(name);
      await seats.trySetPermits(2);
      await (await seats.acquire()).release();
      await (await client.getLock(randomName()).lock()).unlock();
      const seat = await seats.acquire();
      await eventually(() => expect(warnings).toHaveLength(1));
      expect(warnings[0]).toMatchObject({ code: 'HOLDFAST_HELD_LONG', about: { name, owner: seat.id } });
      await seat.release();
      expect(warnings).toHaveLength(1);
      const raw = await context.raw();
      await raw.command('DEL', name);
    });
  });

  describe('warnWaitMs', () => {
    it('warns once of each wait that lasts, of locks and of synchronizers', async () => {
      const { client, warnings } = await open({ warnWaitMs: 50 });
      const [name, latch] = [randomName(), randomName()];
      const hold = await client.getLock(name).lock();
      async function waitsHere() {
        return client.getLock(name).lock();
      }
      const waiting = waitsHere();
      await eventually(() => expect(warnings).toHaveLength(1));
      expect(warnings[0]).toMatchObject({
        code: 'HOLDFAST_WAIT_LONG',
        message: expect.stringContaining(`"${name}" has been waited for`),
        about: { name, stack: expect.stringContaining('waitsHere') },
      });
      await hold.unlock();
      await (await waiting).unlock();
      await client.getCountDownLatch(latch).trySetCount(1);
      const opened = client.getCountDownLatch(latch).await();
      await eventually(() => expect(warnings).toHaveLength(2));
      expect(warnings[1]).toMatchObject({ code: 'HOLDFAST_WAIT_LONG', about: { name: latch } });
      await client.getCountDownLatch(latch).countDown();
      expect(await opened).toBe(true);
    });
  });

  it('neither is on by itself, and wrong limits are refused', async () => {
    const { client, warnings } = await open();
    const hold = await client.getLock(randomName()).lock();
    expect(await client.getLock(hold.name).tryLock({ waitMs: 300 })).toBeNull();
    expect(warnings).toEqual([]);
    for (const wrong of [0, -1, 1.5, Number.NaN, '5', Number.POSITIVE_INFINITY]) {
      for (const option of ['warnHeldMs', 'warnWaitMs']) {
        await expect(context.client({ [option]: wrong })).rejects.toThrow(OptionError);
      }
    }
  });
});
