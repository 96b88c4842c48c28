/**
 * The two client libraries that contestants share, connected and ready.
 */
import { Redis } from 'ioredis';
import { createClient } from 'redis';

export async function connectIoredis(url: string): Promise<Redis> {
  const redis = new Redis(url);
  await redis.ping();
  return redis;
}

export async function connectNodeRedis(url: string) {
  return createClient({ url }).connect();
}
