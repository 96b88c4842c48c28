/**
 * How one `Redis` instance of ioredis or iovalkey is spoken to, and duplicated for a connection of our own.
 *
 * Shared by the drivers for one server and for a Cluster, whose nodes are such instances.
 */
import { OutcomeUnknownError } from '../../errors.ts';
import type { ConnectionState, ConnectionStates } from '../connection-state.ts';
import type {
  CallSignal,
  ChannelKind,
  Connection,
  ConnectionEvents,
  ScriptArgument,
  ScriptReply,
} from '../driver.ts';
import type { OneServer } from '../one-server.ts';

/** What sends commands: a `Redis` instance, or a `Cluster`. */
export interface IoredisSender {
  readonly status: string;
  sendCommand(command: unknown): unknown;
  callBuffer(name: string, args: ScriptArgument[]): unknown;
  connect(): Promise<unknown>;
}

/** What is used of an ioredis or iovalkey `Redis` instance. */
export interface IoredisClient extends IoredisSender {
  readonly options: {
    readonly host?: unknown;
    readonly port?: unknown;
    readonly keyPrefix?: ScriptArgument | null | undefined;
    readonly sentinels?: unknown;
    readonly role?: unknown;
  };
  duplicate(override?: object): IoredisClient;
  disconnect(): void;
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/**
 * Settings of a dedicated connection: whoever opened it must see every break itself, so nothing here
 * reconnects, resends, queues or times out behind its back. Address, TLS, credentials and database are
 * inherited.
 */
const DEDICATED_OPTIONS = {
  lazyConnect: true,
  retryStrategy: () => null,
  reconnectOnError: null,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: undefined,
  socketTimeout: undefined,
  // ioredis half-closes and waits this long for the other side, which a frozen server never answers.
  disconnectTimeout: 0,
  // The ready check is an INFO, which users limited by an ACL may not have; a PING is made instead.
  enableReadyCheck: false,
  readOnly: false,
  stringNumbers: false,
  keyPrefix: '',
  himportFieldsets: undefined,
};

/** What a dedicated connection is copied from. */
type Model = Pick<IoredisClient, 'duplicate'>;

/** What a PING carries, so that its answer cannot be mistaken for another one. */
const ECHO = 'holdfast';

/** Opens a dedicated connection to where the client would connect, as soon as it is known which one to copy. */
export async function openIoredisConnection(
  original: Model | Promise<Model>,
  connectionStates: ConnectionStates,
  events: ConnectionEvents,
): Promise<Connection> {
  let client: IoredisClient | undefined;
  const connectionState = connectionStates.add(() => client?.disconnect(), events.onDown.bind(events));
  const connect = async () => {
    const model = await original;
    connectionState.assertAlive();
    client = model.duplicate(DEDICATED_OPTIONS);
    const channels = new DedicatedChannels(client, connectionState, events);
    await client.connect();
    // This proves that authentication went through, which iovalkey does not wait for.
    await ping(client);
    return { client, channels };
  };
  const connecting = connect();
  await connectionState.open(connecting);
  const { client: open, channels } = await connecting;
  return {
    send: ([name, ...args]) => send(open, String(name), args),
    subscribe: (channel, kind) => channels.subscribe(channel, kind),
    unsubscribe: (channel, kind) => channels.unsubscribe(channel, kind),
    ping: () => ping(open),
    destroy: () => connectionState.destroy(),
  };
}

/** A sharded subscription that is not answered yet. */
interface Wish {
  readonly refuse: (reason: Error) => void;
  /** ioredis seemed to have dropped the answer. */
  isGivenUp: boolean;
}

/** The subscriptions of a dedicated connection, and how it is found that the server took one back. */
class DedicatedChannels {
  readonly #client: IoredisClient;
  readonly #connectionState: ConnectionState;
  /** Oldest first. */
  readonly #wishes = new Set<Wish>();
  /** How often ioredis has said that a channel moved, without rejecting a subscription for that. */
  #moves = 0;

