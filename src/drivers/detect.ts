/**
 * Finds the driver for the user's client.
 *
 * By structure, not by `instanceof`: a process may load several copies of a library, and this file imports none of
 * them. An unknown client is refused before anything is sent.
 */
import { OptionError } from '../errors.ts';
import type { Driver } from './driver.ts';
import { type IoredisCluster, ioredisClusterDriver } from './ioredis/cluster.ts';
import type { IoredisClient, IoredisSender } from './ioredis/connection.ts';
import { ioredisDriver } from './ioredis/one-server.ts';
import { type NodeRedisCluster, nodeRedisClusterDriver } from './node-redis/cluster.ts';
import type { NodeRedisClient } from './node-redis/connection.ts';
import { type NodeRedisPool, nodeRedisDriver, nodeRedisPoolDriver } from './node-redis/one-server.ts';
import { type NodeRedisSentinel, nodeRedisSentinelDriver } from './node-redis/sentinel.ts';
import { refusalOfOld } from './too-old.ts';
import { detectGlide } from './valkey-glide/detect.ts';

/** Any method. @inline */
type Method = (...args: never[]) => unknown;

/**
 * A client that `Holdfast.from` accepts, by the members that tell the libraries apart: `Redis` and `Cluster` of ioredis
 * and iovalkey; the results of `createClient`, `createClientPool`, `createCluster` and `createSentinel` of node-redis;
 * `GlideClient` and `GlideClusterClient` of Valkey GLIDE, alone or with their configuration.
 */
export type RedisClient =
  | { readonly callBuffer: Method; readonly sendCommand: Method; readonly status: string }
  | { readonly isOpen: boolean; readonly sendCommand: Method }
  | { readonly isOpen: boolean; readonly getMasterNode: Method }
  | { readonly customCommand: Method; readonly invokeScript: Method }
  | {
      readonly client: { readonly customCommand: Method; readonly invokeScript: Method };
      readonly config: object;
    };

const ACCEPTED =
  'a Redis or Cluster instance of ioredis 5 or 6 or of iovalkey, a client made by createClient(), createClientPool(), createSentinel() or createCluster() of node-redis (redis) 5 or 6, or a GlideClient or GlideClusterClient of Valkey GLIDE 2';

function hasMethods(client: object, ...names: string[]): boolean {
  return names.every((name) => typeof Reflect.get(client, name) === 'function');
}

function isIoredis(client: object): client is IoredisClient {
  return (
    hasMethods(client, 'sendCommand', 'duplicate', 'call', 'callBuffer') &&
    typeof Reflect.get(client, 'status') === 'string' &&
    typeof Reflect.get(client, 'options') === 'object'
  );
}

function isIoredisCluster(client: object): client is IoredisCluster {
  return (
    Reflect.get(client, 'isCluster') === true &&
    hasMethods(client, 'sendCommand', 'callBuffer', 'nodes', 'refreshSlotsCache') &&
    Array.isArray(Reflect.get(client, 'slots'))
  );
}

function isNodeRedis(client: object): client is NodeRedisClient {
  return (
    hasMethods(client, 'sendCommand', 'duplicate', 'subscribe', 'destroy') &&
    'isOpen' in client &&
    'isReady' in client
  );
}

function isNodeRedisPool(client: object): client is NodeRedisPool {
  return hasMethods(client, 'sendCommand', 'execute') && 'idleClients' in client;
}

function isNodeRedisSentinel(client: object): client is NodeRedisSentinel {
  return hasMethods(client, '_execute', 'getMasterNode') && 'isOpen' in client;
}

function isNodeRedisCluster(client: object): client is NodeRedisCluster {
  return (
    hasMethods(client, 'sendCommand', 'nodeClient') &&
    ['isOpen', 'slots', 'masters', '_slots'].every((name) => name in client)
  );
}

/** Refuses a client that is not open and does not connect by itself: every call on it would time out. */
function opened<Client>(library: string, client: Client, isOpen: boolean): Client {
  if (isOpen) return client;
  throw new OptionError(
    `This ${library} client is not connected: call "await client.connect()" before Holdfast.from(client)`,
  );
}

const ioredis = <Client extends IoredisSender>(client: Client) =>
  opened('ioredis', client, client.status !== 'end');

const nodeRedis = <Client extends { readonly isOpen: boolean }>(client: Client) =>
  opened('node-redis', client, client.isOpen);

/** Describes the value without any text that could contain a password. */
function describe(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'undefined';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' && name !== 'Object'
    ? `an instance of ${name}`
    : 'a plain object';
}

/**
 * Returns a driver for the client, or throws an OptionError that lists the accepted clients.
 *
 * @param connectionName the name of further clients that the driver opens
 */
export function detectDriver(client: unknown, connectionName?: string): Driver {
  if (typeof client !== 'object' || client === null) {
    throw new OptionError(`Expected ${ACCEPTED}; got ${describe(client)}`);
  }
  const tooOld = refusalOfOld(client);
  if (tooOld !== undefined) throw new OptionError(tooOld);
  if (isIoredisCluster(client)) return ioredisClusterDriver(ioredis(client));
  if (isIoredis(client)) return ioredisDriver(ioredis(client), connectionName);
  if (isNodeRedisCluster(client)) return nodeRedisClusterDriver(nodeRedis(client));
  if (isNodeRedisSentinel(client)) return nodeRedisSentinelDriver(nodeRedis(client));
  if (isNodeRedisPool(client)) return nodeRedisPoolDriver(nodeRedis(client));
  if (isNodeRedis(client)) return nodeRedisDriver(nodeRedis(client));
  const glide = detectGlide(client);
  if (glide !== undefined) return glide;
  throw new OptionError(`Expected ${ACCEPTED}; got ${describe(client)}`);
}
