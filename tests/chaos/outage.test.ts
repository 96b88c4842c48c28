/** The server is away for a while, or busy, and comes back. */
import { describe, expect, it, vi } from 'vitest';
import { DriverError } from '../../src/index.ts';
import { lockChannel } from '../../src/keys.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openRaw } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import {
  aborted,
  arena,
  expiryOf,
  join,
  listenTo,
  past,
  SLACK_MS,
  scriptCalls,
  subscribersOf,
  timed,
} from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { LOCK } from './support/kinds.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Resolves when a waiter listens for releases, which it does once it has been told to wait. */
async function toldToWait(server: TestServer, name: string): Promise<void> {
  await eventually(async () => (await subscribersOf(server, lockChannel(name))) === 1);
}

describeWithProcess('the server stopped and started again', () => {
  it.each(EACH_WAY)("with %s: the holder's signal aborts, waiters resume, nothing piles up", async (way) => {
    const { server } = await arena();
    const name = randomName();
    const client = await join(way, server, { watchdogMs: 4_000, commandTimeoutMs: 1_000 });
    const hold = await client.getLock(name).lock();
    const told = aborted(hold.signal);
    const expiresAt = await expiryOf(server, name);
    const entries = 200;
    let entered = 0;
    const waiting = Promise.all(
      Array.from({ length: entries }, () =>
        client.getLock(name).withLock(() => {
          entered += 1;
        }),
      ),
    );
    const allIn = timed(waiting);
    await toldToWait(server, name);

    await server.kill();
    const goneAt = performance.now();
    const { value, atWallMs } = await told;
    expect(value).toMatchObject({ reason: 'unreachable' });
    expect(atWallMs).toBeLessThan(expiresAt);
    await past(goneAt + 5_000);
    await server.restart();
    expect((await allIn).error).toBeUndefined();
    expect(entered).toBe(entries);
    expect(await hold.unlock()).toBe(false);
    // Each entry takes one script in and one out, sent again by source while the server does not know it. Of
    // 200 waiters one asked at a time: what 5 s of asking left in queues is a handful.
    expect(await scriptCalls(server)).toBeLessThan(2 * entries + 60);
    await eventually(async () => (await server.command('EXISTS', name)) === 0);
  });
});

describeWithProcess('a server that stands still', () => {
  it.each(EACH_WAY)('with %s: frozen for less than the lease: holder and waiters continue', async (way) => {
    const { server } = await arena();
    const name = randomName();
    const client = await join(way, server, { watchdogMs: 4_000, commandTimeoutMs: 500 });
    const { lost } = listenTo(client);
    const hold = await client.getLock(name).lock();
    const waiter = client.getLock(name).lock();
    await toldToWait(server, name);
    await server.pause();
    const frozenAt = performance.now();
    const asked = await timed(client.getLock(name).isLocked());
    expect(asked.error).toMatchObject({ code: 'ERR_OUTCOME_UNKNOWN' });
    expect(asked.tookMs).toBeLessThan(500 + SLACK_MS);
    await past(frozenAt + 2_000);
    await server.resume();
    await eventually(async () => expect(await server.command('PTTL', name)).toBeGreaterThan(3_500));
    hold.assertHeld();
    expect(lost).toEqual([]);
    expect(await hold.unlock()).toBe(true);
    expect(await (await waiter).unlock()).toBe(true);
  });

  it("frozen past the lease: the old holder's signal aborts first, and its unlock changes nothing", async () => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server, { watchdogMs: 2_000, commandTimeoutMs: 500 });
    const other = await join('Holdfast.connect', server, { commandTimeoutMs: 500 });
    const hold = await client.getLock(name).lock();
    const told = aborted(hold.signal);
    const expiresAt = await expiryOf(server, name);
    const waiting = other.getLock(name).lock();
    await toldToWait(server, name);
    await server.pause();
    const { atWallMs } = await told;
    expect(atWallMs).toBeLessThan(expiresAt);
    await eventually(() => Date.now() > expiresAt, { everyMs: 20 });
    await server.resume();
    const theirs = await waiting;
    expect(await hold.unlock()).toBe(false);
    // Behind the release that the lost hold repeats in the background.
    expect(await client.getLock(name).isLocked()).toBe(true);
    expect(await LOCK.holderOn(server, name)).toBe(theirs.owner);
    expect(await theirs.unlock()).toBe(true);
  });

  describe('busy', () => {
    it('with a slow command: calls settle, and the hold stays', async () => {
      const { server } = await arena();
      const name = randomName();
      const client = await join('Holdfast.connect', server, { watchdogMs: 4_000, commandTimeoutMs: 400 });
      const { lost } = listenTo(client);
      const hold = await client.getLock(name).lock();
      const busy = await openRaw(server.host, server.port);
      const slept = busy.command('DEBUG', 'SLEEP', '1.5');
      // Asked again until the sleep has begun: from then on nothing answers.
      const asked = await eventually(async () => {
        const outcome = await timed(client.getLock(name).isLocked());
        if (outcome.error === undefined) throw new Error('The server still answers');
        return outcome;
      });
      expect(asked.error).toMatchObject({ code: 'ERR_OUTCOME_UNKNOWN' });
      expect(asked.tookMs).toBeLessThan(400 + SLACK_MS);
      await slept;
      hold.assertHeld();
      expect(lost).toEqual([]);
      expect(await hold.unlock()).toBe(true);
    });

    it('with an endless script: refused calls are repeated, and nothing runs twice', async () => {
      const { server } = await arena({ args: ['--busy-reply-threshold', '50'] });
      const name = randomName();
      const client = await join('Holdfast.connect', server, { watchdogMs: 6_000, commandTimeoutMs: 1_500 });
      const { lost } = listenTo(client);
      const held = await client.getLock(name).lock();
      const endless = await openRaw(server.host, server.port);
      const script = timed(endless.command('EVAL', 'while true do end', 0));
      await eventually(() => expect(server.command('PING')).rejects.toThrow('BUSY'));

      const tried = await timed(client.getLock(`${name}:tried`).tryLock());
      expect(tried.error).toBeInstanceOf(DriverError);
      expect(tried.error).toMatchObject({ cause: { message: expect.stringMatching(/^BUSY /) } });
      expect(tried.tookMs).toBeLessThan(1_500 + SLACK_MS);

      const waiting = client.getLock(`${name}:waited`).tryLock({ waitMs: 5_000 });
      const releasing = held.unlock();
      expect(await server.command('SCRIPT', 'KILL')).toBe('OK');
      expect((await script).error).toMatchObject({ message: expect.stringContaining('killed by user') });
      expect(await releasing).toBe(true);
      expect(await server.command('EXISTS', name)).toBe(0);
      const waited = await waiting;
      expect(await LOCK.countOn(server, `${name}:waited`)).toBe(1);
      expect(await waited?.unlock()).toBe(true);
      expect(lost).toEqual([]);
      expect(await server.command('EXISTS', `${name}:tried`)).toBe(0);
    });
  });
});
