/**
 * redlock 5, which has stayed a beta, and its maintained fork: one programming interface.
 */
import { connectIoredis } from './clients.ts';
import type { Connection, Contestant } from './contestant.ts';
import { loadPackage } from './load-package.ts';

const LEASE_MS = 10_000;

interface Redlock5 {
  acquire(resources: readonly string[], leaseMs: number): Promise<{ release(): Promise<unknown> }>;
}

type Constructor = new (clients: readonly unknown[], settings: object) => Redlock5;

const NOTE =
  '`acquire()` and `release()`, the leaner of the two documented ways; retries after 200 ± 100 ms as by default, ' +
  'without end (`retryCount: -1`)';

async function connect(Redlock: Constructor, url: string): Promise<Connection> {
  const redlock = new Redlock([await connectIoredis(url)], { retryCount: -1 });
  return {
    lock: (key) => async (section) => {
      const lock = await redlock.acquire([key], LEASE_MS);
      await section();
      await lock.release();
    },
  };
}

export const redlock5: Contestant = {
  id: 'redlock-5',
  title: 'redlock 5 (beta)',
  kind: 'library',
  runtime: 'node',
  needs: 'redlock5',
  note: NOTE,
  connect: async (url) => {
    const { default: Redlock } = await loadPackage<{ default: Constructor }>('redlock5');
    return connect(Redlock, url);
  },
};

export const sesamecareRedlock: Contestant = {
  id: 'sesamecare-redlock',
  title: '@sesamecare-oss/redlock',
  kind: 'library',
  runtime: 'node',
  needs: '@sesamecare-oss/redlock',
  note: NOTE,
  connect: async (url) => {
    const { Redlock } = await loadPackage<{ Redlock: Constructor }>('@sesamecare-oss/redlock');
    return connect(Redlock, url);
  },
};
