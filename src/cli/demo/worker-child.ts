/**
 * A worker process of the demo. It obeys the orders of its parent, and ends with its parent.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { Holdfast } from '../../client.ts';
import { LeaseLostError } from '../../errors.ts';
import { COUNTER_TTL_MS, type CountOrder, type Order, type Report } from './orders.ts';
import { openRedis } from './redis.ts';

const PROGRESS_EVERY = 10;
const PAUSE_MS = 5;

interface Connections {
  readonly client: Holdfast;
  readonly redis: Redis;
}

let connections: Connections | undefined;

function report(message: Report): void {
  if (process.connected) process.send?.(message);
}

function connected(): Connections {
  if (connections === undefined) throw new Error('not connected');
  return connections;
}

async function connect(url: string, watchdogMs: number): Promise<void> {
  const redis = await openRedis(url);
  connections = { client: await Holdfast.connect(url, { watchdogMs }), redis };
  report({ is: 'connected' });
}

async function count({ counter, lock: name, tasks, atOnce }: CountOrder): Promise<void> {
  const { client, redis } = connected();
  const increment = async () => {
    const value = Number(await redis.get(counter));
    await redis.set(counter, value + 1, 'PX', COUNTER_TTL_MS);
  };
  const lock = name === null ? null : client.getLock(name);
  const task = lock === null ? increment : () => lock.withLock(increment);

  let begun = 0;
  let done = 0;
  const workThrough = async () => {
    while (begun < tasks) {
      begun += 1;
      await task();
      done += 1;
      if (done % PROGRESS_EVERY === 0) report({ is: 'progress', done });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workThrough));
  report({ is: 'counted', done });
}

/** Holds the lock and checks it repeatedly, until it is lost. */
async function hold(name: string): Promise<void> {
  const { client } = connected();
  const held = await client.getLock(name).lock();
  const { signal } = held;
  // A freeze at any point, even within a line, falls between a successful check and the next one.
  let lookedAt = performance.now();
  report({ is: 'held', owner: held.owner });
  for (;;) {
    await sleep(PAUSE_MS);
    const looksAt = performance.now();
    try {
      held.assertHeld();
      lookedAt = looksAt;
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      const aborted = signal.aborted && signal.reason === error;
      const pausedMs = performance.now() - lookedAt;
      const unlocked = await held.unlock();
      // The demo also inspects what the library does in the background, so wait for that to finish.
      await client.close();
      report({ is: 'lost', pausedMs, code: error.code, reason: error.reason, aborted, unlocked });
      return;
    }
  }
}

function obey(order: Order): Promise<void> {
  if (order.do === 'connect') return connect(order.url, order.watchdogMs);
  return order.do === 'count' ? count(order) : hold(order.lock);
}

process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group; the parent decides what to do.
process.on('SIGINT', () => {});
process.on('message', (order: Order) => {
  obey(order).catch((error: unknown) => {
    report({ is: 'failed', why: error instanceof Error ? error.message : String(error) });
  });
});
if (!process.connected) process.exit(0);
