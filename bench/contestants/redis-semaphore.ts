/**
 * The Mutex of redis-semaphore. Its README makes a new one for each use.
 */
import { connectIoredis } from './clients.ts';
import type { Contestant } from './contestant.ts';
import { loadPackage } from './load-package.ts';

interface Package {
  readonly Mutex: new (
    client: unknown,
    key: string,
    settings: object,
  ) => { acquire(): Promise<void>; release(): Promise<void> };
}

export const redisSemaphore: Contestant = {
  id: 'redis-semaphore',
  title: 'redis-semaphore',
  kind: 'library',
  runtime: 'node',
  needs: 'redis-semaphore',
  note: 'a new `Mutex` for each use, retries after 10 ms as by default, without end (`acquireTimeout`)',
  connect: async (url) => {
    const { Mutex } = await loadPackage<Package>('redis-semaphore');
    const redis = await connectIoredis(url);
    return {
      lock: (key) => async (section) => {
        const mutex = new Mutex(redis, key, { acquireTimeout: Number.POSITIVE_INFINITY });
        await mutex.acquire();
        await section();
        await mutex.release();
      },
    };
  },
};
