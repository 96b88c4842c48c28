/**
 * What the guard costs where nothing fails: acquiring with it and without it by turns, in one process. Releases are the
 * same for both and are not counted.
 */
import { type Hold, Holdfast, type Lock } from '../../../src/index.ts';
import { connectIoredis } from '../../contestants/clients.ts';
import { median } from '../../statistics.ts';

const LOCKS = 200;

/** Both short, so that the grace of a server that has just started is soon over. */
const GRACE_MS = 1_000;
const WATCHDOG_MS = 1_000;

export interface GuardAnswer {
  readonly plainUs: number;
  readonly guardedUs: number;
}

/** Milliseconds for all acquisitions, one after the other. */
async function timeAcquiring(locks: readonly Lock[]): Promise<number> {
  const holds: Hold[] = [];
  const startedAt = performance.now();
  for (const lock of locks) holds.push(await lock.lock());
  const tookMs = performance.now() - startedAt;
  await Promise.all(holds.map((hold) => hold.unlock()));
  return tookMs;
}

export async function acquisitionsWithGuard(url: string, rounds: number): Promise<GuardAnswer> {
  const redis = await connectIoredis(url);
  const client = Holdfast.from(redis, { guard: { graceMs: GRACE_MS }, watchdogMs: WATCHDOG_MS });
  const locks = (guard: boolean) =>
    Array.from({ length: LOCKS }, (_, i) => client.getLock(`guard:${i}`, { guard }));
  const [guarded, plain] = [locks(true), locks(false)];
  const times = { guarded: [] as number[], plain: [] as number[] };
  // The first rounds wait for the grace and warm up the code.
  const uncounted = Math.ceil(rounds / 4);
  for (let round = -uncounted; round < rounds; round += 1) {
    const [withGuard, without] = [await timeAcquiring(guarded), await timeAcquiring(plain)];
    if (round < 0) continue;
    times.guarded.push(withGuard);
    times.plain.push(without);
  }
  await client.close();
  const perLockUs = (all: number[]) => (median(all) / LOCKS) * 1_000;
  return { plainUs: perLockUs(times.plain), guardedUs: perLockUs(times.guarded) };
}
