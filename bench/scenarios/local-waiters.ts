/**
 * A thousand waiters of one process for one lock: what they cost the server while they wait, and when they
 * are served.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Holdfast } from '../../src/index.ts';
import { commandCounts, sentBetween } from '../command-count.ts';
import type { Scenario } from '../scenario.ts';

const WAITERS = 1_000;
const IDLE_MS = 6_000;

export const localWaiters: Scenario = {
  title: `${WAITERS} waiters in one process`,
  async run(url) {
    const redis = new Redis(url);
    const client = await Holdfast.connect(url);
    const lock = client.getLock('bench:local-waiters');
    const first = await lock.lock();
    const served = Array.from({ length: WAITERS }, async () => {
      const hold = await lock.lock();
      await hold.unlock();
    });
    // The first attempt, the subscription and the look after it are behind us then.
    await sleep(500);

    const idleFrom = await commandCounts(redis);
    await sleep(IDLE_MS);
    const idleTo = await commandCounts(redis);
    const startedAt = performance.now();
    await first.unlock();
    await Promise.all(served);
    const tookMs = performance.now() - startedAt;
    const servedTo = await commandCounts(redis);

    await client.close();
    await redis.quit();
    return [
      {
        what: 'commands while nobody is served',
        value: sentBetween(idleFrom, idleTo) / (IDLE_MS / 1_000),
        unit: 'a second',
      },
      // The release that lets the first of them in belongs to nobody's grant.
      {
        what: 'commands for each grant',
        value: (scriptsBetween(idleTo, servedTo) - 1) / WAITERS,
        unit: 'commands',
      },
      { what: 'grants', value: WAITERS / (tookMs / 1_000), unit: 'a second' },
    ];
  },
};

function scriptsBetween(before: Map<string, number>, after: Map<string, number>): number {
  const scripts = (counts: Map<string, number>) =>
    new Map([...counts].filter(([name]) => name.startsWith('eval')));
  return sentBetween(scripts(before), scripts(after));
}
