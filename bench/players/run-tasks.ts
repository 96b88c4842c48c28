/**
 * Carries out a `run` order: tasks that use locks, counted and timed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Connection, Section } from '../contestants/contestant.ts';
import type { RunAnswer, RunOrder } from './protocol.ts';

/** How long an ended run may take to let its last holders finish, so that they do not disturb the next. */
const DRAIN_MS = 500;

function sectionOf(inside: RunOrder['inside'], redis: Redis, prefix: string): Section {
  if (inside === 'turn') return () => new Promise((resolve) => setImmediate(resolve));
  if (inside === 'nothing') return () => undefined;
  const key = `${prefix}:counter`;
  return async () => {
    const count = Number(await redis.get(key));
    await redis.set(key, count + 1);
  };
}

export async function runTasks(connection: Connection, redis: Redis, order: RunOrder): Promise<RunAnswer> {
  const { tasks, keys, prefix, ms, cyclesEach = Number.POSITIVE_INFINITY } = order;
  const inside = sectionOf(order.inside, redis, prefix);
  const cycles = new Array<number>(tasks).fill(0);
  const waitingSince = new Array<number>(tasks).fill(Number.NaN);
  let worstWaitMs = 0;
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const endAt = startedAt + ms;

  async function work(task: number): Promise<void> {
    const use = connection.lock(keys === 'one' ? prefix : `${prefix}:${task}`);
    const section: Section = () => {
      worstWaitMs = Math.max(worstWaitMs, performance.now() - (waitingSince[task] as number));
      waitingSince[task] = Number.NaN;
      return inside();
    };
    for (let left = cyclesEach; left > 0; left -= 1) {
      const now = performance.now();
      if (now >= endAt) return;
      waitingSince[task] = now;
      await use(section);
      cycles[task] = (cycles[task] as number) + 1;
    }
  }

  const allDone = Promise.all(Array.from({ length: tasks }, (_, task) => work(task)));
  await Promise.race([allDone, sleep(ms, undefined, { ref: false })]);
  const endedAt = performance.now();
  const { user, system } = process.cpuUsage(cpuBefore);
  for (const since of waitingSince) {
    if (!Number.isNaN(since)) worstWaitMs = Math.max(worstWaitMs, endedAt - since);
  }
  const answer = { elapsedMs: endedAt - startedAt, cycles: [...cycles], worstWaitMs, cpuUs: user + system };
  if (!order.isLast) await Promise.race([allDone, sleep(DRAIN_MS, undefined, { ref: false })]);
  return answer;
}
