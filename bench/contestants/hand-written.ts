/**
 * The lock that a careful engineer writes without a library: SET NX PX, a compare-and-delete that publishes, a queue of
 * the tasks of this process, and a subscription by which a release wakes the first of them. No renewal, no reentry, no
 * order between processes.
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

class NotifiedLock {
  readonly #redis: Redis;
  readonly #subscriber: Redis;
  readonly #release: string;
  readonly #subscribed = new Map<string, Promise<unknown>>();
  /** Settles when the last of the tasks that wait for a key has it. */
  readonly #queues = new Map<string, Promise<void>>();
  /** Wakes the first of them. */
  readonly #wakes = new Map<string, () => void>();

  constructor(redis: Redis, subscriber: Redis, release: string) {
    this.#redis = redis;
    this.#subscriber = subscriber;
    this.#release = release;
    subscriber.on('message', (key: string) => this.#wakes.get(key)?.());
  }

  async use(key: string, section: Section): Promise<void> {
    const token = randomUUID();
    const isFirst = !this.#queues.has(key);
    if (!(isFirst && (await this.#attempt(key, token)))) await this.#queueUp(key, token);
    await section();
    await this.#redis.evalsha(this.#release, 1, key, token);
  }

  async #attempt(key: string, token: string): Promise<boolean> {
    return (await this.#redis.set(key, token, 'PX', LEASE_MS, 'NX')) === 'OK';
  }

  /** Tasks of this process wait in their order; only the first of them attempts. */
  async #queueUp(key: string, token: string): Promise<void> {
    const wait = () => this.#wait(key, token);
    const acquired = this.#queues.get(key)?.then(wait, wait) ?? wait();
    this.#queues.set(key, acquired);
    try {
      await acquired;
    } finally {
      if (this.#queues.get(key) === acquired) this.#queues.delete(key);
    }
  }

  async #wait(key: string, token: string): Promise<void> {
    const subscribed = this.#subscribed.get(key) ?? this.#subscriber.subscribe(key);
    this.#subscribed.set(key, subscribed);
    await subscribed;
    for (;;) {
      // From before the attempt, so that a message that comes meanwhile is not missed.
      const woken = this.#listen(key);
      if (await this.#attempt(key, token)) return this.#wakes.get(key)?.();
      await woken;
    }
  }

  #listen(key: string): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => wake(), POLL_MS);
      const wake = () => {
        clearTimeout(timer);
        this.#wakes.delete(key);
        resolve();
      };
      this.#wakes.set(key, wake);
    });
  }
}

export const handWritten: Contestant = {
  id: 'hand-written',
  title: 'hand-written',
  kind: 'yardstick',
  runtime: 'node',
  note: '`SET NX PX`, compare-and-delete with `PUBLISH`, a queue in each process, one attempt for each message: 70 lines on ioredis',
  connect: async (url) => {
    const redis = await connectIoredis(url);
    const subscriber = await connectIoredis(url);
    const lock = new NotifiedLock(redis, subscriber, (await redis.script('LOAD', RELEASE)) as string);
    return { lock: (key) => (section) => lock.use(key, section) };
  },
};
