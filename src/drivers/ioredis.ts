/**
 * The driver for ioredis 5 and 6 and for iovalkey, which share one design.
 *
 * Typed structurally, so that nobody needs the library's types. Deadlines are left to `deadline.ts`, the
 * meaning of errors to `outcome.ts`.
 */
import type { Driver, ScriptArgument, ScriptReply, Subscriber, SubscriberEvents } from './driver.ts';
import { Lifelines } from './lifeline.ts';

/** What is used of an ioredis or iovalkey `Redis` instance. */
export interface IoredisClient {
  readonly status: string;
  readonly options: {
    readonly keyPrefix?: ScriptArgument | null | undefined;
    readonly stringNumbers?: unknown;
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
 * Settings of a subscriber connection: it belongs to the wake hub, which must see every break itself,
 * so nothing here reconnects, resends, queues or times out behind its back. Address, TLS, credentials
 * and database are inherited.
 */
const SUBSCRIBER_OPTIONS = {
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

/** Keys fetched by one SCAN; enough to be quick, small enough not to hold up the server. */
const SCAN_COUNT = '500';

class IoredisDriver implements Driver {
  readonly library = 'ioredis';
  readonly keyPrefix: string;
  readonly #client: IoredisClient;
  readonly #subscribers = new Lifelines();
  readonly #disconnectClient: (() => Promise<void>) | undefined;

  constructor(client: IoredisClient, disconnectClient?: () => Promise<void>) {
    this.#client = client;
    this.#disconnectClient = disconnectClient;
    this.keyPrefix = String(client.options.keyPrefix ?? '');
  }

  eval(source: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return send(this.#client, 'eval', [source, String(keys.length), ...keys, ...args]);
  }

  evalSha(sha1: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return send(this.#client, 'evalsha', [sha1, String(keys.length), ...keys, ...args]);
  }

  async openSubscriber(events: SubscriberEvents): Promise<Subscriber> {
    const client = this.#client.duplicate(SUBSCRIBER_OPTIONS);
    const lifeline = this.#subscribers.add(() => client.disconnect(), events.onDown.bind(events));
    client.on('error', (error: Error) => lifeline.fail(error));
    client.on('close', () => lifeline.fail(new Error('The subscriber connection was closed')));
    client.on('message', (channel: string, message: string) => events.onMessage(channel, message));
    // The PING proves that authentication went through, which iovalkey does not wait for.
    await lifeline.open(client.connect().then(() => ping(client)));
    return {
      subscribe: async (channel) => void (await send(client, 'subscribe', [channel])),
      unsubscribe: async (channel) => void (await send(client, 'unsubscribe', [channel])),
      ping: () => ping(client),
      destroy: () => lifeline.destroy(),
    };
  }

  async *scan(pattern: string): AsyncIterable<string> {
    let cursor = '0';
    do {
      const page = await send(this.#client, 'scan', [cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT]);
      const [next, keys] = page as [string, string[]];
      yield* keys;
      cursor = String(next);
    } while (cursor !== '0');
  }

  async close(): Promise<void> {
    this.#subscribers.destroyAll();
    await this.#disconnectClient?.();
  }
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
function send(client: IoredisClient, name: string, args: ScriptArgument[]): Promise<ScriptReply> {
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

/**
 * Makes a driver of an ioredis or iovalkey client.
 *
 * @param disconnectClient what `close()` does to the client itself; nothing for a client of the user's.
 */
export function ioredisDriver(client: IoredisClient, disconnectClient?: () => Promise<void>): Driver {
  return new IoredisDriver(client, disconnectClient);
}
