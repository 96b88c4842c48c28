/**
 * The driver for one server, or a primary with replicas, behind a GlideClient of Valkey GLIDE 2.
 *
 * Typed structurally, so that nobody needs the library or its types: it is never imported. Commands go through
 * the user's client; connections of our own are opened by its configuration, see `valkey-glide-connection.ts`.
 * Deadlines are left to `deadline.ts`, the meaning of errors to `outcome.ts`.
 */
import type { Connection, ConnectionEvents, Driver, ScriptArgument, ScriptReply } from './driver.ts';
import { Lifelines } from './lifeline.ts';
import { scanWith } from './scan.ts';
import { type GlideClient, send } from './valkey-glide-command.ts';
import { type GlideConfiguration, usableConfiguration } from './valkey-glide-connection.ts';
import { openToPrimary } from './valkey-glide-primary.ts';

class GlideDriver implements Driver {
  readonly library = 'valkey-glide';
  readonly topology = 'standalone';
  readonly keyPrefix = '';
  readonly #client: GlideClient;
  readonly #config: GlideConfiguration | undefined;
  readonly #connections = new Lifelines();
  #closed = false;

  constructor(client: GlideClient, config: GlideConfiguration | undefined) {
    this.#client = client;
    this.#config = config;
  }

  eval(source: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return send(this.#client, ['EVAL', source, String(keys.length), ...keys, ...args]);
  }

  evalSha(sha1: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return send(this.#client, ['EVALSHA', sha1, String(keys.length), ...keys, ...args]);
  }

  nodeOf(): string {
    return '';
  }

  nodes(): readonly string[] {
    return [''];
  }

  async rediscover(): Promise<void> {}

  async openConnection(_node: string, events: ConnectionEvents): Promise<Connection> {
    const config = usableConfiguration(this.#config);
    return openToPrimary(config, this.#connections, events, () => this.#closed);
  }

  scan(pattern: string): AsyncIterable<string> {
    return scanWith((args) => send(this.#client, args), pattern);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#connections.destroyAll();
  }
}

/**
 * Makes a driver of a GlideClient.
 *
 * @param config what the client was made with; without it there are no connections of our own.
 */
export function glideDriver(client: GlideClient, config: GlideConfiguration | undefined): Driver {
  return new GlideDriver(client, config);
}
