/**
 * The lock that a careful engineer writes without a library: SET NX PX, a compare-and-delete that publishes, and a
 * subscription by which a release wakes the first waiter of each process. No renewal, no reentry, no fairness.
 */
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { connectIoredis } from './clients.ts';
import type { Contestant, Section } from './contestant.ts';

const LEASE_MS = 30_000;
/** A message may be lost with its connection. */
const POLL_MS = 1_000;

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', KEYS[1], '')
  return 1
end
return 0`;

/** What a waiter listens with, before it attempts: a message that comes meanwhile is not missed. */
interface Ear {
  readonly heard: Promise<void>;
  close(): void;
}

class NotifiedLock {
  readonly #redis: Redis;
  readonly #subscriber: Redis;
  readonly #release: string;
  readonly #subscribed = new Map<string, Promise<unknown>>();
  readonly #waiters = new Map<string, Set<() => void>>();

  constructor(redis: Redis, subscriber: Redis, release: string) {
    this.#redis = redis;
    this.#subscriber = subscriber;
    this.#release = release;
    subscriber.on('message', (key: string) => {
      for (const wake of this.#waiters.get(key) ?? []) return wake();
    });
  }

  async use(key: string, section: Section): Promise<void> {
    const token = randomUUID();
    if (!(await this.#attempt(key, token))) await this.#wait(key, token);
    await section();
    await this.#redis.evalsha(this.#release, 1, key, token);
  }

  async #attempt(key: string, token: string): Promise<boolean> {
    return (await this.#redis.set(key, token, 'PX', LEASE_MS, 'NX')) === 'OK';
  }

  async #wait(key: string, token: string): Promise<void> {
    const subscribed = this.#subscribed.get(key) ?? this.#subscriber.subscribe(key);
    this.#subscribed.set(key, subscribed);
    await subscribed;
    for (;;) {
      const ear = this.#listen(key);
      if (await this.#attempt(key, token)) return ear.close();
      await ear.heard;
    }
  }

  #listen(key: string): Ear {
    const waiters = this.#waiters.get(key) ?? new Set();
    this.#waiters.set(key, waiters);
    let wake = () => {};
    const heard = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const timer = setTimeout(() => close(), POLL_MS);
    const close = () => {
      clearTimeout(timer);
      waiters.delete(close);
      wake();
    };
    waiters.add(close);
    return { heard, close };
  }
}

export const handWritten: Contestant = {
  id: 'hand-written',
  title: 'hand-written',
  kind: 'yardstick',
  runtime: 'node',
  note: '`SET NX PX`, compare-and-delete with `PUBLISH`, one attempt for each message, 60 lines on ioredis',
  connect: async (url) => {
    const redis = await connectIoredis(url);
    const subscriber = await connectIoredis(url);
    const lock = new NotifiedLock(redis, subscriber, (await redis.script('LOAD', RELEASE)) as string);
    return { lock: (key) => (section) => lock.use(key, section) };
  },
};
