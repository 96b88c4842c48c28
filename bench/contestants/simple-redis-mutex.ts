/**
 * simple-redis-mutex, which works with node-redis only.
 */
import { connectNodeRedis } from './clients.ts';
import type { Contestant } from './contestant.ts';
import { loadPackage } from './load-package.ts';

interface Package {
  lock(client: unknown, name: string): Promise<() => Promise<void>>;
}

export const simpleRedisMutex: Contestant = {
  id: 'simple-redis-mutex',
  title: 'simple-redis-mutex',
  kind: 'library',
  runtime: 'node',
  needs: 'simple-redis-mutex',
  note: '`lock()` and the function it returns, on node-redis, default settings: waiters are woken by messages',
  connect: async (url) => {
    const { lock } = await loadPackage<Package>('simple-redis-mutex');
    const redis = await connectNodeRedis(url);
    return {
      lock: (key) => async (section) => {
        const release = await lock(redis, key);
        await section();
        await release();
      },
    };
  },
};
