/**
 * Who a behaviour suite speaks through: the client library it runs with, clients made of it, and what looks at
 * the servers beside them.
 *
 * Every client counts as a process of its own: it has its own id and lines. It is closed when the test ends, and
 * its user's client after it; on the shared Cluster, where one means many connections, that one serves a file.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFinished } from 'vitest';
import { type ClientOptions, Holdfast, type RedisClient } from '../../../src/index.ts';
import type { RawView } from '../../harness/cluster-connection.ts';
import {
  describeWithProcess,
  openShared,
  openSharedCluster,
  sharedCluster,
  sharedServer,
} from '../../harness/servers.ts';

/** A server, or a node of a Cluster. */
interface Place {
  readonly host: string;
  readonly port: number;
}

interface Settings {
  readonly username?: string;
  readonly password?: string;
  readonly keyPrefix?: string;
}

/** Where a client connects, and how; without a host to the server or Cluster that all tests share. */
export type Address = (Place & Settings) | (Settings & { readonly host?: never });

export interface Context {
  readonly title: string;
  /** What `capabilities()` calls the library. */
  readonly library: string;
  readonly topology: 'standalone' | 'cluster';
  /** A fresh client. */
  client(options?: ClientOptions, address?: Address): Promise<Holdfast>;
  /** What looks at the shared servers beside every client; closed when the test ends. */
  raw(): Promise<RawView>;
}

/** A user's client as some library makes it, seen from a test. */
export interface UserClient {
  readonly redis: RedisClient;
  ping(): Promise<unknown>;
  close(): void;
}

/** The context of a library whose clients users bring along. */
export interface BringYourOwn extends Context {
  /** Whether the library can put a prefix before keys. */
  readonly hasKeyPrefix: boolean;
  /** A user's client, closed when the test ends. */
  userClient(address?: Address): Promise<UserClient>;
}

/** The servers that all tests share. */
type Servers = Pick<Context, 'topology' | 'raw'> & { shared(): Promise<Place> };

const ONE_SERVER: Servers = {
  topology: 'standalone',
  raw: openShared,
  shared: async () => sharedServer(),
};

const CLUSTER: Servers = {
  topology: 'cluster',
  raw: openSharedCluster,
  shared: async () => (await sharedCluster()).addresses[0] as Place,
};

/** Users' clients that serve the tests of a file, by what opens them. */
const usedByAll = new Map<object, Promise<UserClient>>();

/** `describe` for a suite on the shared Cluster. */
export function describeOnCluster(title: string, define: () => void): void {
  describeWithProcess(title, () => {
    afterAll(async () => {
      for (const user of usedByAll.values()) (await user).close();
      usedByAll.clear();
    });
    define();
  });
}

function bringYourOwn(
  title: string,
  library: string,
  open: (address: Place & Settings) => Promise<UserClient>,
  { shared, raw, topology }: Servers = ONE_SERVER,
  hasKeyPrefix = true,
): BringYourOwn {
  const openAt = async (address: Address) =>
    open(address.host === undefined ? { ...(await shared()), ...address } : address);
  const userClient = async (address: Address = {}) => {
    const user = await openAt(address);
    onTestFinished(() => user.close());
    return user;
  };
  const commonClient = () => {
    const common = usedByAll.get(openAt) ?? openAt({});
    usedByAll.set(openAt, common);
    return common;
  };
  return {
    title,
    library,
    topology,
    hasKeyPrefix,
    raw,
    userClient,
    async client(options, address) {
      const isCommon = topology === 'cluster' && address === undefined;
      const { redis } = await (isCommon ? commonClient() : userClient(address));
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

const throughGlide = bringYourOwn(
  'Valkey GLIDE 2',
  'valkey-glide',
  async (address) => {
    // Loaded here, so that only the files that use it wait for its native part.
    const { createGlide } = await import('../../harness/valkey-glide.ts');
    const redis = await createGlide(address);
    return { redis, ping: () => redis.ping(), close: () => redis.close() };
  },
  ONE_SERVER,
  false,
);

export const throughIoredisCluster = bringYourOwn(
  'a Cluster of ioredis 6',
  'ioredis',
  async ({ host, port, keyPrefix }) => {
    const redis = new Cluster([{ host, port }], keyPrefix === undefined ? {} : { keyPrefix });
    redis.on('error', () => {});
    await redis.ping().catch(() => {});
    return { redis, ping: () => redis.ping(), close: () => redis.disconnect() };
  },
  CLUSTER,
);

export const throughNodeRedisCluster = bringYourOwn(
  'a Cluster of node-redis 6',
  'node-redis',
  async ({ host, port, keyPrefix }) => {
    const redis = createCluster({
      rootNodes: [{ socket: { host, port } }],
      ...(keyPrefix !== undefined && { keyPrefix }),
    });
    redis.on('error', () => {});
    await redis.connect();
    return { redis, ping: () => redis.ping(), close: () => redis.destroy() };
  },
  CLUSTER,
);

/** Connections of our own. */
export const throughConnect: Context = {
  title: 'Holdfast.connect',
  library: 'ioredis',
  topology: 'standalone',
  raw: openShared,
  async client(options, address = {}) {
    const { username, password } = address;
    const { host, port } = address.host === undefined ? sharedServer() : address;
    const target = { host, port, username, password };
    return closedAtEnd(await Holdfast.connect(target, { ...PATIENT, ...options }));
  },
};

/** What the projects call them. */
const CONTEXTS: Readonly<Record<string, BringYourOwn>> = {
  'ioredis-6': throughIoredis,
  'node-redis-6': throughNodeRedis,
  'valkey-glide': throughGlide,
  'ioredis-6 cluster': throughIoredisCluster,
  'node-redis-6 cluster': throughNodeRedisCluster,
};

/** Declares a suite, which runs through the library and at the servers of the project it is run in. */
export function describeThrough(title: string, define: (context: BringYourOwn) => void): void {
  const [library, topology] = [inject('library'), inject('topology')];
  const context = CONTEXTS[topology === 'standalone' ? library : `${library} ${topology}`];
  if (context === undefined) throw new Error(`No clients of ${library} at servers that are ${topology}`);
  forbidUnhandledRejections();
  const describeThere = topology === 'cluster' ? describeOnCluster : describe;
  describeThere(`${title} through ${context.title}`, () => define(context));
}

type Declare = (title: string, test: () => void | Promise<void>, timeoutMs?: number) => void;

/**
 * What declares a test, or a group of them, about one server: one of its own, one behind a proxy, one whose
 * commands are counted. Or about this process alone, whatever the servers are. Contexts of a Cluster leave it out,
 * and those of one server have it.
 *
 * @param declare what declares it there: `it`, `itWithProcess`, `describe` …
 */
export function onOneServer({ topology }: Context, declare: Declare): Declare {
  return topology === 'standalone' ? declare : () => {};
}

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
