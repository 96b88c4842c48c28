/** What a storm left on the servers after everything was healed, every visit over and every lease run out. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Holdfast } from '../src/index.ts';
import type { Recorder } from '../src/testing/history/recorder.ts';
import { eventually } from '../tests/harness/wait.ts';
import type { Stage } from './fault.ts';
import { type Reachable, reachableOf } from './stages/given.ts';
import { PERMITS, RATE } from './workers/visits/counters.ts';

const EACH = [1, 2];
/** Counters and tokens live without an expiry, as Redisson's do; latches are left by calls that failed on purpose. */
const LIVES_ON = /:(semaphore|permit|rate|latch):|^redisson_lock_token:/;
const SCAN_COUNT = 1_000;
const PASS_BY_MS = 20_000;
/**
 * A repeat in the background takes a time-out and a pause, 1.6 s in all, and a client that a worker brought may pause
 * for 2 s before it connects again, by the defaults of ioredis. No lease of a permit is longer than 1.5 s.
 */
const COMES_WITHIN_MS = 4_000;

/** Sets up what workers share, and writes down how much of it there is. */
export async function provide(client: Holdfast, recorder: Recorder, prefix: string): Promise<void> {
  for (const index of EACH) {
    const semaphore = client.getSemaphore(`${prefix}:semaphore:${index}`);
    await semaphore.trySetPermits(PERMITS);
    const permits = client.getPermitExpirableSemaphore(`${prefix}:permit:${index}`);
    await permits.trySetPermits(PERMITS);
    const limiter = client.getRateLimiter(`${prefix}:rate:${index}`);
    await limiter.trySetRate(RATE);
    const set = { worker: '', op: 'set', type: 'info' } as const;
    recorder.record({ ...set, key: semaphore.name, kind: 'semaphore', permits: PERMITS });
    recorder.record({ ...set, key: permits.name, kind: 'permit', permits: PERMITS });
    recorder.record({
      ...set,
      key: limiter.name,
      kind: 'rate',
      permits: RATE.rate,
      intervalMs: RATE.intervalMs,
    });
  }
}

/**
 * Writes down how many permits are there at the end. What was given back while the server was away comes in the
 * background, and permits with a lease come with its end; what a dead process had of the others never comes.
 */
export async function recordPermits(client: Holdfast, recorder: Recorder, prefix: string): Promise<void> {
  const countAll = async () => {
    let sum = 0;
    for (const index of EACH) {
      sum += await client.getSemaphore(`${prefix}:semaphore:${index}`).availablePermits();
      sum += await client.getPermitExpirableSemaphore(`${prefix}:permit:${index}`).availablePermits();
    }
    return sum;
  };
  const all = 2 * EACH.length * PERMITS;
  let [count, since] = [await countAll(), performance.now()];
  while (count < all && performance.now() - since < COMES_WITHIN_MS) {
    await sleep(50);
    const now = await countAll();
    if (now !== count) [count, since] = [now, performance.now()];
  }
  for (const index of EACH) {
    const semaphore = client.getSemaphore(`${prefix}:semaphore:${index}`);
    const permits = client.getPermitExpirableSemaphore(`${prefix}:permit:${index}`);
    const left = { worker: '', op: 'left', type: 'info' } as const;
    recorder.record({
      ...left,
      key: semaphore.name,
      kind: 'semaphore',
      permits: await semaphore.availablePermits(),
    });
    recorder.record({
      ...left,
      key: permits.name,
      kind: 'permit',
      permits: await permits.availablePermits(),
    });
  }
}

/** The fair locks that workers use. */
export function fairNames(prefix: string): string[] {
  return EACH.map((index) => `${prefix}:fair:${index}`);
}

/**
 * Takes every fair lock once: a waiter whose process died, or whose withdrawal was lost with its server, keeps its
 * place in Redisson's queue until another one comes by.
 */
export async function passBy(client: Holdfast, prefix: string): Promise<void> {
  for (const name of fairNames(prefix)) {
    // Servers that were healed this moment may still miss their replicas.
    await eventually(() => client.getFairLock(name).withLock(() => undefined), { withinMs: PASS_BY_MS });
  }
}

/** Writes down every lock, queue and key without an expiry that is still there when every lease must have ended. */
export async function recordLeaks(
  stage: Stage,
  recorder: Recorder,
  prefix: string,
  withinMs: number,
): Promise<void> {
  const leaks = async () => {
    const servers = await reachableOf(stage);
    return (await Promise.all(servers.map((server) => leaksOn(server, prefix)))).flat();
  };
  await eventually(async () => (await leaks()).length === 0, { withinMs, everyMs: 100 }).catch(() => {});
  for (const what of await leaks()) {
    recorder.record({ worker: '', key: '', op: 'left', type: 'info', what });
  }
}

/** Removes the storm's keys, so that the next one finds an empty server. */
export async function sweep(stage: Stage, prefix: string): Promise<void> {
  for (const server of await reachableOf(stage)) {
    await Promise.all((await keysOf(server, prefix)).map((key) => server.command('UNLINK', key)));
  }
}

async function leaksOn(server: Reachable, prefix: string): Promise<string[]> {
  const keys = (await keysOf(server, prefix)).filter((key) => !LIVES_ON.test(key));
  const ttls = await Promise.all(keys.map((key) => server.command('PTTL', key)));
  return keys.flatMap((key, index) => {
    const ttlMs = Number(ttls[index]);
    const isLock = key.startsWith(prefix) || key.startsWith(`{${prefix}`);
    if (ttlMs === -1) return `${key} has no expiry`;
    return isLock && ttlMs > 0 ? `${key} is still locked for ${ttlMs} ms` : [];
  });
}

async function keysOf(server: Reachable, prefix: string): Promise<string[]> {
  const found: string[] = [];
  let cursor = '0';
  do {
    const answer = await server.command('SCAN', cursor, 'MATCH', `*${prefix}*`, 'COUNT', SCAN_COUNT);
    const [next, keys] = answer as [string, string[]];
    cursor = next;
    found.push(...keys);
  } while (cursor !== '0');
  return found;
}
