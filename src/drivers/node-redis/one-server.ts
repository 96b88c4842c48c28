/**
 * The driver for node-redis 5 and 6 (the npm packages `redis` and `@redis/client`) where one server is spoken
 * to at a time, on RESP2 and RESP3: clients and pools here, Sentinel by way of `node-redis-sentinel.ts`.
 *
 * Commands go through `sendCommand`, which adds no `keyPrefix`. Typed structurally, so that nobody needs
 * the library's types. A client that is closed rejects with the library's own ClientClosedError.
 */
import type { CallSignal, Driver, ScriptArgument, ScriptReply, SwitchListener, Topology } from '../driver.ts';
import { OneServerDriver } from '../one-server.ts';
import { type NodeRedisClient, openNodeRedisConnection, send, type Whereabouts } from './connection.ts';

/** What keeps the user's connections to the server. */
export interface NodeRedisServer extends Whereabouts {
  readonly topology: Topology;
  readonly keyPrefix: string;
  send(command: ScriptArgument[], signal?: CallSignal): Promise<ScriptReply>;
  /** Tells the listener when commands go to another server than before. */
  onSwitched?(listener: SwitchListener): void;
  /** Leaves the user's client as it was. */
  close?(): Promise<void>;
}

/** What is used of a pool made by `createClientPool`. */
export interface NodeRedisPool {
  readonly isOpen: boolean;
  readonly _keyPrefix?: ScriptArgument | undefined;
  sendCommand(args: readonly ScriptArgument[], options?: object): Promise<unknown>;
  execute<T>(use: (client: NodeRedisClient) => Promise<T>): Promise<T>;
}

/** Makes a driver of whatever keeps connections of node-redis to one server. */
export function driverOf(server: NodeRedisServer): Driver {
  return new OneServerDriver({
    library: 'node-redis',
    writesOnce: true,
    topology: server.topology,
    keyPrefix: server.keyPrefix,
    send: (command, signal) => server.send(command, signal),
    open: (connectionStates, events) => openNodeRedisConnection(server, connectionStates, events),
    onSwitched: (listener) => server.onSwitched?.(listener),
    close: async () => server.close?.(),
  });
}

/** Makes a driver of a node-redis client. */
export function nodeRedisDriver(client: NodeRedisClient): Driver {
  return driverOf({
    topology: 'standalone',
    keyPrefix: String(client.options?.keyPrefix ?? ''),
    send: (command, signal) => send(client, command, signal),
    find: async () => client,
  });
}

/** Makes a driver of a node-redis pool: each script goes through whichever of its clients is free. */
export function nodeRedisPoolDriver(pool: NodeRedisPool): Driver {
  return driverOf({
    topology: 'standalone',
    keyPrefix: String(pool._keyPrefix ?? ''),
    send: (command, signal) => send(pool, command, signal),
    find: () => pool.execute(async (client) => client),
  });
}
