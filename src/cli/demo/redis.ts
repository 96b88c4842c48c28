/**
 * The demo's plain connection: for the counter, and for looking at what the locks leave in the server.
 */
import { Redis } from 'ioredis';

const WITHIN_MS = 3_000;

/** Connects, or rejects with the reason. Commands on a broken connection fail at once. */
export async function openRedis(url: string): Promise<Redis> {
  // ioredis knows one spelling of the scheme.
  const redis = new Redis(url.replace(/^valkey/i, 'redis'), {
    lazyConnect: true,
    connectTimeout: WITHIN_MS,
    commandTimeout: WITHIN_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // ioredis prints an error that nobody listens to; the commands tell it as well.
  redis.on('error', () => {});
  await redis.connect();
  return redis;
}
