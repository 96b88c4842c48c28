/**
 * Sends commands on one client of node-redis, and duplicates it for dedicated connections.
 *
 * Shared by the drivers for one server, for Sentinel and for a Cluster, which choose the client.
 */

import type { ConnectionStates } from '../connection-state.ts';
import type { CallSignal, Connection, ConnectionEvents, ScriptArgument, ScriptReply } from '../driver.ts';

/** The used members of a client made by `createClient`. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly options?:
    | { readonly socket?: object; readonly keyPrefix?: ScriptArgument | undefined }
    | undefined;
  sendCommand(args: readonly ScriptArgument[], options?: object): Promise<unknown>;
  duplicate(overrides?: object): NodeRedisClient;
  connect(): Promise<unknown>;
  destroy(): void;
  unref(): void;
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  unsubscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  sSubscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  sUnsubscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'sharded-channel-moved', listener: (channel: string) => void): unknown;
}

/** The server for a dedicated connection. */
export interface Whereabouts {
  /** Finds the user's client that is connected to it. */
  find(): Promise<NodeRedisClient>;
  /** Whether an open connection is on the wrong server by now, as far as the library knows. */
  isStray?(client: NodeRedisClient, shardedChannels: ReadonlySet<string>): boolean;
}

/**
 * Overrides the user's type mapping with the library's default. The library's time-out, a signal and a timer for every
 * command, would only repeat the work of `call-timeout.ts`.
 */
const OURS = { typeMapping: {}, timeout: undefined };

/** Command options with which the library drops a queued command when the signal aborts, or has aborted. */
export function droppable(signal: CallSignal | undefined): object {
  return { ...OURS, abortSignal: signal };
}

/**
 * Sends a command, which is never written after the signal has aborted. Dropping by the library costs objects for each
 * command. A ready client writes within moments, and encodes a command only when it writes: if the command has to wait
 * after all, it has become a PING by then.
 */
export function send(
  client: Pick<NodeRedisClient, 'sendCommand'> & { readonly isReady?: boolean },
  command: ScriptArgument[],
  signal?: CallSignal,
): Promise<ScriptReply> {
  if (client.isReady !== true || signal?.aborted === true)
    return client.sendCommand(command, droppable(signal)) as Promise<ScriptReply>;
  signal?.addEventListener('abort', () => command.splice(0, command.length, 'PING'));
  return client.sendCommand(command, OURS) as Promise<ScriptReply>;
}

/**
 * Opens a dedicated connection.
 *
 * @param letsEnd whether the process may exit while the connection is open
 */
export async function openNodeRedisConnection(
  whereabouts: Whereabouts,
  connectionStates: ConnectionStates,
  events: ConnectionEvents,
  { letsEnd = false } = {},
): Promise<Connection> {
  let drop = () => {};
  const connectionState = connectionStates.add(() => drop(), events.onDown.bind(events));
  const opening = (async () => {
    const original = await whereabouts.find();
    // A client made after the end would never be dropped.
    connectionState.assertAlive();
    const duplicate = original.duplicate(dedicatedOptions(original));
    duplicate.on('error', (error) => connectionState.fail(error));
    duplicate.on('sharded-channel-moved', () =>
      connectionState.fail(new Error('The slot of a channel moved to another node')),
    );
    if (letsEnd) duplicate.unref();
    const connecting = duplicate.connect();
    // A node-redis client that is destroyed while it connects finishes connecting and can then no longer be destroyed:
    // its socket would stay open forever. `await connecting` reports the error.
    drop = () => void connecting.finally(() => destroy(duplicate)).catch(() => {});
    await connecting;
    drop = () => destroy(duplicate);
    return duplicate;
  })();
  await connectionState.open(opening);
  const client = await opening;
  const shardedChannels = new Set<string>();
  // One listener for all channels, passed to unsubscribe() too: otherwise a subscribe() that overtakes it counts as
  // acknowledged and is then removed with it.
  const onMessage = (message: string, channel: string) => events.onMessage(channel, message);
  return {
    send: (args) => send(client, [...args]),
    subscribe: async (channel, kind) => {
      connectionState.assertAlive();
      if (kind === 'plain') return void (await client.subscribe(channel, onMessage));
      await client.sSubscribe(channel, onMessage);
      shardedChannels.add(channel);
    },
    unsubscribe: async (channel, kind) => {
      connectionState.assertAlive();
      if (kind === 'plain') return void (await client.unsubscribe(channel, onMessage));
      shardedChannels.delete(channel);
      await client.sUnsubscribe(channel, onMessage);
    },
    ping: async () => {
      await ping(client);
      // When a command is pending, the library takes the server's message that a channel moved for the answer to that
      // command. This check finds the moved channel.
      if (whereabouts.isStray?.(client, shardedChannels) === true) {
        connectionState.fail(new Error('The server is no longer the home of the channel'));
      }
      connectionState.assertAlive();
    },
    destroy: () => connectionState.destroy(),
  };
}

/**
 * Settings of a dedicated connection. The code that opened it must see every break, so it does not reconnect, and has
 * no feature that sends its own commands. Address, TLS, credentials, database and protocol are inherited.
 */
function dedicatedOptions(client: NodeRedisClient): object {
  return {
    socket: { ...client.options?.socket, reconnectStrategy: false, socketTimeout: undefined },
    commandOptions: {},
    commandsQueueMaxLength: undefined,
    disableOfflineQueue: true,
    pingInterval: undefined,
    clientSideCache: undefined,
    emitInvalidate: false,
    maintNotifications: 'disabled',
    readonly: false,
  };
}

async function ping(client: NodeRedisClient): Promise<void> {
  try {
    await client.sendCommand(['PING']);
  } catch (error) {
    // A refusal is an answer too: the connection carries data both ways.
    if (!(error instanceof Error && error.message.startsWith('NOPERM'))) throw error;
  }
}

function destroy(client: NodeRedisClient): void {
  try {
    client.destroy();
  } catch {
    // node-redis 5 throws when the connection is already closed, which is the intended result.
  }
}
