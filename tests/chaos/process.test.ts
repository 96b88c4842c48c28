/** The holder's process dies, sleeps, is too busy, or is asked to end. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import type { ClientOptions } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import type { TestChild } from '../harness/child-process.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import type { HoldsSettings } from './children/holds.ts';
import { arena, join, SLACK_MS, timed } from './support/arena.ts';
import { firstWord, WITH_CHILDREN_MS } from './support/first-word.ts';
import { KINDS, type Kind, LAYOUTS, LOCK, PASSED_ON } from './support/kinds.ts';
import { UNHURRIED } from './support/passed-on.ts';

vi.setConfig({ testTimeout: WITH_CHILDREN_MS });

const SCRIPT = fileURLToPath(new URL('./children/holds.ts', import.meta.url));

/** A child that holds the lock. */
async function holder(
  server: TestServer,
  kind: Kind,
  name: string,
  options: ClientOptions,
  { blockMs = 0, isPassedOn = false } = {},
): Promise<{ child: TestChild; owner: string }> {
  const { host, port } = server;
  const settings: HoldsSettings = {
    way: 'Holdfast.connect',
    place: { host, port },
    kind: kind.title,
    name,
    options: { ...options, passOn: UNHURRIED },
    blockMs,
    isPassedOn,
  };
  const child = spawnChild(SCRIPT, { args: [JSON.stringify(settings)] });
  const { held } = await firstWord(child, ({ held }) => held !== undefined);
  return { child, owner: held as string };
}

