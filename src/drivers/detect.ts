/**
 * Finds the driver for a client the user has.
 *
 * By structure, not by `instanceof`: a process may hold several copies of a library, and none of them is
 * imported here. What is not supported is refused by name, before anything is sent.
 */
import { OptionError } from '../errors.ts';
import type { Driver } from './driver.ts';
import { ioredisDriver } from './ioredis.ts';
import type { IoredisClient } from './ioredis-connection.ts';
import { nodeRedisDriver } from './node-redis.ts';
import type { NodeRedisClient } from './node-redis-connection.ts';

const ACCEPTED =
  'a Redis instance of ioredis 5 or 6, a Redis instance of iovalkey, or a client made by createClient() of node-redis (redis) 5 or 6';

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

function isNodeRedis(client: object): client is NodeRedisClient {
  return (
    hasMethods(client, 'sendCommand', 'duplicate', 'subscribe', 'destroy') &&
    'isOpen' in client &&
    'isReady' in client
  );
}

/** The name of a client of a known kind that this version cannot use, or undefined. */
function unsupportedKind(client: object): string | undefined {
  if (Reflect.get(client, 'isCluster') === true) return 'a Cluster of ioredis or iovalkey';
  if (hasMethods(client, 'customCommand', 'invokeScript')) return 'a Valkey GLIDE client';
  if ('isOpen' in client) {
    if (hasMethods(client, 'nodeClient')) return 'a node-redis cluster';
    if (hasMethods(client, 'getMasterNode')) return 'a node-redis Sentinel client';
    if (hasMethods(client, 'execute') && 'idleClients' in client) return 'a node-redis client pool';
  }
  return undefined;
}

/** What was given, in words that cannot carry a password. */
function describe(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'undefined';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' && name !== 'Object'
    ? `an instance of ${name}`
    : 'a plain object';
}

/** Returns a driver for the client, or throws an OptionError that says what is accepted. */
export function detectDriver(client: unknown): Driver {
  if (typeof client !== 'object' || client === null) {
    throw new OptionError(`Expected ${ACCEPTED}; got ${describe(client)}`);
  }
  const unsupported = unsupportedKind(client);
  if (unsupported !== undefined) {
    throw new OptionError(`Got ${unsupported}, which this version does not support yet; give ${ACCEPTED}`);
  }
  if (isIoredis(client)) return ioredisDriver(client);
  if (isNodeRedis(client)) return nodeRedisDriver(client);
  throw new OptionError(`Expected ${ACCEPTED}; got ${describe(client)}`);
}
