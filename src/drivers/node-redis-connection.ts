/**
 * How one client of node-redis is spoken to, and duplicated for a connection of our own.
 *
 * Shared by the drivers for one server, for Sentinel and for a Cluster.
 */
import type { Connection, ConnectionEvents, ScriptArgument, ScriptReply } from './driver.ts';
import type { Lifeline, Lifelines } from './lifeline.ts';

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
  on(event: 'error' | 'server-sunsubscribe', listener: (error: Error) => void): unknown;
}

/** Whatever types the user's client is set to map replies to, ours are the library's own. */
export const PLAIN_REPLIES = { typeMapping: {} };

export function send(client: NodeRedisClient, args: readonly ScriptArgument[]): Promise<ScriptReply> {
  return client.sendCommand(args, PLAIN_REPLIES) as Promise<ScriptReply>;
}

/** Opens a dedicated connection to where the client is connected. */
export async function openNodeRedisConnection(
  original: NodeRedisClient,
  lifelines: Lifelines,
  events: ConnectionEvents,
): Promise<Connection> {
  const client = original.duplicate(dedicatedOptions(original));
  let connecting: Promise<unknown> | undefined;
  const lifeline: Lifeline = lifelines.add(() => {
    // Destroyed while it connects, a node-redis client finishes connecting and can then no longer
    // be destroyed: the socket would stay open for ever.
    if (connecting === undefined) destroy(client);
    else connecting.finally(() => destroy(client)).catch(() => {});
  }, events.onDown.bind(events));
  client.on('error', (error) => lifeline.fail(error));
  client.on('server-sunsubscribe', () => lifeline.fail(new Error('The slot of a channel moved away')));
  connecting = client.connect();
  await lifeline.open(connecting);
  connecting = undefined;
  // One listener for all channels: given to unsubscribe() too, or a subscribe() that overtakes it is
  // taken for already acknowledged and then removed with it.
  const onMessage = (message: string, channel: string) => events.onMessage(channel, message);
  return {
    send: (args) => send(client, args),
    subscribe: async (channel, kind) => {
      lifeline.assertAlive();
      if (kind === 'sharded') await client.sSubscribe(channel, onMessage);
      else await client.subscribe(channel, onMessage);
    },
    unsubscribe: async (channel, kind) => {
      lifeline.assertAlive();
      if (kind === 'sharded') await client.sUnsubscribe(channel, onMessage);
      else await client.unsubscribe(channel, onMessage);
    },
    ping: () => ping(client),
    destroy: () => lifeline.destroy(),
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
