/**
 * The driver for node-redis 5 and 6 (the npm packages `redis` and `@redis/client`), on RESP2 and RESP3.
 *
 * Commands go through `sendCommand`, which adds no `keyPrefix`. Typed structurally, so that nobody needs
 * the library's types. Deadlines are left to `deadline.ts`, the meaning of errors to `outcome.ts`; a
 * client that was never connected rejects with the library's own ClientClosedError.
 */
import type { Connection, ConnectionEvents, Driver, ScriptArgument, ScriptReply } from './driver.ts';
import { Lifelines } from './lifeline.ts';
import { type NodeRedisClient, openNodeRedisConnection, send } from './node-redis-connection.ts';
import { scanWith } from './scan.ts';

class NodeRedisDriver implements Driver {
  readonly library = 'node-redis';
  readonly topology = 'standalone';
  readonly keyPrefix: string;
  readonly #client: NodeRedisClient;
  readonly #connections = new Lifelines();

  constructor(client: NodeRedisClient) {
    this.#client = client;
    this.keyPrefix = String(client.options?.keyPrefix ?? '');
  }

  eval(source: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return send(this.#client, ['EVAL', source, String(keys.length), ...keys, ...args]);
  }

  evalSha(sha1: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return send(this.#client, ['EVALSHA', sha1, String(keys.length), ...keys, ...args]);
  }

  nodeOf(): string {
    return '';
  }

  nodes(): readonly string[] {
    return [''];
  }

  async rediscover(): Promise<void> {}

  openConnection(_node: string, events: ConnectionEvents): Promise<Connection> {
    return openNodeRedisConnection(this.#client, this.#connections, events);
  }

  scan(pattern: string): AsyncIterable<string> {
    return scanWith((args) => send(this.#client, args), pattern);
  }

  async close(): Promise<void> {
    this.#connections.destroyAll();
  }
}

/** Makes a driver of a node-redis client. */
export function nodeRedisDriver(client: NodeRedisClient): Driver {
  return new NodeRedisDriver(client);
}
