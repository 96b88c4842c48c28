/**
 * Measures what users feel: how long a lock takes, and how long after a release its waiter has it.
 */
import { once } from 'node:events';
import type { Holdfast } from '../../client.ts';
import type { Check } from './check.ts';

const ROUNDS = 5;

/** A waiter that needs longer was not woken: it polls once in a while. */
const SLOW_MS = 500;

/** A waiter has subscribed by then, wherever the server is. */
const SETTLED_TRIPS = 10;

/** The guard lets no new owner in for one grace after a restart: that would be measured, and waited for. */
const UNGUARDED = { guard: false };

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

async function pause(ms: number): Promise<void> {
  await once(AbortSignal.timeout(Math.ceil(ms)), 'abort');
}

/**
 * One client holds, another waits; the time from the release to the waiter's hold.
 *
 * @param name is free, and used by nobody else
 */
export async function measureRoundTrip(holder: Holdfast, waiter: Holdfast, name: string): Promise<Check> {
  const acquired: number[] = [];
  const woken: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    const hold = await holder.getLock(name, UNGUARDED).lock();
    acquired.push(performance.now() - startedAt);
    const waiting = waiter.getLock(name, UNGUARDED).lock();
    // A failure is reported below, after the lock is released.
    waiting.catch(() => undefined);
    await pause(SETTLED_TRIPS * median(acquired));
    const releasedAt = performance.now();
    await hold.unlock();
    const next = await waiting;
    woken.push(performance.now() - releasedAt);
    await next.unlock();
  }
  const wokenMs = median(woken);
  const message =
    `a free lock takes ${median(acquired).toFixed(1)} ms; ` +
    `a waiter has the lock ${wokenMs.toFixed(1)} ms after its release (median of ${ROUNDS})`;
  if (wokenMs < SLOW_MS) return { about: 'round trip', status: 'ok', message };
  const remedy = 'check that PUBLISH and SUBSCRIBE are allowed, and the load of the server';
  return { about: 'round trip', status: 'warning', message, remedy };
}
