/**
 * Removes the demo's keys from the server.
 */
import type { Redis } from 'ioredis';

const WITHIN_MS = 5_000;
const AT_ONCE = 1_000;

/**
 * Deletes the keys that contain the demo's random prefix. All of them expire anyway, so on a server with very many keys
 * the search is abandoned after a while.
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
