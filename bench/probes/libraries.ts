/**
 * The libraries of the comparison as the probes see them: take a lock by the way of each library that promises most,
 * and listen for its loss.
 */
import { Holdfast } from '../../src/index.ts';
import { connectIoredis, connectNodeRedis } from '../contestants/clients.ts';
import { loadPackage } from '../contestants/load-package.ts';

/** One hold. */
export interface Held {
  release(): Promise<unknown>;
  /** Calls back when the library tells of a loss; absent where the library never does. */
  onLoss?(tell: () => void): void;
  /** What the library says without asking the server; absent where it cannot say. */
  isHeld?(): boolean;
}

/** One library, connected. */
export interface Taker {
  /** Resolves when the lock is held. An owner takes it for the first time, or, with a key it holds, again. */
  take(key: string): Promise<Held>;
}

export interface Library {
  readonly title: string;
  /** The command that takes the lock, and the one that releases it. */
  readonly takes: string;
  readonly releases: string;
  /** The key in Redis of a name. */
  readonly key: (name: string) => string;
  /**
   * One owner, with a lease that the library renews where it can. Default settings, but a waiter does not give up unless
   * the same setting also says how often a renewal is tried.
   */
  open(url: string, leaseMs: number): Promise<Taker>;
}

const same = (name: string): string => name;

interface Signalled {
  using(work: (signal: AbortSignal) => Promise<void>): Promise<unknown>;
}

/** A hold that a library gives only for the length of a function. */
function holdWhile({ using }: Signalled): Promise<Held> {
  return new Promise((resolve, reject) => {
    let finish = (): void => undefined;
    const finished = new Promise<void>((end) => {
      finish = end;
    });
    const used = using(async (signal) => {
      resolve({
        release: () => {
          finish();
          return used;
        },
        onLoss: (tell) => signal.addEventListener('abort', tell, { once: true }),
        isHeld: () => !signal.aborted,
      });
      await finished;
    });
    used.catch(reject);
  });
}

const holdfast: Library = {
  title: 'holdfast',
  takes: 'EVALSHA',
  releases: 'EVALSHA',
  key: same,
  open: async (url, watchdogMs) => {
    const client = await Holdfast.connect(url, { watchdogMs });
    const owner = client.owner();
    return {
      take: async (key) => {
        const hold = await client.getLock(key).lock({ owner });
        return {
          release: () => hold.unlock(),
          onLoss: (tell) => hold.signal.addEventListener('abort', tell, { once: true }),
          isHeld: () => !hold.signal.aborted,
        };
      },
    };
  },
};

interface Redlock4 {
  lock(key: string, leaseMs: number): Promise<{ unlock(): Promise<void>; readonly expiration: number }>;
}

const redlock4: Library = {
  title: 'redlock 4',
  takes: 'EVAL',
  releases: 'EVAL',
  key: same,
  open: async (url, leaseMs) => {
    const { default: Redlock } = await loadPackage<{ default: new (clients: unknown[]) => Redlock4 }>(
      'redlock',
    );
    const redlock = new Redlock([await connectIoredis(url)]);
    return {
      take: async (key) => {
        const lock = await redlock.lock(key, leaseMs);
        return { release: () => lock.unlock(), isHeld: () => lock.expiration > Date.now() };
      },
    };
  },
};

interface Redlock5 {
  using(keys: string[], leaseMs: number, work: (signal: AbortSignal) => Promise<void>): Promise<unknown>;
}
type Redlock5Class = new (clients: unknown[]) => Redlock5;

function redlock5(title: string, load: () => Promise<Redlock5Class>): Library {
  return {
    title,
    takes: 'EVAL',
    releases: 'EVAL',
    key: same,
    open: async (url, leaseMs) => {
      const Redlock = await load();
      const redlock = new Redlock([await connectIoredis(url)]);
      return { take: (key) => holdWhile({ using: (work) => redlock.using([key], leaseMs, work) }) };
    },
  };
}

interface MutexObject {
  acquire(): Promise<void>;
  release(): Promise<void>;
  readonly isAcquired: boolean;
}

