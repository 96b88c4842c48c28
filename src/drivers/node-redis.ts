/**
 * The driver for node-redis 5 and 6 (the npm packages `redis` and `@redis/client`) where one server is spoken
 * to at a time, on RESP2 and RESP3: clients and pools here, Sentinel by way of `node-redis-sentinel.ts`.
 *
 * Commands go through `sendCommand`, which adds no `keyPrefix`. Typed structurally, so that nobody needs
 * the library's types. Deadlines are left to `deadline.ts`, the meaning of errors to `outcome.ts`; a
 * client that was never connected rejects with the library's own ClientClosedError.
 */
import type {
  Connection,
  ConnectionEvents,
  Driver,
  ScriptArgument,
  ScriptReply,
  Topology,
} from './driver.ts';
import { Lifelines } from './lifeline.ts';
import {
  type NodeRedisClient,
  openNodeRedisConnection,
  send,
  type Whereabouts,
} from './node-redis-connection.ts';
import { scanWith } from './scan.ts';

/** What keeps the user's connections to the server. */
export interface NodeRedisServer extends Whereabouts {
  readonly topology: Topology;
  readonly keyPrefix: string;
  send(args: readonly ScriptArgument[]): Promise<ScriptReply>;
}

/** What is used of a pool made by `createClientPool`. */
export interface NodeRedisPool {
  readonly _keyPrefix?: ScriptArgument | undefined;
  sendCommand(args: readonly ScriptArgument[], options?: object): Promise<unknown>;
  execute<T>(use: (client: NodeRedisClient) => Promise<T>): Promise<T>;
}

export class NodeRedisDriver implements Driver {
  readonly library = 'node-redis';
  readonly topology: Topology;
  readonly keyPrefix: string;
  readonly #server: NodeRedisServer;
  readonly #connections = new Lifelines();

  constructor(server: NodeRedisServer) {
    this.#server = server;
    this.topology = server.topology;
    this.keyPrefix = server.keyPrefix;
  }

  eval(source: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#server.send(['EVAL', source, String(keys.length), ...keys, ...args]);
  }

  evalSha(sha1: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#server.send(['EVALSHA', sha1, String(keys.length), ...keys, ...args]);
  }

  nodeOf(): string {
    return '';
  }

  nodes(): readonly string[] {
    return [''];
  }

  async rediscover(): Promise<void> {}

  openConnection(_node: string, events: ConnectionEvents): Promise<Connection> {
    return openNodeRedisConnection(this.#server, this.#connections, events);
  }

  scan(pattern: string): AsyncIterable<string> {
    return scanWith((args) => this.#server.send(args), pattern);
  }

  async close(): Promise<void> {
    this.#connections.destroyAll();
  }
}

/** Makes a driver of a node-redis client. */
export function nodeRedisDriver(client: NodeRedisClient): Driver {
  return new NodeRedisDriver({
    topology: 'standalone',
    keyPrefix: String(client.options?.keyPrefix ?? ''),
    send: (args) => send(client, args),
    find: async () => client,
  });
}

/** Makes a driver of a node-redis pool: each script goes through whichever of its clients is free. */
export function nodeRedisPoolDriver(pool: NodeRedisPool): Driver {
  return new NodeRedisDriver({
    topology: 'standalone',
    keyPrefix: String(pool._keyPrefix ?? ''),
    send: (args) => send(pool, args),
    find: () => pool.execute(async (client) => client),
  });
}
