/**
 * node-redisson, the other client that shares its locks with Redisson. A lock object is one owner.
 */
import type { Contestant } from './contestant.ts';
import { loadPackage } from './load-package.ts';

interface Package {
  readonly Redisson: new (settings: {
    redis: { options: { host: string; port: number } };
  }) => { getLock(name: string): { lock(): Promise<void>; unlock(): Promise<void> } };
}

export const nodeRedisson: Contestant = {
  id: 'node-redisson',
  title: 'node-redisson',
  kind: 'library',
  runtime: 'node',
  needs: 'node-redisson',
  note: '`getLock()` for each task, `lock()` and `unlock()`, default settings: waiters are woken by messages',
  connect: async (url) => {
    const { Redisson } = await loadPackage<Package>('node-redisson');
    const { hostname: host, port } = new URL(url);
    const redisson = new Redisson({ redis: { options: { host, port: Number(port) } } });
    return {
      lock: (key) => {
        const lock = redisson.getLock(key);
        return async (section) => {
          await lock.lock();
          await section();
          await lock.unlock();
        };
      },
    };
  },
};