const redisSemaphore: Library = {
  title: 'redis-semaphore',
  takes: 'SET',
  releases: 'EVAL',
  key: (name) => `mutex:${name}`,
  open: async (url, lockTimeout) => {
    const { Mutex } = await loadPackage<{ Mutex: new (...parts: unknown[]) => MutexObject }>(
      'redis-semaphore',
    );
    const redis = await connectIoredis(url);
    const mutexes = new Map<string, MutexObject>();
    return {
      take: async (key) => {
        let tell = (): void => undefined;
        const settings = { lockTimeout, acquireTimeout: Number.POSITIVE_INFINITY, onLockLost: () => tell() };
        const mutex = mutexes.get(key) ?? new Mutex(redis, key, settings);
        mutexes.set(key, mutex);
        await mutex.acquire();
        return {
          release: () => mutex.release(),
          onLoss: (told) => {
            tell = told;
          },
          isHeld: () => mutex.isAcquired,
        };
      },
    };
  },
};

interface UniversalLock {
  using(work: (signal: AbortSignal) => Promise<void>): Promise<unknown>;
}

const redlockUniversal: Library = {
  title: 'redlock-universal',
  takes: 'SET',
  releases: 'EVAL',
  key: same,
  open: async (url, ttl) => {
    const { createLock, IoredisAdapter } = await loadPackage<{
      createLock(settings: object): UniversalLock;
      IoredisAdapter: new (client: unknown) => unknown;
    }>('redlock-universal');
    const adapter = new IoredisAdapter(await connectIoredis(url));
    return {
      take: (key) =>
        holdWhile({
          using: (work) =>
            createLock({ adapter, key, ttl, retryAttempts: Number.MAX_SAFE_INTEGER }).using(work),
        }),
    };
  },
};

interface JavaLikeLock {
  lock(): Promise<void>;
  unlock(): Promise<void>;
}

const nodeRedisson: Library = {
  title: 'node-redisson',
  takes: 'EVAL',
  releases: 'EVAL',
  key: same,
  open: async (url, leaseMs) => {
    const { Redisson } = await loadPackage<{
      Redisson: new (settings: object) => { getLock(name: string, owner: string): JavaLikeLock };
    }>('node-redisson');
    const { hostname: host, port } = new URL(url);
    const redisson = new Redisson({
      redis: { options: { host, port: Number(port) } },
      lockWatchdogTimeout: BigInt(leaseMs),
    });
    return {
      take: async (key) => {
        const lock = redisson.getLock(key, 'me');
        await lock.lock();
        return { release: () => lock.unlock() };
      },
    };
  },
};

const simpleRedisMutex: Library = {
  title: 'simple-redis-mutex',
  takes: 'SET',
  releases: 'EVAL',
  key: (name) => `@simple-redis-mutex:lock-${name}`,
  open: async (url, timeout) => {
    const { lock } = await loadPackage<{
      lock(client: unknown, name: string, settings: object): Promise<() => Promise<void>>;
    }>('simple-redis-mutex');
    const redis = await connectNodeRedis(url);
    redis.on('error', () => undefined);
    return { take: async (key) => ({ release: await lock(redis, key, { timeout }) }) };
  },
};

interface IoredisLock {
  acquire(key: string): Promise<unknown>;
  release(): Promise<unknown>;
}

const ioredisLock: Library = {
  title: '@microfleet/ioredis-lock',
  takes: 'SET',
  releases: 'EVAL',
  key: same,
  open: async (url, timeout) => {
    const { createLock } = await loadPackage<{
      createLock(client: unknown, settings: object): IoredisLock;
    }>('@microfleet/ioredis-lock');
    const redis = await connectIoredis(url);
    return {
      take: async (key) => {
        const lock = createLock(redis, { timeout, retries: Number.POSITIVE_INFINITY });
        await lock.acquire(key);
        return { release: () => lock.release() };
      },
    };
  },
};

export const LIBRARIES: readonly Library[] = [
  holdfast,
  redlock4,
  redlock5(
    'redlock 5 (beta)',
    async () => (await loadPackage<{ default: Redlock5Class }>('redlock5')).default,
  ),
  redlock5(
    '@sesamecare-oss/redlock',
    async () => (await loadPackage<{ Redlock: Redlock5Class }>('@sesamecare-oss/redlock')).Redlock,
  ),
  redisSemaphore,
  redlockUniversal,
  nodeRedisson,
  simpleRedisMutex,
  ioredisLock,
];