function isStopped(pid: number): boolean {
  return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

describeWithProcess('the holder is killed', () => {
  const cases = [
    ...KINDS.map((kind) => ({ kind, title: kind.title, isPassedOn: false })),
    ...PASSED_ON.map((kind) => ({ kind, title: `${kind.title}, passed on`, isPassedOn: true })),
  ];
  it.each(cases)(
    'SIGKILL: a waiter for $title gets the lock when the lease ends',
    async ({ kind, isPassedOn }) => {
      const { server } = await arena();
      const name = randomName();
      const { child, owner } = await holder(server, kind, name, { watchdogMs: 2_000 }, { isPassedOn });
      const waiting = kind.get(await join('Holdfast.connect', server), name).lock();
      child.kill('SIGKILL');
      expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
      expect(await kind.holderOn(server, name)).toBe(owner);
      const entering = timed(waiting);
      const remainingMs = Number(await server.command('PTTL', name));
      const { tookMs, value } = await entering;
      expect(tookMs).toBeLessThan(remainingMs + SLACK_MS);
      expect(tookMs).toBeGreaterThan(remainingMs - 1);
      expect(await kind.holderOn(server, name)).toBe((value as { owner: string }).owner);
    },
  );
});

describeWithProcess('the holder does not run for longer than its lease', () => {
  const cases = LAYOUTS.flatMap((kind) => [
    { kind, title: 'SIGSTOP, then SIGCONT', order: { order: 'stop' } },
    { kind, title: 'an event loop that is blocked', order: { order: 'block', ms: 2_500 } },
  ]);
  const afterPassing = (kind: Kind, title: string, order: { order: string; ms?: number }) => ({
    kind,
    title: `${title}, after the lock was passed on`,
    order,
    isPassedOn: true,
  });
  const passed = [
    ...PASSED_ON.map((kind) => afterPassing(kind, 'SIGSTOP, then SIGCONT', { order: 'stop' })),
    afterPassing(LOCK, 'an event loop that is blocked', { order: 'block', ms: 2_500 }),
  ];
  it.each([...cases.map((each) => ({ ...each, isPassedOn: false })), ...passed])(
    '$title: the loss shows on the first line after the pause, $kind.title',
    async ({ kind, order, isPassedOn }) => {
      const { server } = await arena();
      const name = randomName();
      const { child } = await holder(server, kind, name, { watchdogMs: 1_500 }, { isPassedOn });
      const rival = kind.get(await join('Holdfast.connect', server), name);
      child.send(order);
      const theirs = await rival.lock();
      if (order.order === 'stop') {
        expect(isStopped(child.pid)).toBe(true);
        child.kill('SIGCONT');
      }
      const first = await child.next(({ asserted }) => asserted !== undefined);
      expect(first).toEqual({ asserted: 'ERR_LEASE_LOST', remainingMs: 0 });
      expect(await child.next(({ aborted }) => aborted !== undefined)).toEqual({ aborted: true });
      expect(child.messages).toContainEqual({ lost: 'expired' });
      child.send({ order: 'unlock' });
      expect(await child.next(({ unlocked }) => unlocked !== undefined)).toEqual({ unlocked: false });
      // The child's release in the background has been and gone once its owner is marked as ended.
      await eventually(
        async () => ((await server.command('KEYS', 'redisson_unlock_latch:*')) as string[])[0],
      );
      theirs.assertHeld();
      expect(await kind.holderOn(server, name)).toBe(theirs.owner);
      expect(await theirs.unlock()).toBe(true);
    },
  );

  it.each([50, 80])(
    'an event loop blocked for %i percent of the lease: the hold is kept, and renewed first',
    async (share) => {
      const { server } = await arena();
      const name = randomName();
      const watchdogMs = 3_000;
      const blockMs = (watchdogMs * share) / 100;
      const { child, owner } = await holder(server, LOCK, name, { watchdogMs }, { blockMs });
      const waiting = (await join('Holdfast.connect', server)).getLock(name).lock();
      expect(await child.next(({ asserted }) => asserted !== undefined)).toMatchObject({ asserted: 'held' });
      await eventually(
        async () => expect(await server.command('PTTL', name)).toBeGreaterThan(watchdogMs * 0.9),
        {
          withinMs: watchdogMs / 3,
        },
      );
      expect(await child.next(({ aborted }) => aborted !== undefined)).toEqual({ aborted: false });
      expect(child.messages).toContainEqual({ stalledMs: expect.any(Number) });
      expect(await LOCK.holderOn(server, name)).toBe(owner);
      child.send({ order: 'unlock' });
      expect(await child.next(({ unlocked }) => unlocked !== undefined)).toEqual({ unlocked: true });
      expect(await LOCK.holderOn(server, name)).toBe((await waiting).owner);
    },
  );
});

describeWithProcess('the holder ends', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s with closeOnSignals: the lock is released, and the signal ends the process',
    async (signal) => {
      const { server } = await arena();
      const name = randomName();
      const { child } = await holder(server, LOCK, name, { closeOnSignals: true });
      const waiting = (await join('Holdfast.connect', server)).getLock(name).lock();
      child.kill(signal);
      const ending = await timed(child.exited);
      expect(ending.value).toEqual({ code: null, signal });
      const theirs = await timed(waiting);
      expect(theirs.tookMs).toBeLessThan(SLACK_MS);
      expect(child.messages).toContainEqual({ lost: 'closed' });
    },
  );

  it('SIGTERM with closeOnSignals while the server is frozen: the process still ends within the budget', async () => {
    const { server } = await arena();
    const name = randomName();
    const commandTimeoutMs = 700;
    const { child } = await holder(server, LOCK, name, { closeOnSignals: true, commandTimeoutMs });
    await server.pause();
    child.kill('SIGTERM');
    const { tookMs, value } = await timed(child.exited);
    expect(value).toEqual({ code: null, signal: 'SIGTERM' });
    // The budget, and half a second for a connection to close.
    expect(tookMs).toBeLessThan(commandTimeoutMs + 500 + SLACK_MS);
    await server.resume();
  });

  describe.each([
    { title: 'process.exit', order: 'exit', code: 3 },
    { title: 'an uncaught exception', order: 'throw', code: 1 },
  ])('$title', ({ order, code }) => {
    it('the lock is free when the lease ends', async () => {
      const { server } = await arena();
      const name = randomName();
      const { child } = await holder(server, LOCK, name, { watchdogMs: 1_500 });
      const waiting = (await join('Holdfast.connect', server)).getLock(name).lock();
      child.send({ order });
      expect(await child.exited).toEqual({ code, signal: null });
      const remainingMs = Number(await server.command('PTTL', name));
      const { tookMs, error } = await timed(waiting);
      expect(error).toBeUndefined();
      expect(tookMs).toBeLessThan(remainingMs + SLACK_MS);
    });
  });
});
