/**
 * @microfleet/ioredis-lock. A lock object is one owner, so every task has its own.
 */
import { connectIoredis } from './clients.ts';
import type { Contestant } from './contestant.ts';
import { loadPackage } from './load-package.ts';

interface Package {
  createLock(
    client: unknown,
    settings: object,
  ): { acquire(key: string): Promise<unknown>; release(): Promise<unknown> };
}

export const ioredisLock: Contestant = {
  id: 'ioredis-lock',
  title: '@microfleet/ioredis-lock',
  kind: 'library',
  runtime: 'node',
  needs: '@microfleet/ioredis-lock',
  note: '`createLock()` for each task, retries after 50–60 ms as by default, without end (`retries`)',
  connect: async (url) => {
    const { createLock } = await loadPackage<Package>('@microfleet/ioredis-lock');
    const redis = await connectIoredis(url);
    return {
      lock: (key) => {
        const lock = createLock(redis, { retries: Number.POSITIVE_INFINITY });
        return async (section) => {
          await lock.acquire(key);
          await section();
          await lock.release();
        };
      },
    };
  },
};
