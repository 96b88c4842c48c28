/** An acquire reported as failed that runs later. It blocks nobody; at worst for its own lease. */
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast, OutcomeUnknownError } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { arena, join, leftovers, SLACK_MS, scriptCalls, timed } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { KINDS, LAYOUTS } from './support/kinds.ts';
import { writesTo } from './support/writes.ts';

const COMMAND_TIMEOUT_MS = 300;

/** Resolves when the marker that bars an owner is on the server. */
async function barred(server: TestServer, name: string): Promise<void> {
  await eventually(async () => {
    const keys = [...(await leftovers(server)).keys()];
    return keys.some((key) => key.startsWith(`redisson_unlock_latch:{${name}}:`));
  });
}

describeWithProcess('zombie: an acquire reported as failed executes later', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it.each(KINDS)('$title: takes nothing after the cancel', async (kind) => {
      const { server, proxy } = await arena();
      const name = randomName();
      const client = await join(way, proxy, { commandTimeoutMs: COMMAND_TIMEOUT_MS });
      const zombie = proxy.holdRequest(kind.requests.acquire);
      const tried = await timed(kind.get(client, name).tryLock());
      expect(tried.error).toBeInstanceOf(OutcomeUnknownError);
      expect(tried.tookMs).toBeLessThan(COMMAND_TIMEOUT_MS + SLACK_MS);

      // The connection with the request in it breaks; the cancel overtakes it on the next one.
      proxy.dropConnections();
      await barred(server, name);
      expect(await server.command('EXISTS', name)).toBe(0);
      const before = await scriptCalls(server);
      const writes = await writesTo(server);
      zombie.release();
      await eventually(async () => (await scriptCalls(server)) > before);
      expect(await writes.until('the zombie has run')).not.toContain(name);
      expect(await server.command('EXISTS', name)).toBe(0);
      const rival = await kind.get(await join('Holdfast.connect', server), name).tryLock();
      expect(rival).not.toBeNull();
    });

    it.each(LAYOUTS)('$title: without the cancel, the lock is free after its lease', async (kind) => {
      const { server, proxy } = await arena();
      const name = randomName();
      const leaseMs = 1_000;
      const client = await join(way, proxy, { commandTimeoutMs: COMMAND_TIMEOUT_MS });
      const zombie = proxy.holdRequest(kind.requests.acquire);
      const tried = await timed(kind.get(client, name).tryLock({ leaseMs }));
      expect(tried.error).toBeInstanceOf(OutcomeUnknownError);

      await proxy.refuse();
      zombie.release();
      await eventually(async () => (await server.command('EXISTS', name)) === 1);
      expect(await kind.holderOn(server, name)).toMatch(`${client.id}:`);
      const rival = kind.get(await join('Holdfast.connect', server), name);
      const entered = await timed(rival.lock());
      expect(entered.error).toBeUndefined();
      expect(entered.tookMs).toBeLessThan(leaseMs + SLACK_MS);
    });
  });

  it.each(LAYOUTS)('$title: out of the offline queue of ioredis with commandTimeout', async (kind) => {
    const { server, proxy } = await arena();
    const name = randomName();
    const commandTimeoutMs = 1_000;
    const redis = new Redis(proxy.port, proxy.host, { commandTimeout: 200 });
    redis.on('error', () => {});
    await eventually(() => redis.ping());
    const client = Holdfast.from(redis, { commandTimeoutMs });
    onTestFinished(async () => {
      await client.close();
      redis.disconnect();
    });
    const lock = kind.get(client, name);
    expect(await lock.isLocked()).toBe(false);

    const closed = new Promise((resolve) => redis.once('close', resolve));
    await proxy.refuse();
    await closed;
    const tried = await timed(lock.tryLock());
    expect(tried.error).toBeInstanceOf(OutcomeUnknownError);
    expect(tried.tookMs).toBeLessThan(commandTimeoutMs + SLACK_MS);

    const ready = new Promise((resolve) => redis.once('ready', resolve));
    await proxy.heal();
    await ready;
    // Behind everything that was queued while the server could not be reached, and not given up since.
    await eventually(() => redis.ping());
    await barred(server, name);
    expect(await server.command('EXISTS', name)).toBe(0);
    expect(await kind.get(await join('Holdfast.connect', server), name).tryLock()).not.toBeNull();
  });
});
