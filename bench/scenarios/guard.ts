/**
 * What the guard costs where nothing fails: acquiring with it against acquiring without, by turns. Releases are the
 * same for both and not counted.
 */
import { Redis } from 'ioredis';
import { type Hold, Holdfast, type Lock } from '../../src/index.ts';
import { median, ratio } from '../measure.ts';
import type { Scenario } from '../scenario.ts';

const ROUNDS = 21;
const LOCKS = 200;

/** Milliseconds for each acquisition of so many free locks, one after the other. */
async function timeAcquiring(locks: readonly Lock[]): Promise<number> {
  const holds: Hold[] = [];
  const startedAt = performance.now();
  for (const lock of locks) holds.push(await lock.lock());
  const tookMs = performance.now() - startedAt;
  await Promise.all(holds.map((hold) => hold.unlock()));
  return tookMs / locks.length;
}

export const guard: Scenario = {
  title: 'The guard',
  async run(url) {
    const redis = new Redis(url);
    // A grace that is long over, though the server has just been started.
    const client = Holdfast.from(redis, { guard: { graceMs: 1_000 }, watchdogMs: 1_000 });
    const locks = (guarded: boolean) =>
      Array.from({ length: LOCKS }, (_, i) => client.getLock(`bench:guard:${i}`, { guard: guarded }));
    const [guarded, plain] = [locks(true), locks(false)];
    const times: Record<'guarded' | 'plain', number[]> = { guarded: [], plain: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      const [withGuard, without] = [await timeAcquiring(guarded), await timeAcquiring(plain)];
      if (round === 0) continue;
      times.guarded.push(withGuard);
      times.plain.push(without);
    }
    await client.close();
    await redis.quit();
    return [
      { what: 'acquire without the guard', value: median(times.plain) * 1_000, unit: 'µs' },
      { what: 'acquire with the guard / without', value: ratio(times.guarded, times.plain), unit: 'x' },
    ];
  },
};
