/**
 * The two client libraries that contestants share, connected and ready.
 */
import { Redis } from 'ioredis';

export async function connectIoredis(url: string): Promise<Redis> {
  const redis = new Redis(url);
  await redis.ping();
  return redis;
}

export async function connectNodeRedis(url: string) {
  // Loading it takes longer than all the rest, and most processes do without.
  const { createClient } = await import('redis');
  return createClient({ url }).connect();
}
