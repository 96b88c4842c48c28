/**
 * redlock-universal, which needs Node.js 22 or newer.
 */
import { connectIoredis } from './clients.ts';
import type { Contestant } from './contestant.ts';
import { loadPackage } from './load-package.ts';

const LEASE_MS = 30_000;

interface SimpleLock<Handle> {
  acquire(): Promise<Handle>;
  release(handle: Handle): Promise<unknown>;
}

interface Package {
  createLock(settings: object): SimpleLock<unknown>;
  readonly IoredisAdapter: new (client: unknown) => unknown;
}

export const redlockUniversal: Contestant = {
  id: 'redlock-universal',
  title: 'redlock-universal',
  kind: 'library',
  runtime: 'newer-node',
  needs: 'redlock-universal',
  note:
    '`acquire()` and `release()`, the leaner of the two documented ways, on Node.js 24; retries after 100 ms as by ' +
    'default, without end (`retryAttempts`)',
  connect: async (url) => {
    const { createLock, IoredisAdapter } = await loadPackage<Package>('redlock-universal');
    const adapter = new IoredisAdapter(await connectIoredis(url));
    return {
      lock: (key) => {
        const lock = createLock({ adapter, key, ttl: LEASE_MS, retryAttempts: Number.MAX_SAFE_INTEGER });
        return async (section) => {
          const handle = await lock.acquire();
          await section();
          await lock.release(handle);
        };
      },
    };
  },
};
