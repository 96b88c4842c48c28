/**
 * How one `Redis` instance of ioredis or iovalkey is spoken to, and duplicated for a connection of our own.
 *
 * Shared by the drivers for one server and for a Cluster, whose nodes are such instances.
 */
import type { Connection, ConnectionEvents, ScriptArgument, ScriptReply } from './driver.ts';
import type { Lifelines } from './lifeline.ts';

/** What is used of an ioredis or iovalkey `Redis` instance. */
export interface IoredisClient {
  readonly status: string;
  readonly options: {
    readonly keyPrefix?: ScriptArgument | null | undefined;
    readonly stringNumbers?: unknown;
    readonly sentinels?: unknown;
  };
  sendCommand(command: unknown): unknown;
  call(name: string, args: ScriptArgument[]): Promise<unknown>;
  callBuffer(name: string, args: ScriptArgument[]): Promise<unknown>;
  duplicate(override?: object): IoredisClient;
  connect(): Promise<unknown>;
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
  sentinelRetryStrategy: () => null,
  failoverDetector: false,
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

/** Opens a dedicated connection to where the client is connected. */
export async function openIoredisConnection(
  original: IoredisClient,
  lifelines: Lifelines,
  events: ConnectionEvents,
): Promise<Connection> {
  const client = original.duplicate(DEDICATED_OPTIONS);
  const lifeline = lifelines.add(() => client.disconnect(), events.onDown.bind(events));
  // A slot that moves away takes its channels with it: the server says so unasked, which ioredis reports as an error.
  client.on('error', (error: Error) => lifeline.fail(error));
  client.on('close', () => lifeline.fail(new Error('The connection was closed')));
  const onMessage = (channel: string, message: string) => events.onMessage(channel, message);
  client.on('message', onMessage);
  client.on('smessage', onMessage);
  // The PING proves that authentication went through, which iovalkey does not wait for.
  await lifeline.open(client.connect().then(() => ping(client)));
  return {
    send: ([name, ...args]) => send(client, String(name), args),
    subscribe: async (channel, kind) =>
      void (await send(client, kind === 'sharded' ? 'ssubscribe' : 'subscribe', [channel])),
    unsubscribe: async (channel, kind) =>
      void (await send(client, kind === 'sharded' ? 'sunsubscribe' : 'unsubscribe', [channel])),
    ping: () => ping(client),
    destroy: () => lifeline.destroy(),
  };
}

async function ping(client: IoredisClient): Promise<void> {
  try {
    await send(client, 'ping', []);
  } catch (error) {
    // A refusal is an answer too: the connection carries data both ways.
    if (!(error instanceof Error && error.message.startsWith('NOPERM'))) throw error;
  }
}

/**
 * Sends a command with its arguments exactly as given. `call` builds a command by the options of whatever
 * it is called on and hands it to that object's `sendCommand`: called on a stand-in without options, it
 * knows no `keyPrefix` and no auto-pipelining.
 */
export function send(
  client: Pick<IoredisClient, 'options' | 'sendCommand' | 'call' | 'callBuffer'>,
  name: string,
  args: ScriptArgument[],
): Promise<ScriptReply> {
  const standIn = { options: {}, sendCommand: (command: unknown) => client.sendCommand(command) };
  return client.options.stringNumbers === true
    ? (client.callBuffer.call(standIn, name, args) as Promise<RawReply>).then(withNumbers)
    : (client.call.call(standIn, name, args) as Promise<ScriptReply>);
}

/** A reply under `stringNumbers`: integers came as text, so the bytes of strings must tell them apart. */
type RawReply = string | Buffer | null | RawReply[];

function withNumbers(reply: RawReply): ScriptReply {
  if (typeof reply === 'string') return Number(reply);
  if (Buffer.isBuffer(reply)) return reply.toString();
  return reply === null ? null : reply.map(withNumbers);
}
