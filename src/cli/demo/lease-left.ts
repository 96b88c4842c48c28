/**
 * Shows how a lease runs out while a promise is pending.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { bar } from '../render/meters.ts';
import { milliseconds } from '../render/style.ts';
import { LEASE_MS, type Stage } from './stage.ts';

const SAMPLE_EVERY_MS = 50;

/** Settles as `awaited` does, and shows the lock's remaining lease until then. */
export async function whileLeaseEnds<T>(stage: Stage, name: string, awaited: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = awaited.finally(() => {
    isOver = true;
  });
  // The caller handles the outcome below; a rejection must not count as unhandled while the server is asked.
  ended.catch(() => {});
  while (!isOver) {
    const leftMs = Math.max(0, await stage.redis.pttl(name));
    if (isOver) break;
    stage.live(
      `lease left ${bar(leftMs / LEASE_MS)} ${milliseconds(leftMs).padStart(8)}  a waiter is waiting`,
    );
    await Promise.race([sleep(SAMPLE_EVERY_MS), ended]);
  }
  return ended;
}