  constructor(client: IoredisClient, connectionState: ConnectionState, events: ConnectionEvents) {
    this.#client = client;
    this.#connectionState = connectionState;
    const onMessage = (channel: string, message: string) => events.onMessage(channel, message);
    client.on('message', onMessage);
    client.on('smessage', onMessage);
    // A slot that moves away takes its channels with it, and the server says so unasked. ioredis 5 and iovalkey
    // miss the command that this would answer, and report an error; ioredis 6 says that something moved.
    client.on('error', (error: Error) => this.#fail(error));
    client.on('close', () => this.#fail(new Error('The connection was closed')));
    client.on('moved', () => this.#moved());
  }

  async subscribe(channel: string, kind: ChannelKind): Promise<void> {
    await (kind === 'plain' ? send(this.#client, 'subscribe', [channel]) : this.#subscribeSharded(channel));
  }

  async unsubscribe(channel: string, kind: ChannelKind): Promise<void> {
    await send(this.#client, kind === 'plain' ? 'unsubscribe' : 'sunsubscribe', [channel]);
  }

  #subscribeSharded(channel: string): Promise<void> {
    return new Promise((resolve, refuse) => {
      const wish: Wish = { refuse, isGivenUp: false };
      this.#wishes.add(wish);
      send(this.#client, 'ssubscribe', [channel])
        .finally(() => this.#wishes.delete(wish))
        .then(
          () => {
            resolve();
            if (wish.isGivenUp) this.#takenAway();
          },
          (error: Error) => {
            if (error.message.startsWith('MOVED ')) this.#moves -= 1;
            refuse(error);
          },
        );
    });
  }

  /**
   * ioredis 5 says so instead of rejecting a subscription with MOVED, which then stays unsettled for ever;
   * ioredis 6 before it rejects one, and when a channel was taken away.
   */
  #moved(): void {
    this.#moves = Math.max(this.#moves, 0) + 1;
    setImmediate(() => {
      if (this.#moves <= 0) return;
      this.#moves -= 1;
      const [wish] = this.#wishes;
      if (wish === undefined) return this.#takenAway();
      // Answers come in order, so it is the oldest. Should it be answered after all, it was not that.
      this.#wishes.delete(wish);
      wish.isGivenUp = true;
      wish.refuse(new Error('MOVED to another node'));
    });
  }

  #takenAway(): void {
    this.#fail(new Error('A sharded channel has moved to another node'));
  }

  #fail(reason: Error): void {
    for (const { refuse } of this.#wishes) refuse(reason);
    this.#connectionState.fail(reason);
  }
}

/** A round trip. A server that takes back a subscription may do so in between: its word is not the answer. */
export async function ping(client: IoredisSender): Promise<void> {
  let reply: ScriptReply;
  try {
    reply = await send(client, 'ping', [ECHO]);
  } catch (error) {
    // A refusal is an answer too: the connection carries data both ways.
    if (error instanceof Error && error.message.startsWith('NOPERM')) return;
    throw error;
  }
  // A subscriber is answered with two words.
  if ((Array.isArray(reply) ? reply[1] : reply) !== ECHO)
    throw new Error('The answer to PING was another one');
}

/**
 * `callBuffer` builds a command by the options of whatever it is called on and hands it to that object's
 * `sendCommand`: called on this one, it knows no `keyPrefix` and no auto-pipelining, and returns the command.
 */
const BUILDER = { options: {}, sendCommand: (command: IoredisCommand) => command };

/** Sends a command with its arguments exactly as given, once at most. */
export function send(
  client: IoredisSender,
  name: string,
  args: ScriptArgument[],
  signal?: CallSignal,
): Promise<ScriptReply> {
  const command = client.callBuffer.call(BUILDER, name, args) as IoredisCommand;
  const { reject, toWritable } = command;
  let isOver = false;
  let isWaiting = false;
  let writtenTo: { readonly destroyed: boolean } | undefined;
  command.reject = (error) => {
    isOver = true;
    reject.call(command, error);
  };
  // The libraries write a command again when its connection broke before the answer, and write one from their queue
  // though its caller has left. Then it could run twice, or late: a PING is written in its place. A Cluster sends a
  // command on that a node has turned away; that node's connection is still open.
  command.toWritable = (connection) => {
    const isLost = writtenTo?.destroyed === true;
    if (isLost) command.reject(new OutcomeUnknownError('The connection broke before the server answered'));
    if (isLost || isOver || (isWaiting && signal?.aborted === true)) return HARMLESS;
    writtenTo = connection;
    return toWritable.call(command, connection);
  };
  const sent = client.sendCommand(command) as Promise<RawReply>;
  isWaiting = true;
  // Whatever stands between the caller and the library may have sent another command in its place.
  if (sent !== command.promise) return sent.then(decode);
  const { resolve } = command;
  command.resolve = (reply) => resolve.call(command, decode(reply));
  return sent as Promise<ScriptReply>;
}

/** The same for whole commands. */
export function sendThrough(client: IoredisSender): OneServer['send'] {
  return (command, signal) => send(client, String(command[0]), command.slice(1), signal);
}

/** What is used of a command: the libraries ask it for its bytes whenever they write it to a connection. */
interface IoredisCommand {
  toWritable(connection: { readonly destroyed: boolean }): string | Buffer;
  resolve(reply: RawReply): unknown;
  readonly promise: unknown;
  reject(error: Error): void;
}

/** Takes the place of a command that is not to run: the library counts on one reply for each that it writes. */
const HARMLESS = '*1\r\n$4\r\nPING\r\n';

/** A reply whose text comes as bytes, so that integers that come as text, under `stringNumbers`, stand out. */
type RawReply = number | string | Buffer | null | RawReply[];

function decode(reply: RawReply): ScriptReply {
  if (Buffer.isBuffer(reply)) return reply.toString();
  if (typeof reply === 'string') return Number(reply);
  return Array.isArray(reply) ? reply.map(decode) : reply;
}
