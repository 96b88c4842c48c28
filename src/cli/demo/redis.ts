/**
 * The demo's plain connection: for the counter, and for inspecting the keys of the locks.
 */
import { Redis } from 'ioredis';

const WITHIN_MS = 3_000;

/** Connects, or rejects with the reason. Commands on a broken connection fail at once. */
export async function openRedis(url: string): Promise<Redis> {
  // ioredis only knows the schemes of Redis.
  const redis = new Redis(url.replace(/^valkey/i, 'redis'), {
    lazyConnect: true,
    connectTimeout: WITHIN_MS,
    commandTimeout: WITHIN_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // ioredis prints errors that have no listener; the commands reject as well.
  redis.on('error', () => {});
  await redis.connect();
  return redis;
}
