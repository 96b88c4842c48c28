/**
 * Takes what the demo left in the server away again.
 */
import type { Redis } from 'ioredis';

const WITHIN_MS = 5_000;
const AT_ONCE = 1_000;

/**
 * Deletes the keys that have the demo's random prefix in their names. Everything there expires by itself, so
 * on a server with very many keys the search is given up rather than drawn out.
 */
export async function sweep(redis: Redis, prefix: string): Promise<void> {
  const endsAt = performance.now() + WITHIN_MS;
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `*${prefix}:*`, 'COUNT', AT_ONCE);
    if (keys.length > 0) await redis.del(...keys);
    cursor = next;
  } while (cursor !== '0' && performance.now() < endsAt);
}
