/** Opens a worker's clients: through which library, to which arrangement of servers. */
import { type ClientOptions, Holdfast, type RedisClient } from '../../src/index.ts';
import { closeAll, startTogether } from '../../tests/harness/start-together.ts';
import type { StageTarget } from '../fault.ts';
import type { Way } from './settings.ts';

export interface Connected {
  /** One, or one for each independent server. */
  readonly clients: readonly Holdfast[];
  close(): Promise<void>;
}

type Address = { readonly host: string; readonly port: number };

export async function connectTo(target: StageTarget, way: Way, options: ClientOptions): Promise<Connected> {
  if (target.kind !== 'masters') {
    const { client, close } = await connectOne(target, way, options);
    return { clients: [client], close };
  }
  const all = await startTogether(
    target.servers.map((server) => connectOne({ kind: 'server', ...server }, way, options)),
  );
  return {
    clients: all.map(({ client }) => client),
    close: () => closeAll(all),
  };
}

interface One {
  readonly client: Holdfast;
  close(): Promise<void>;
}

type SharedTarget = Exclude<StageTarget, { kind: 'masters' }>;

async function connectOne(target: SharedTarget, way: Way, options: ClientOptions): Promise<One> {
  if (way === 'connect') {
    const client = await Holdfast.connect(ownTarget(target), options);
    return { client: quiet(client), close: () => client.close() };
  }
  const { redis, disconnect } = way === 'ioredis' ? await openIoredis(target) : await openNodeRedis(target);
  const client = Holdfast.from(redis, options);
  const close = async () => {
    await client.close();
    await disconnect();
  };
  return { client: quiet(client), close };
}

/** Warnings and errors without a listener are printed; here they are what was asked for. */
function quiet(client: Holdfast): Holdfast {
  client.on('warning', () => {});
  client.on('error', () => {});
  return client;
}

function ownTarget(target: SharedTarget) {
  switch (target.kind) {
    case 'server':
      return { host: target.host, port: target.port };
    case 'sentinel':
      return { sentinels: [...target.sentinels], name: target.name };
    case 'cluster':
      return { cluster: [...target.nodes] };
  }
}

interface OpenedRedis {
  readonly redis: RedisClient;
  disconnect(): Promise<void>;
}

async function openIoredis(target: SharedTarget): Promise<OpenedRedis> {
  const { Cluster, Redis } = await import('ioredis');
  const redis =
    target.kind === 'cluster'
      ? new Cluster([...target.nodes])
      : target.kind === 'sentinel'
        ? new Redis({ sentinels: [...target.sentinels], name: target.name })
        : // BullMQ's setting: a command is resent until it is answered.
          new Redis({ host: target.host, port: target.port, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const disconnect = async () => redis.disconnect();
  await orDisconnect(redis.ping(), disconnect);
  return { redis, disconnect };
}

async function openNodeRedis(target: SharedTarget): Promise<OpenedRedis> {
  const { createClient, createCluster, createSentinel } = await import('redis');
  const url = ({ host, port }: Address) => ({ url: `redis://${host}:${port}` });
  const redis =
    target.kind === 'cluster'
      ? createCluster({ rootNodes: target.nodes.map(url) })
      : target.kind === 'sentinel'
        ? createSentinel({ name: target.name, sentinelRootNodes: [...target.sentinels] })
        : createClient(url(target));
  redis.on('error', () => {});
  const disconnect = async () => redis.destroy();
  await orDisconnect(redis.connect(), disconnect);
  return { redis, disconnect };
}

/** A client that does not get in would go on trying by itself. */
async function orDisconnect(opening: Promise<unknown>, disconnect: () => Promise<void>): Promise<void> {
  try {
    await opening;
  } catch (error) {
    await disconnect();
    throw error;
  }
}
