/**
 * The driver for one server at a time: a single server, or the primary among several. The adapter of a client library
 * finds the server and sends the commands.
 *
 * Time-outs belong to `call-timeout.ts`, the meaning of errors to `outcome.ts`.
 */

import { ConnectionStates } from './connection-state.ts';
import type {
  CallSignal,
  Condition,
  Connection,
  ConnectionEvents,
  Driver,
  ScriptArgument,
  ScriptReply,
  SwitchListener,
  Topology,
} from './driver.ts';
import { scanWith } from './scan.ts';

/** The adapter of a client library for its server. */
export interface OneServer {
  readonly library: string;
  readonly topology: Topology;
  /** See `Driver.writesOnce`. */
  readonly writesOnce: boolean;
  readonly keyPrefix: string;
  /** Sends a command on the user's client, as `Driver.script` does. */
  send(command: ScriptArgument[], signal?: CallSignal): Promise<ScriptReply>;
  /** Opens a dedicated connection, registered in `connectionStates`. */
  open(connectionStates: ConnectionStates, events: ConnectionEvents): Promise<Connection>;
  /** Calls the listener when commands go to another server than before; see `Driver.onSwitched`. */
  onSwitched?(listener: SwitchListener): void;
  /** See `Driver.condition`. */
  condition?(): Condition | undefined;
  /** Closes what the adapter opened. */
  close?(): Promise<void>;
}

export class OneServerDriver implements Driver {
  readonly library: string;
  readonly topology: Topology;
  readonly writesOnce: boolean;
  readonly keyPrefix: string;
  readonly script: Driver['script'];
  readonly #server: OneServer;
  readonly #connectionStates = new ConnectionStates();
  #onSwitched: SwitchListener = () => {};

  constructor(server: OneServer) {
    this.library = server.library;
    this.topology = server.topology;
    this.writesOnce = server.writesOnce;
    this.keyPrefix = server.keyPrefix;
    this.script = server.send.bind(server);
    this.#server = server;
    server.onSwitched?.((advice) => {
      this.#connectionStates.failAll(new Error('Another server became the primary'));
      this.#onSwitched(advice);
    });
  }

  onSwitched(listener: SwitchListener): void {
    this.#onSwitched = listener;
  }

  nodeOf(): string {
    return '';
  }

  nodes(): readonly string[] {
    return [''];
  }

  /** There is only one server. */
  async rediscover(): Promise<void> {}

  openConnection(_node: string, events: ConnectionEvents): Promise<Connection> {
    return this.#server.open(this.#connectionStates, events);
  }

  condition(): Condition | undefined {
    return this.#server.condition?.();
  }

  scan(pattern: string): AsyncIterable<readonly string[]> {
    return scanWith((command) => this.#server.send(command), pattern);
  }

  async close(): Promise<void> {
    this.#connectionStates.destroyAll();
    await this.#server.close?.();
  }
}
