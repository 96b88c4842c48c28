/**
 * The driver for node-redis 5 and 6 (the npm packages `redis` and `@redis/client`), on RESP2 and RESP3.
 *
 * Commands go through `sendCommand`, which adds no `keyPrefix`. Typed structurally, so that nobody needs
 * the library's types. Deadlines are left to `deadline.ts`, the meaning of errors to `outcome.ts`; a
 * client that was never connected rejects with the library's own ClientClosedError.
 */
import type { Driver, ScriptArgument, ScriptReply, Subscriber, SubscriberEvents } from './driver.ts';
import { type Lifeline, Lifelines } from './lifeline.ts';

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
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Whatever types the user's client is set to map replies to, ours are the library's own. */
const PLAIN_REPLIES = { typeMapping: {} };

/** Keys fetched by one SCAN; enough to be quick, small enough not to hold up the server. */
const SCAN_COUNT = '500';

class NodeRedisDriver implements Driver {
  readonly library = 'node-redis';
  readonly keyPrefix: string;
  readonly #client: NodeRedisClient;
  readonly #subscribers = new Lifelines();

  constructor(client: NodeRedisClient) {
    this.#client = client;
    this.keyPrefix = String(client.options?.keyPrefix ?? '');
  }

  eval(source: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#send(['EVAL', source, String(keys.length), ...keys, ...args]);
  }

  evalSha(sha1: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#send(['EVALSHA', sha1, String(keys.length), ...keys, ...args]);
  }

  async openSubscriber(events: SubscriberEvents): Promise<Subscriber> {
    const client = this.#client.duplicate(subscriberOptions(this.#client));
    let connecting: Promise<unknown> | undefined;
    const lifeline: Lifeline = this.#subscribers.add(() => {
      // Destroyed while it connects, a node-redis client finishes connecting and can then no longer
      // be destroyed: the socket would stay open for ever.
      if (connecting === undefined) destroy(client);
      else connecting.finally(() => destroy(client)).catch(() => {});
    }, events.onDown.bind(events));
    client.on('error', (error) => lifeline.fail(error));
    connecting = client.connect();
    await lifeline.open(connecting);
    connecting = undefined;
    // One listener for all channels: given to unsubscribe() too, or a subscribe() that overtakes it is
    // taken for already acknowledged and then removed with it.
    const onMessage = (message: string, channel: string) => events.onMessage(channel, message);
    return {
      subscribe: async (channel) => {
        lifeline.assertAlive();
        await client.subscribe(channel, onMessage);
      },
      unsubscribe: async (channel) => {
        lifeline.assertAlive();
        await client.unsubscribe(channel, onMessage);
      },
      ping: () => ping(client),
      destroy: () => lifeline.destroy(),
    };
  }

  async *scan(pattern: string): AsyncIterable<string> {
    let cursor = '0';
    do {
      const page = await this.#send(['SCAN', cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT]);
      const [next, keys] = page as [string, string[]];
      yield* keys;
      cursor = String(next);
    } while (cursor !== '0');
  }

  async close(): Promise<void> {
    this.#subscribers.destroyAll();
  }

  #send(args: ScriptArgument[]): Promise<ScriptReply> {
    return this.#client.sendCommand(args, PLAIN_REPLIES) as Promise<ScriptReply>;
  }
}

/**
 * Settings of a subscriber connection: it belongs to the wake hub, which must see every break itself, so
 * it does not reconnect, and has none of the extras that send commands of their own. Address, TLS,
 * credentials, database and protocol are inherited.
 */
function subscriberOptions(client: NodeRedisClient): object {
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

/** Makes a driver of a node-redis client. */
export function nodeRedisDriver(client: NodeRedisClient): Driver {
  return new NodeRedisDriver(client);
}
