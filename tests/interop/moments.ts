/** When something has happened that a test waits for, and what must not have happened. */
import { expect } from 'vitest';
import { eventually } from '../harness/wait.ts';
import type { Interop } from './context.ts';
import type { Kind } from './kinds.ts';
import { noteWakeUp } from './wake-ups.ts';

/** Long against everything but the lease itself: a hold with it ends by an unlock, or not within a test. */
export const LEASE_MS = 60_000;

/** Far below what a waiter sleeps without a message: in Java the lease, in Node a poll of at least two seconds. */
const WOKEN_WITHIN_MS = 1_000;
const ROUNDS = 3;

/** A machine that runs many tests at once may be slow for seconds. */
export const IN_TIME = { withinMs: 20_000 };

/** Resolves when so many processes listen where the lock's releases are announced; for a spin lock, when somebody asks. */
export async function untilListening(
  { place }: Interop,
  { channel }: Kind,
  name: string,
  processes = 1,
): Promise<void> {
  if (channel !== null) {
    await eventually(async () => (await place.listeners(channel(name))) >= processes, IN_TIME);
    return;
  }
  const before = await place.scriptRuns();
  await eventually(async () => (await place.scriptRuns()) > before + 1, IN_TIME);
}

/** Resolves when so many processes listen to a channel. */
export async function untilHeard({ place }: Interop, channel: string, processes = 1): Promise<void> {
  await eventually(async () => (await place.listeners(channel)) >= processes, IN_TIME);
}

/** Whether a call is still under way, a turn of both languages later. */
export async function isPending({ java }: Interop, call: Promise<unknown>): Promise<boolean> {
  const settled = call.then(
    () => true,
    () => true,
  );
  const oneTurn = java.order({ thread: 'idle', kind: 'owner', op: 'describe' }).then(() => false);
  return !(await Promise.race([settled, oneTurn]));
}

/**
 * Proves that waiters are woken by messages. A round waits, lets go, and resolves when the waiter has got in; the
 * fastest must be faster than anybody who was not told.
 */
export async function expectWokenByMessage(round: () => Promise<number>): Promise<void> {
  const tookMs: number[] = [];
  for (let done = 0; done < ROUNDS; done += 1) tookMs.push(await round());
  expect(Math.min(...tookMs), `woken after ${tookMs.map(Math.round).join(', ')} ms`).toBeLessThan(
    WOKEN_WITHIN_MS,
  );
}

/** How long it takes from letting go until the waiter is in. */
export async function wakeUpMs(letGo: () => Promise<unknown>, waiter: Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  const gone = letGo();
  await waiter;
  const tookMs = performance.now() - startedAt;
  noteWakeUp(tookMs);
  await gone;
  return tookMs;
}

/** What a call resolved with, and how long it took. */
export async function timed<T>(act: () => Promise<T>): Promise<{ result: T; tookMs: number }> {
  const startedAt = performance.now();
  const result = await act();
  return { result, tookMs: performance.now() - startedAt };
}

/** Keys that belong to a name. Answers that are kept for repeated requests expire by themselves. */
export async function keysOf({ place }: Interop, name: string): Promise<string[]> {
  const keys = await place.keys();
  return keys.filter((key) => key.includes(name) && !key.startsWith('redisson_unlock_latch:')).sort();
}
