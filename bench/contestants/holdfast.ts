/**
 * holdfast with its default settings, on both client libraries, and its other primitives on ioredis.
 */
import { type ClientOptions, Holdfast, type Lock } from '../../src/index.ts';
import { connectIoredis, connectNodeRedis } from './clients.ts';
import type { Connection, Contestant, Section, Use } from './contestant.ts';

function using(lock: Pick<Lock, 'lock'>): Use {
  return async (section) => {
    const hold = await lock.lock();
    await section();
    await hold.unlock();
  };
}

async function onIoredis(
  url: string,
  lock: (client: Holdfast, key: string) => Use,
  options: ClientOptions = {},
): Promise<Connection> {
  const client = Holdfast.from(await connectIoredis(url), options);
  return { lock: (key) => lock(client, key) };
}

const shared = { kind: 'holdfast', runtime: 'node' } as const;

export const holdfastOnIoredis: Contestant = {
  ...shared,
  id: 'holdfast-ioredis',
  title: 'holdfast (ioredis)',
  note: '`Holdfast.from(redis)` with default options, which pass the lock on inside a process, `getLock()`, `lock()` and `unlock()`',
  connect: (url) => onIoredis(url, (client, key) => using(client.getLock(key))),
};

export const holdfastWithoutPassOn: Contestant = {
  ...shared,
  id: 'holdfast-no-pass-on',
  title: 'holdfast, passOn: false',
  note: 'as on ioredis with `passOn: false`: every hand-over is a release at the server and an acquisition there',
  connect: (url) => onIoredis(url, (client, key) => using(client.getLock(key)), { passOn: false }),
};

export const holdfastOnNodeRedis: Contestant = {
  ...shared,
  id: 'holdfast-node-redis',
  title: 'holdfast (node-redis)',
  note: 'as on ioredis, through node-redis',
  connect: async (url) => {
    const client = Holdfast.from(await connectNodeRedis(url));
    return { lock: (key) => using(client.getLock(key)) };
  },
};

interface Variant {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  readonly lock: (client: Holdfast, key: string) => Use;
}

function semaphore(client: Holdfast, key: string): Use {
  const permits = client.getSemaphore(key);
  const ready = permits.trySetPermits(1);
  return async (section: Section) => {
    await ready;
    await permits.acquire();
    await section();
    await permits.release();
  };
}

const VARIANTS: readonly Variant[] = [
  {
    id: 'with-lock',
    title: 'withLock',
    note: '`getLock().withLock()`',
    lock: (client, key) => {
      const lock = client.getLock(key);
      return (section) => lock.withLock(() => section());
    },
  },
  {
    id: 'fenced',
    title: 'fenced lock',
    note: '`getFencedLock()`',
    lock: (client, key) => using(client.getFencedLock(key)),
  },
  {
    id: 'fair',
    title: 'fair lock',
    note: '`getFairLock()`',
    lock: (client, key) => using(client.getFairLock(key)),
  },
  {
    id: 'read',
    title: 'read lock',
    note: '`getReadWriteLock().readLock()`',
    lock: (client, key) => using(client.getReadWriteLock(key).readLock()),
  },
  {
    id: 'simple',
    title: 'simple lock',
    note: '`getSimpleLock()`',
    lock: (client, key) => using(client.getSimpleLock(key)),
  },
  {
    id: 'semaphore',
    title: 'semaphore',
    note: '`getSemaphore()` with one permit, `acquire()` and `release()`',
    lock: semaphore,
  },
];

export const holdfastVariants: readonly Contestant[] = VARIANTS.map(({ id, title, note, lock }) => ({
  ...shared,
  id: `holdfast-${id}`,
  title,
  note,
  connect: (url) => onIoredis(url, lock),
}));
