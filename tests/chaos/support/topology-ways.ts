/**
 * The ways a client can reach servers that Sentinels watch over, or a Cluster: the default settings of both
 * libraries, and our own connections.
 */
import { onTestFinished } from 'vitest';
import { type ClientOptions, Holdfast, type RedisClient } from '../../../src/index.ts';
import type { TestCluster } from '../../harness/cluster.ts';
import type { TestSentinels } from '../../harness/sentinels.ts';
import { eventually } from '../../harness/wait.ts';
import type { Way } from './ways.ts';

type Options = ClientOptions | undefined;

/** Warnings that nobody listens to are printed, once for each client; these are about what is done on purpose. */
function quiet(client: Holdfast): Holdfast {
  client.on('warning', () => {});
  return client;
}

/** Over a client of the user's, both closed when the test ends. */
function over(redis: RedisClient, options: Options, disconnect: () => unknown): Holdfast {
  const client = quiet(Holdfast.from(redis, options));
  onTestFinished(async () => {
    await client.close();
    await disconnect();
  });
  return client;
}

/** A busy machine may need several attempts: how fast a client connects is not what these tests are about. */
async function ours(connect: () => Promise<Holdfast>): Promise<Holdfast> {
  const client = quiet(await eventually(connect, { withinMs: 20_000 }));
  onTestFinished(() => client.close());
  return client;
}

/** A client of the primary that the Sentinels name, closed when the test ends. */
export async function joinSentinels(way: Way, watched: TestSentinels, options?: Options): Promise<Holdfast> {
  const { addresses, name } = watched;
  switch (way) {
    case 'default ioredis 6': {
      const { Redis } = await import('ioredis');
      const redis = new Redis({ sentinels: addresses, name });
      redis.on('error', () => {});
      await redis.ping();
      return over(redis, options, () => redis.disconnect());
    }
    case 'default node-redis 6': {
      const { createSentinel } = await import('redis');
      const redis = createSentinel({ name, sentinelRootNodes: addresses });
      redis.on('error', () => {});
      await redis.connect();
      return over(redis, options, () => redis.destroy());
    }
    case 'Holdfast.connect':
      return ours(() => Holdfast.connect({ sentinels: addresses, name }, options));
  }
}

/** A client of the Cluster, closed when the test ends. */
export async function joinCluster(
  way: Way,
  { addresses }: TestCluster,
  options?: Options,
): Promise<Holdfast> {
  switch (way) {
    case 'default ioredis 6': {
      const { Cluster } = await import('ioredis');
      const redis = new Cluster(addresses);
      redis.on('error', () => {});
      await redis.ping();
      return over(redis, options, () => redis.disconnect());
    }
    case 'default node-redis 6': {
      const { createCluster } = await import('redis');
      const rootNodes = addresses.map(({ host, port }) => ({ url: `redis://${host}:${port}` }));
      const redis = createCluster({ rootNodes });
      redis.on('error', () => {});
      await redis.connect();
      return over(redis, options, () => redis.destroy());
    }
    case 'Holdfast.connect':
      return ours(() => Holdfast.connect({ cluster: addresses }, options));
  }
}
