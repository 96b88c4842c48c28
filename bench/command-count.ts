/**
 * Counts what clients send to a server, by the server's own statistics. Commands that scripts call inside the
 * server are counted there too and are left out here: only what travelled is of interest.
 */
import type { Redis } from 'ioredis';

const SENT = new Set(['evalsha', 'eval', 'subscribe', 'unsubscribe', 'ping']);

/** How often each command was sent since the server started. */
export async function commandCounts(redis: Redis): Promise<Map<string, number>> {
  const info = await redis.info('commandstats');
  const counts = new Map<string, number>();
  for (const [, name, calls] of info.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)) {
    if (name !== undefined && SENT.has(name)) counts.set(name, Number(calls));
  }
  return counts;
}

export function sentBetween(before: Map<string, number>, after: Map<string, number>): number {
  let sent = 0;
  for (const [name, calls] of after) sent += calls - (before.get(name) ?? 0);
  return sent;
}
