/**
 * A short benchmark: loops that take and release locks for a while, and the times they took.
 */
import { randomUUID } from 'node:crypto';
import type { Holdfast } from '../../client.ts';

export interface Measured {
  readonly what: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface BenchPlan {
  readonly forMs: number;
  readonly concurrency: number;
}

function at(sortedMs: readonly number[], share: number): number {
  return sortedMs[Math.min(sortedMs.length - 1, Math.floor(sortedMs.length * share))] ?? 0;
}

/** Repeats the cycle in as many loops as there are, and times each cycle. */
async function repeat(
  what: string,
  forMs: number,
  cycles: readonly (() => Promise<void>)[],
): Promise<Measured> {
  const times: number[] = [];
  const startedAt = performance.now();
  await Promise.all(
    cycles.map(async (cycle) => {
      while (performance.now() - startedAt < forMs) {
        const begunAt = performance.now();
        await cycle();
        times.push(performance.now() - begunAt);
      }
    }),
  );
  const tookMs = performance.now() - startedAt;
  times.sort((one, other) => one - other);
  return { what, perSecond: (times.length * 1_000) / tookMs, p50Ms: at(times, 0.5), p99Ms: at(times, 0.99) };
}

/** @param clients two of them: a lock is handed over between clients */
export async function measureAll(clients: readonly Holdfast[], plan: BenchPlan): Promise<Measured[]> {
  const prefix = `holdfast-bench:${randomUUID()}`;
  const [first] = clients as readonly [Holdfast, ...Holdfast[]];
  const cycleOf = (client: Holdfast, name: string) => async () => {
    const hold = await client.getLock(name).lock();
    await hold.unlock();
  };
  const loops = Array.from({ length: plan.concurrency }, (_, i) => i);
  return [
    await repeat('one lock, no contention', plan.forMs, [cycleOf(first, `${prefix}:one`)]),
    await repeat(
      `${plan.concurrency} locks at once`,
      plan.forMs,
      loops.map((i) => cycleOf(first, `${prefix}:${i}`)),
    ),
    await repeat(
      `one lock between ${clients.length} clients`,
      plan.forMs,
      clients.map((client) => cycleOf(client, `${prefix}:shared`)),
    ),
  ];
}
