/**
 * How one client of node-redis is spoken to, and duplicated for a connection of our own.
 *
 * Shared by the drivers for one server, for Sentinel and for a Cluster, which say which client that is.
 */

import type { ConnectionStates } from '../connection-state.ts';
import type { CallSignal, Connection, ConnectionEvents, ScriptArgument, ScriptReply } from '../driver.ts';

/** What is used of a client made by `createClient`. */
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
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  unsubscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  sSubscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  sUnsubscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'sharded-channel-moved', listener: (channel: string) => void): unknown;
}

/** Where a dedicated connection is to be. */
export interface Whereabouts {
  /** A client of the user's that is connected there. */
  find(): Promise<NodeRedisClient>;
  /** Whether a connection that was opened earlier is in the wrong place by now, for all that is known. */
  isStray?(client: NodeRedisClient, shardedChannels: ReadonlySet<string>): boolean;
}

/**
 * Whatever types the user's client is set to map replies to, ours are the library's own. Its time-out, a signal and a
 * timer for every command, would only repeat what `deadline.ts` does.
 */
const OURS = { typeMapping: {}, timeout: undefined };

/** The options of a command that the library drops from its queue when the signal aborts, or has aborted. */
export function droppable(signal: CallSignal | undefined): object {
  return { ...OURS, abortSignal: signal };
}

/**
 * Sends a command, which is not written any more once the signal has aborted. For the library to drop it costs some
 * objects for each. A client that is ready writes in a moment, and turns a command into bytes as it does: should this
 * one have to wait all the same, it is a PING by then.
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

/** Opens a dedicated connection. */
export async function openNodeRedisConnection(
  whereabouts: Whereabouts,
  connectionStates: ConnectionStates,
  events: ConnectionEvents,
): Promise<Connection> {
  let drop = () => {};
  const connectionState = connectionStates.add(() => drop(), events.onDown.bind(events));
  const opening = (async () => {
    const original = await whereabouts.find();
    // Nobody would drop what is made after the end.
    connectionState.assertAlive();
    const duplicate = original.duplicate(dedicatedOptions(original));
    duplicate.on('error', (error) => connectionState.fail(error));
    duplicate.on('sharded-channel-moved', () =>
      connectionState.fail(new Error('The slot of a channel moved away')),
    );
    const connecting = duplicate.connect();
    // Destroyed while it connects, a node-redis client finishes connecting and can then no longer
    // be destroyed: the socket would stay open for ever.
    drop = () => void connecting.finally(() => destroy(duplicate)).catch(() => {});
    await connecting;
    drop = () => destroy(duplicate);
    return duplicate;
  })();
  await connectionState.open(opening);
  const client = await opening;
  const shardedChannels = new Set<string>();
  // One listener for all channels: given to unsubscribe() too, or a subscribe() that overtakes it is
  // taken for already acknowledged and then removed with it.
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
      // The library takes the server's word that a channel moved for the answer to whatever was asked last,
      // if something was: then this is how it is found.
      if (whereabouts.isStray?.(client, shardedChannels) === true) {
        connectionState.fail(new Error('The server is not the right one any more'));
      }
      connectionState.assertAlive();
    },
    destroy: () => connectionState.destroy(),
  };
}

/**
 * Settings of a dedicated connection: whoever opened it must see every break itself, so it does not
 * reconnect, and has none of the extras that send commands of their own. Address, TLS, credentials,
 * database and protocol are inherited.
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
    // node-redis 5 throws when the connection is gone already, which is what was asked for.
  }
}
