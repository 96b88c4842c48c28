/**
 * The driver for a `Redis` instance of ioredis 5 or 6 or of iovalkey, which share one design: one server, or the
 * primary that Sentinels name.
 *
 * Typed structurally, so that nobody needs the library's types. Deadlines are left to `deadline.ts`, the
 * meaning of errors to `outcome.ts`.
 */
import { OptionError } from '../errors.ts';
import type {
  Connection,
  ConnectionEvents,
  Driver,
  ScriptArgument,
  ScriptReply,
  Topology,
} from './driver.ts';
import { type IoredisClient, openIoredisConnection, send } from './ioredis-connection.ts';
import { Lifelines } from './lifeline.ts';
import { scanWith } from './scan.ts';

class IoredisDriver implements Driver {
  readonly library = 'ioredis';
  readonly topology: Topology;
  readonly keyPrefix: string;
  readonly #client: IoredisClient;
  readonly #connections = new Lifelines();
  readonly #disconnectClient: (() => Promise<void>) | undefined;

  constructor(client: IoredisClient, disconnectClient?: () => Promise<void>) {
    this.#client = client;
    this.#disconnectClient = disconnectClient;
    this.topology = Array.isArray(client.options.sentinels) ? 'sentinel' : 'standalone';
    this.keyPrefix = String(client.options.keyPrefix ?? '');
  }

  eval(source: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return send(this.#client, 'eval', [source, String(keys.length), ...keys, ...args]);
  }

  evalSha(sha1: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return send(this.#client, 'evalsha', [sha1, String(keys.length), ...keys, ...args]);
  }

  nodeOf(): string {
    return '';
  }

  nodes(): readonly string[] {
    return [''];
  }

  async rediscover(): Promise<void> {}

  openConnection(_node: string, events: ConnectionEvents): Promise<Connection> {
    return openIoredisConnection(this.#client, this.#connections, events);
  }

  scan(pattern: string): AsyncIterable<string> {
    return scanWith(([name, ...args]) => send(this.#client, name, args), pattern);
  }

  async close(): Promise<void> {
    this.#connections.destroyAll();
    await this.#disconnectClient?.();
  }
}

/**
 * Makes a driver of an ioredis or iovalkey client.
 *
 * @param disconnectClient what `close()` does to the client itself; nothing for a client of the user's.
 * @throws OptionError
 */
export function ioredisDriver(client: IoredisClient, disconnectClient?: () => Promise<void>): Driver {
  const { sentinels, role } = client.options;
  if (Array.isArray(sentinels) && role === 'slave') {
    throw new OptionError(
      'This client asks Sentinels for a replica (role: "slave"); locks are kept on the primary',
    );
  }
  return new IoredisDriver(client, disconnectClient);
}
