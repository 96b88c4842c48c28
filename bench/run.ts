/**
 * Runs every scenario against one real server and prints what it found: ratios within one run, and counts.
 * Times of a machine say little about another; how many times a bare round trip something costs says more.
 *
 * Uses `REDIS_URL`, or starts the server that is installed. Never the embedded one: it is not for measuring.
 */
import { startServer } from '../src/testing/index.ts';
import { printReport } from './report.ts';
import type { Scenario } from './scenario.ts';
import { guard } from './scenarios/guard.ts';
import { localWaiters } from './scenarios/local-waiters.ts';
import { memory } from './scenarios/memory.ts';
import { uncontended } from './scenarios/uncontended.ts';
import { withLock } from './scenarios/with-lock.ts';

// withLock comes after the uncontended cycle: its first use makes every later await of the process slower.
const SCENARIOS: readonly Scenario[] = [uncontended, guard, withLock, localWaiters, memory];

const { REDIS_URL } = process.env;
const server = REDIS_URL === undefined ? await startServer() : undefined;
const url = REDIS_URL ?? server?.url ?? '';

for (const scenario of SCENARIOS) {
  const startedAt = performance.now();
  const figures = await scenario.run(url);
  printReport(scenario.title, figures, performance.now() - startedAt);
}
await server?.close();
