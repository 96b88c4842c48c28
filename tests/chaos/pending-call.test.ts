/**
 * What keeps a process alive: a call that is awaited, until it has settled; not a hold, nor anything else that goes on
 * in the background.
 */
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { arena } from './support/arena.ts';
import { WITH_CHILDREN_MS } from './support/first-word.ts';

vi.setConfig({ testTimeout: WITH_CHILDREN_MS });

const CHILD = fileURLToPath(new URL('./children/pending.ts', import.meta.url));

/** Polls and pings come at intervals of seconds, renewals and deadlines later still. */
const AT_ONCE_MS = 1_000;

describeWithProcess('a process that does nothing but wait for', () => {
  it.each([
    ['lock() behind a lease', true],
    ['lock() of a spin lock', true],
    ['tryLock() with a limit', null],
    ['tryLock() of a red lock', null],
    ['acquire() of a rate limiter', true],
    ['await() of a latch', false],
    ['tryLock() of a frozen server', 'ERR_OUTCOME_UNKNOWN'],
    ['unlock() of a frozen server', 'ERR_OUTCOME_UNKNOWN'],
    ['inspect() of a frozen server', 'ERR_OUTCOME_UNKNOWN'],
    ['health() of a frozen server', 'down'],
    ['close() beside a frozen server', true],
    ['connect() to a frozen server', 'ERR_DRIVER'],
    ['lock() through a client that was closed', 'ERR_DRIVER'],
  ])('%s: the call settles, and then the process ends at once', async (call, outcome) => {
    const { server } = await arena();
    const child = spawnChild(CHILD, { args: [server.url, randomName(), call] });
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(child.messages).toEqual([{ settled: outcome }, { lingeredMs: expect.any(Number) }]);
    expect(child.messages.at(-1)?.['lingeredMs']).toBeLessThan(AT_ONCE_MS);
  });
});
