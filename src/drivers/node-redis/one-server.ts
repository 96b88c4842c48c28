/**
 * The driver for node-redis 5 and 6 (the npm packages `redis` and `@redis/client`) with one server at a time, on RESP2
 * and RESP3. This file handles clients and pools; `sentinel.ts` handles Sentinel.
 *
 * Commands go through `sendCommand`, which adds no `keyPrefix`. Typed structurally, so that users do not need the
 * library's types. A closed client rejects with the library's own ClientClosedError.
 */
import type {
  CallSignal,
  Condition,
  Driver,
  ScriptArgument,
  ScriptReply,
  SwitchListener,
  Topology,
} from '../driver.ts';
import { rememberErrors } from '../last-error.ts';
import { OneServerDriver } from '../one-server.ts';
import { nodeRedisCondition } from './condition.ts';
import { type NodeRedisClient, openNodeRedisConnection, send, type Whereabouts } from './connection.ts';

/** The user's connections to the server. */
export interface NodeRedisServer extends Whereabouts {
  readonly topology: Topology;
  readonly keyPrefix: string;
  send(command: ScriptArgument[], signal?: CallSignal): Promise<ScriptReply>;
  /** See `Driver.condition`. */
  condition(): Condition;
  /** Calls the listener when commands go to another server than before. */
  onSwitched?(listener: SwitchListener): void;
  /** Removes listeners from the user's client. */
  close?(): Promise<void>;
}

/** The used members of a pool made by `createClientPool`. */
export interface NodeRedisPool {
  readonly isOpen: boolean;
  readonly _keyPrefix?: ScriptArgument | undefined;
  sendCommand(args: readonly ScriptArgument[], options?: object): Promise<unknown>;
  execute<T>(use: (client: NodeRedisClient) => Promise<T>): Promise<T>;
}

/** Makes a driver of node-redis connections to one server. */
export function driverOf(server: NodeRedisServer): Driver {
  return new OneServerDriver({
    library: 'node-redis',
    writesOnce: true,
    topology: server.topology,
    keyPrefix: server.keyPrefix,
    send: (command, signal) => server.send(command, signal),
    open: (connectionStates, events) => openNodeRedisConnection(server, connectionStates, events),
    onSwitched: (listener) => server.onSwitched?.(listener),
    condition: () => server.condition(),
    close: async () => server.close?.(),
  });
}

/** Makes a driver of a node-redis client. */
export function nodeRedisDriver(client: NodeRedisClient): Driver {
  rememberErrors(client);
  return driverOf({
    topology: 'standalone',
    keyPrefix: String(client.options?.keyPrefix ?? ''),
    send: (command, signal) => send(client, command, signal),
    find: async () => client,
    condition: () => nodeRedisCondition(client),
  });
}

/** Makes a driver of a node-redis pool: each script uses a free client of the pool. */
export function nodeRedisPoolDriver(pool: NodeRedisPool): Driver {
  rememberErrors(pool);
  return driverOf({
    topology: 'standalone',
    keyPrefix: String(pool._keyPrefix ?? ''),
    send: (command, signal) => send(pool, command, signal),
    find: () => pool.execute(async (client) => client),
    condition: () => nodeRedisCondition(pool),
  });
}
