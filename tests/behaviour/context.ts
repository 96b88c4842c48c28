/**
 * Who a behaviour suite speaks through: the client library it runs with, and clients made of it.
 *
 * Every client counts as a process of its own: it has its own id, connections and lines. It is closed when
 * the test ends, and its user's client after it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, expect, onTestFinished } from 'vitest';
import { type ClientOptions, Holdfast } from '../../src/index.ts';
import { sharedServer } from '../harness/servers.ts';

/** Where a client connects; the server that all tests share when left out. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly keyPrefix?: string;
}

export interface Context {
  readonly title: string;
  /** What `capabilities()` calls the library. */
  readonly library: string;
  /** A fresh client. */
  client(options?: ClientOptions, address?: Address): Promise<Holdfast>;
}

/** A user's client as some library makes it, seen from a test. */
export interface UserClient {
  readonly redis: unknown;
  ping(): Promise<unknown>;
  close(): void;
}

/** The context of a library whose clients users bring along. */
export interface BringYourOwn extends Context {
  /** A user's client, closed when the test ends. */
  userClient(address?: Address): Promise<UserClient>;
}

function bringYourOwn(
  title: string,
  library: string,
  open: (address: Address) => Promise<UserClient>,
): BringYourOwn {
  const userClient = async (address: Address = sharedServer()) => {
    const user = await open(address);
    onTestFinished(() => user.close());
    return user;
  };
  return {
    title,
    library,
    userClient,
    async client(options, address) {
      const { redis } = await userClient(address);
      return closedAtEnd(Holdfast.from(redis, { ...PATIENT, ...options }));
    },
  };
}

/** A machine that runs many tests at once may keep a server waiting; only some tests are about giving up. */
const PATIENT: ClientOptions = { commandTimeoutMs: 10_000 };

/** Closes the client when the test ends. */
export function closedAtEnd(client: Holdfast): Holdfast {
  onTestFinished(() => client.close());
  return client;
}

export const throughIoredis = bringYourOwn('ioredis 6', 'ioredis', async (address) => {
  const { host, port, username, password, keyPrefix } = address;
  const redis = new Redis({
    host,
    port,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(keyPrefix !== undefined && { keyPrefix }),
  });
  redis.on('error', () => {});
  await redis.ping().catch(() => {});
  return { redis, ping: () => redis.ping(), close: () => redis.disconnect() };
});

export const throughNodeRedis = bringYourOwn('node-redis 6', 'node-redis', async (address) => {
  const { host, port, username, password, keyPrefix } = address;
  const redis = createClient({
    socket: { host, port },
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(keyPrefix !== undefined && { keyPrefix }),
  });
  redis.on('error', () => {});
  await redis.connect();
  return { redis, ping: () => redis.ping(), close: () => redis.destroy() };
});

/** Connections of our own. */
export const throughConnect: Context = {
  title: 'Holdfast.connect',
  library: 'ioredis',
  async client(options, address = sharedServer()) {
    const { host, port, username, password } = address;
    const target = { host, port, username, password };
    return closedAtEnd(await Holdfast.connect(target, { ...PATIENT, ...options }));
  },
};

/** Nothing may be rejected without anybody hearing of it, in any test of the file that calls this. */
export function forbidUnhandledRejections(): void {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  beforeAll(() => {
    process.on('unhandledRejection', note);
  });
  afterAll(() => {
    process.off('unhandledRejection', note);
  });
  afterEach(async () => {
    // Node tells of a rejection once the microtasks that could still have handled it are done.
    await nextTurn();
    expect(unhandled.splice(0), 'unhandled rejections').toEqual([]);
  });
}
