/**
 * redlock 4, the version that `npm install redlock` gives.
 */
import { connectIoredis } from './clients.ts';
import type { Contestant } from './contestant.ts';
import { loadPackage } from './load-package.ts';

const LEASE_MS = 10_000;

interface Redlock4 {
  lock(resource: string, leaseMs: number): Promise<{ unlock(): Promise<void> }>;
}

interface Package {
  readonly default: new (clients: readonly unknown[], settings: object) => Redlock4;
}

export const redlock4: Contestant = {
  id: 'redlock-4',
  title: 'redlock 4',
  kind: 'library',
  runtime: 'node',
  needs: 'redlock',
  note: '`lock()` and `unlock()`, retries after 200 ± 100 ms as by default, without end (`retryCount: -1`)',
  connect: async (url) => {
    const { default: Redlock } = await loadPackage<Package>('redlock');
    const redlock = new Redlock([await connectIoredis(url)], { retryCount: -1 });
    return {
      lock: (key) => async (section) => {
        const lock = await redlock.lock(key, LEASE_MS);
        await section();
        await lock.unlock();
      },
    };
  },
};
