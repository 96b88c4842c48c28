/**
 * Sends commands on one `Redis` instance of ioredis or iovalkey, and duplicates it for dedicated connections.
 *
 * Shared by the drivers for one server and for a Cluster, whose nodes are such instances.
 */
import { CommandInDoubtError } from '../../outcome.ts';
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

/** Sends commands: a `Redis` instance, or a `Cluster`. */
export interface IoredisSender {
  readonly status: string;
  sendCommand(command: unknown): unknown;
  callBuffer(name: string, args: ScriptArgument[]): unknown;
  connect(): Promise<unknown>;
}

/** The used members of an ioredis or iovalkey `Redis` instance. */
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
 * Settings of a dedicated connection. The code that opened it must see every break, so the library does not reconnect,
 * resend, queue or time out. Address, TLS, credentials and database are inherited.
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
  // ioredis half-closes and waits this long for the server, but a frozen server never answers.
  disconnectTimeout: 0,
  // The ready check is an INFO, which an ACL may forbid. A PING takes its place.
  enableReadyCheck: false,
  readOnly: false,
  stringNumbers: false,
  keyPrefix: '',
  himportFieldsets: undefined,
};

/** The client that a dedicated connection is copied from. */
type Model = Pick<IoredisClient, 'duplicate'>;

/** The payload of a PING, so that its answer cannot be mistaken for another one. */
const ECHO = 'holdfast';

/** Opens a dedicated connection to the address of the client that `original` resolves to. */
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
    // This proves that authentication succeeded, which iovalkey does not wait for.
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
interface PendingSubscription {
  readonly refuse: (reason: Error) => void;
  /** True when ioredis seems to have dropped the answer. */
  isGivenUp: boolean;
}

/** The subscriptions of a dedicated connection. Detects that the server has ended one. */
class DedicatedChannels {
  readonly #client: IoredisClient;
  readonly #connectionState: ConnectionState;
  /** Oldest first. */
  readonly #pendingSubscriptions = new Set<PendingSubscription>();
  /** How many times ioredis reported a moved channel without rejecting a subscription for it. */
  #moves = 0;

  constructor(client: IoredisClient, connectionState: ConnectionState, events: ConnectionEvents) {
    this.#client = client;
    this.#connectionState = connectionState;
    const onMessage = (channel: string, message: string) => events.onMessage(channel, message);
    client.on('message', onMessage);
    client.on('smessage', onMessage);
    // A slot that moves away takes its channels with it, and the server pushes that news. ioredis 5 and iovalkey find
    // no command that it would answer, and emit an error; ioredis 6 emits `moved`.
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
      const pending: PendingSubscription = { refuse, isGivenUp: false };
      this.#pendingSubscriptions.add(pending);
      send(this.#client, 'ssubscribe', [channel])
        .finally(() => this.#pendingSubscriptions.delete(pending))
        .then(
          () => {
            resolve();
            if (pending.isGivenUp) this.#takenAway();
          },
          (error: Error) => {
            if (error.message.startsWith('MOVED ')) this.#moves -= 1;
            refuse(error);
          },
        );
    });
  }

  /**
   * ioredis 5 emits `moved` instead of rejecting a subscription with MOVED, which then never settles. ioredis 6 emits
   * it before it rejects one, and when the server ended a subscription.
   */
  #moved(): void {
    this.#moves = Math.max(this.#moves, 0) + 1;
    setImmediate(() => {
      if (this.#moves <= 0) return;
      this.#moves -= 1;
      const [pending] = this.#pendingSubscriptions;
      if (pending === undefined) return this.#takenAway();
      // Answers arrive in order, so the oldest was redirected. If it is answered later, a channel was lost instead.
      this.#pendingSubscriptions.delete(pending);
      pending.isGivenUp = true;
      pending.refuse(new Error('MOVED to another node'));
    });
  }

  #takenAway(): void {
    this.#fail(new Error('A sharded channel has moved to another node'));
  }

  #fail(reason: Error): void {
    for (const { refuse } of this.#pendingSubscriptions) refuse(reason);
    this.#connectionState.fail(reason);
  }
}

/** A round trip. The server may report an ended subscription in between; that message is not the answer. */
export async function ping(client: IoredisSender): Promise<void> {
  let reply: ScriptReply;
  try {
    reply = await send(client, 'ping', [ECHO]);
  } catch (error) {
    // A refusal is an answer too: the connection carries data both ways.
    if (error instanceof Error && error.message.startsWith('NOPERM')) return;
    throw error;
  }
  // A subscriber gets an array of two strings.
  if ((Array.isArray(reply) ? reply[1] : reply) !== ECHO)
    throw new Error('The server sent a wrong answer to PING');
}

/**
 * `callBuffer` builds a command by the options of its `this` object and passes it to that object's `sendCommand`.
 * Called on this object, it applies no `keyPrefix` and no auto-pipelining, and returns the command.
 */
const BUILDER = { options: {}, sendCommand: (command: IoredisCommand) => command };

/** Sends a command with its arguments exactly as given, at most once. */
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
  // The libraries write a command again when its connection broke before the answer, and write queued commands whose
  // caller has left. Such a command could run twice, or late: a PING is written in its place. A Cluster client also
  // resends a command that a node has redirected; that node's connection is still open.
  command.toWritable = (connection) => {
    const isLost = writtenTo?.destroyed === true;
    if (isLost) command.reject(new CommandInDoubtError('the connection broke before the server answered'));
    if (isLost || isOver || (isWaiting && signal?.aborted === true)) return HARMLESS;
    writtenTo = connection;
    return toWritable.call(command, connection);
  };
  const sent = client.sendCommand(command) as Promise<RawReply>;
  isWaiting = true;
  // Instrumentation around the library may have sent another command in its place.
  if (sent !== command.promise) return sent.then(decode);
  const { resolve } = command;
  command.resolve = (reply) => resolve.call(command, decode(reply));
  return sent as Promise<ScriptReply>;
}

/** The same for whole commands, which it takes apart. */
export function sendThrough(client: IoredisSender): OneServer['send'] {
  return (command, signal) => send(client, String(command.shift()), command, signal);
}

/** The used members of a command. The libraries call `toWritable` whenever they write the command. */
interface IoredisCommand {
  toWritable(connection: { readonly destroyed: boolean }): string | Buffer;
  resolve(reply: RawReply): unknown;
  readonly promise: unknown;
  reject(error: Error): void;
}

/** Replaces a command that must not run: the library expects one reply for each command it writes. */
const HARMLESS = '*1\r\n$4\r\nPING\r\n';

/** A reply with its text as bytes. Strings are then the integers that `stringNumbers` turned into text. */
type RawReply = number | string | Buffer | null | RawReply[];

function decode(reply: RawReply): ScriptReply {
  if (Buffer.isBuffer(reply)) return reply.toString();
  if (typeof reply === 'string') return Number(reply);
  return Array.isArray(reply) ? reply.map(decode) : reply;
}
