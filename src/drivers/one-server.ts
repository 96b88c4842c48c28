/**
 * The driver where one server is spoken to at a time: one that is alone, or the primary that is found among
 * others. How it is found and spoken to is left to the adapter for a client library.
 *
 * Deadlines are left to `deadline.ts`, the meaning of errors to `outcome.ts`.
 */

import { ConnectionStates } from './connection-state.ts';
import type {
  CallSignal,
  Connection,
  ConnectionEvents,
  Driver,
  ScriptArgument,
  ScriptReply,
  SwitchListener,
  Topology,
} from './driver.ts';
import { scanWith } from './scan.ts';

/** What a client library knows of its server. */
export interface OneServer {
  readonly library: string;
  readonly topology: Topology;
  /** See `Driver.writesOnce`. */
  readonly writesOnce: boolean;
  readonly keyPrefix: string;
  /**
   * Sends a command exactly as given, on the user's client, once at most. The array is the sender's from then on. Its
   * name is in lower case, as the libraries name commands to whoever watches them.
   */
  send(command: ScriptArgument[], signal?: CallSignal): Promise<ScriptReply>;
  /** Opens a connection of our own, which is over when the lifelines are. */
  open(connectionStates: ConnectionStates, events: ConnectionEvents): Promise<Connection>;
  /** Tells the listener when commands go to another server than before; see `Driver.onSwitched`. */
  onSwitched?(listener: SwitchListener): void;
  /** Closes what is not the user's. */
  close?(): Promise<void>;
}

export class OneServerDriver implements Driver {
  readonly library: string;
  readonly topology: Topology;
  readonly writesOnce: boolean;
  readonly keyPrefix: string;
  readonly #server: OneServer;
  readonly #connectionStates = new ConnectionStates();
  #onSwitched: SwitchListener = () => {};

  constructor(server: OneServer) {
    this.library = server.library;
    this.topology = server.topology;
    this.writesOnce = server.writesOnce;
    this.keyPrefix = server.keyPrefix;
    this.#server = server;
    server.onSwitched?.((advice) => {
      this.#connectionStates.failAll(new Error('Another server became the primary'));
      this.#onSwitched(advice);
    });
  }

  onSwitched(listener: SwitchListener): void {
    this.#onSwitched = listener;
  }

  eval(
    source: string,
    keys: readonly string[],
    args: readonly ScriptArgument[],
    signal?: CallSignal,
  ): Promise<ScriptReply> {
    return this.#server.send(['eval', source, String(keys.length), ...keys, ...args], signal);
  }

  evalSha(
    sha1: string,
    keys: readonly string[],
    args: readonly ScriptArgument[],
    signal?: CallSignal,
  ): Promise<ScriptReply> {
    return this.#server.send(['evalsha', sha1, String(keys.length), ...keys, ...args], signal);
  }

  nodeOf(): string {
    return '';
  }

  nodes(): readonly string[] {
    return [''];
  }

  /** There is nowhere else to look. */
  async rediscover(): Promise<void> {}

  openConnection(_node: string, events: ConnectionEvents): Promise<Connection> {
    return this.#server.open(this.#connectionStates, events);
  }

  scan(pattern: string): AsyncIterable<string> {
    return scanWith((command) => this.#server.send(command), pattern);
  }

  async close(): Promise<void> {
    this.#connectionStates.destroyAll();
    await this.#server.close?.();
  }
}
