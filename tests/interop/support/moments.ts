/** When something has happened that a test waits for, and what must not have happened. */
import { expect } from 'vitest';
import { lockChannel, semaphoreChannel } from '../../../src/keys.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from './context.ts';
import { JavaSemaphore, javaLock } from './java-objects.ts';
import type { Kind } from './kinds.ts';
import { noteWakeUp } from './wake-ups.ts';

/** Long against everything but the lease itself: a hold with it ends by an unlock, or not within a test. */
export const LEASE_MS = 60_000;

/** Long enough to fall asleep, short against every poll. */
const SHORT_WAIT_MS = 200;

/** Clocks of milliseconds may end a wait within the one before. */
const ROUNDING_MS = 2;

/**
 * Nobody who was not told is in before this: a waiter of Node looks again four seconds after its last look, a fair one
 * two, and letting go comes at most some moments after that look. A waiter of Java sleeps for the whole lease.
 */
const BEFORE_ANY_POLL_MS = 1_500;

/** How soon a waiter is in once the lock is free, on a machine that has time for it. */
const PROMPTLY_MS = 100;

/** A spin lock is told nothing: it asks at the end of a pause, of which this is the longest in both languages. */
const LONGEST_PAUSE_MS = 128;

const ROUNDS = 5;

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

/**
 * Whether a call is still under way once both languages have heard and answered something that happened later. In a
 * Cluster that is said of the server that has the name.
 */
export async function isPending(
  interop: Interop,
  call: Promise<unknown>,
  name = randomName('interop'),
): Promise<boolean> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  call.then(over, over);
  await wakeEachOther(interop, name);
  return !isOver;
}

/**
 * Each language waits for a permit, is woken by the other and takes it. Node has one connection for messages and one
 * for commands: a message from before comes ahead of these, and what it makes a waiter ask is answered ahead of them.
 * Java may have more than one; there it is the same way, taken later.
 */
async function wakeEachOther(interop: Interop, name: string): Promise<void> {
  const { node, java, place } = interop;
  const permits = name.includes('{') ? `${name}:turn` : `{${name}}:turn`;
  const [ours, theirs] = [node.getSemaphore(permits), new JavaSemaphore(java, 'semaphore', [permits])];
  const theirTurn = theirs.acquire();
  await theirs.untilAsleep();
  await ours.release();
  await theirTurn;
  const ourTurn = ours.acquire();
  await untilHeard(interop, semaphoreChannel(permits));
  await theirs.release();
  await ourTurn;
  await place.command(permits, 'DEL', permits);
}

/**
 * Proves that waiters are woken by messages, and how soon. A round waits, lets go, and resolves when the waiter has
 * got in. No round may last as long as for somebody who was not told; and since a machine that is busy slows some of
 * them down, but a delay that is built in slows all of them, one must be prompt.
 */
export async function expectWokenByMessage(round: () => Promise<number>, kind?: Kind): Promise<void> {
  const tookMs: number[] = [];
  for (let done = 0; done < ROUNDS; done += 1) tookMs.push(await round());
  const figures = `woken after ${tookMs.map(Math.round).join(', ')} ms`;
  const pauseMs = kind?.channel === null ? LONGEST_PAUSE_MS : 0;
  expect(Math.max(...tookMs), figures).toBeLessThan(BEFORE_ANY_POLL_MS);
  expect(Math.min(...tookMs), figures).toBeLessThan(PROMPTLY_MS + pauseMs);
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

/** What a call answers that waits for a short time in vain. It must give up then: not before, not at the next poll. */
export async function givingUp<T>(wait: (waitMs: number) => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const answer = await wait(SHORT_WAIT_MS);
  const tookMs = performance.now() - startedAt;
  expect(tookMs).toBeGreaterThanOrEqual(SHORT_WAIT_MS - ROUNDING_MS);
  expect(tookMs).toBeLessThan(BEFORE_ANY_POLL_MS);
  return answer;
}

/** Keys that belong to a name. Answers that are kept for repeated requests expire by themselves. */
export async function keysOf({ place }: Interop, name: string): Promise<string[]> {
  const keys = await place.keys();
  return keys.filter((key) => key.includes(name) && !key.startsWith('redisson_unlock_latch:')).sort();
}

/** A waiter of Node hears nothing of an unlock in Java, and is in all the same: it asks. */
export async function expectFoundByAsking(interop: Interop, kind: 'lock' | 'spin'): Promise<void> {
  const name = randomName('interop');
  const lease = { leaseMs: LEASE_MS };
  const heard = await interop.place.hear(lockChannel(name));
  const theirs = javaLock(interop.java, kind, name);
  await theirs.lock(lease);
  const waiting = interop.node.getLock(name).lock(lease);
  await untilHeard(interop, lockChannel(name), 2);
  await theirs.unlock();
  const hold = await waiting;
  expect(heard).toEqual([]);
  expect(await hold.unlock()).toBe(true);
}
