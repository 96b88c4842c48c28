/**
 * The primary that Sentinels announce, with ioredis or iovalkey: on the user's client, or on holdfast's own
 * connections.
 *
 * These libraries ask the Sentinels only when a connection breaks, and a replaced primary may keep its connections for
 * seconds. Therefore the driver runs its own watch. After a switch the driver sends nothing to the old primary and
 * discards its answers. It does not touch the user's client, and sends scripts on its own connection instead.
 */

import { commandSettings, disconnect, reconnectDelayMs, shareMs } from '../connect-settings.ts';
import { ConnectionStates } from '../connection-state.ts';
import type {
  CallSignal,
  Condition,
  Connection,
  ConnectionEvents,
  ScriptArgument,
  ScriptReply,
  SwitchListener,
} from '../driver.ts';
import { rememberErrors } from '../last-error.ts';
import type { OneServer } from '../one-server.ts';
import { type Place, SentinelWatch } from '../sentinel-watch.ts';
import { ioredisCondition } from './condition.ts';
import { type IoredisClient, openIoredisConnection, sendThrough } from './connection.ts';

export const SENTINEL_PORT = 26_379;

/** The default connect time-out of ioredis. */
const CONNECT_MS = 10_000;

/** The client options that locate the Sentinels and the primary. */
interface SentinelOptions {
  readonly sentinels: readonly { readonly host?: string; readonly port?: number }[];
  readonly name: string;
  readonly natMap?: ((address: string) => Place | null) | Readonly<Record<string, Place>> | undefined;
  readonly tls?: object | undefined;
  readonly enableTLSForSentinelMode?: boolean | undefined;
  readonly sentinelUsername?: string | null | undefined;
  readonly sentinelPassword?: string | null | undefined;
  readonly sentinelTLS?: object | undefined;
  readonly updateSentinels?: boolean | undefined;
  readonly failoverDetector?: boolean | undefined;
  readonly connectTimeout?: number | undefined;
}

/** A client that holdfast opened; `stream` is its socket once it is connected. */
type OwnClient = IoredisClient & { quit(): Promise<unknown>; readonly stream: { unref(): unknown } };

/** Lets the process exit while the client is connected. */
function letEnd(client: OwnClient): void {
  client.on('connect', () => client.stream.unref());
}

/** How the client that a `SentinelPrimary` is given is used, and what further connections are called. */
interface SentinelConnections {
  readonly isOurs?: boolean;
  readonly connectionName?: string | undefined;
}

export class SentinelPrimary implements OneServer {
  readonly library = 'ioredis';
  readonly writesOnce = true;
  readonly topology = 'sentinel';
  readonly keyPrefix: string;
  /** The source of the settings of all connections. */
  readonly #model: IoredisClient;
  readonly #options: SentinelOptions;
  readonly #isOurs: boolean;
  readonly #connectionName: string | undefined;
  /** The connections to Sentinels. */
  readonly #connectionStates = new ConnectionStates();
  /** Starts with the first call: an unused client does not load the Sentinels. */
  #watching: SentinelWatch | undefined;
  /** The client that sends scripts: until the first switch the model itself, if it is the user's. */
  #client: IoredisClient;
  /** Settles when holdfast's own client is connected, or its first attempt has failed. */
  #connecting: Promise<unknown> | undefined;
  #tellSwitched: SwitchListener = () => {};

  /**
   * @param model the user's client, which stays untouched; or holdfast's own, which only provides settings and is never
   *   connected; then call `find` first
   */
  constructor(model: IoredisClient, { isOurs = false, connectionName }: SentinelConnections = {}) {
    this.#model = model;
    this.#isOurs = isOurs;
    this.#connectionName = connectionName;
    this.#options = model.options as unknown as SentinelOptions;
    this.#client = model;
    rememberErrors(model);
    this.keyPrefix = String(model.options.keyPrefix ?? '');
  }

  /** Finds the primary. Resolves to holdfast's own client for it, which the caller connects. */
  async find(): Promise<OwnClient> {
    this.#watching = this.#watch();
    const client = this.#clientAt(await this.#watching.primary());
    this.#client = client;
    return client;
  }

  onSwitched(listener: SwitchListener): void {
    this.#tellSwitched = listener;
  }

  condition(): Condition {
    return ioredisCondition(this.#client, this.#client !== this.#model);
  }

  async send(command: ScriptArgument[], signal?: CallSignal): Promise<ScriptReply> {
    this.#watching ??= this.#watch();
    if (this.#connecting !== undefined) await this.#connecting;
    return this.#ofPresent(sendThrough(this.#client)(command, signal));
  }

  async open(connectionStates: ConnectionStates, events: ConnectionEvents): Promise<Connection> {
    this.#watching ??= this.#watch();
    const model = this.#watching.primary().then((primary) => ({
      duplicate: (dedicated?: object) => this.#duplicate({ ...dedicated, ...this.#addressOf(primary) }),
    }));
    const connection = await openIoredisConnection(model, connectionStates, events);
    return { ...connection, send: (args) => this.#ofPresent(connection.send(args)) };
  }

  async close(): Promise<void> {
    this.#watching?.close();
    this.#connectionStates.destroyAll();
    if (this.#client !== this.#model) await disconnect(this.#client as OwnClient);
  }

  #watch(): SentinelWatch {
    const { sentinels, name, updateSentinels } = this.#options;
    return new SentinelWatch({
      name,
      sentinels: sentinels.map(({ host = '127.0.0.1', port = SENTINEL_PORT }) => ({ host, port })),
      placeOf: updateSentinels === false ? undefined : (named) => this.#placeOf(named),
      open: (sentinel, events) => this.#openSentinel(sentinel, events),
      onSwitched: (primary) => this.#switchTo(primary),
    });
  }

  #switchTo(primary: Place): void {
    const former = this.#client;
    const client = this.#clientAt(primary);
    this.#client = client;
    // While the new primary cannot be reached, the commands fail by themselves.
    const connecting = client.connect().catch(() => undefined);
    this.#connecting = connecting;
    void connecting.then(() => {
      if (this.#connecting === connecting) this.#connecting = undefined;
    });
    if (former !== this.#model) former.disconnect();
    this.#tellSwitched(this.#isLeftBehind ? this.#adviceOn(primary) : undefined);
  }

  /** Whether the user's client is still connected to the old primary and does not listen to the Sentinels. */
  get #isLeftBehind(): boolean {
    return this.#model.status === 'ready' && this.#options.failoverDetector !== true;
  }

  #adviceOn({ host, port }: Place): string {
    return (
      `The Sentinels made ${host}:${port} the primary, and your ioredis client stays with the former primary until ` +
      'that server is demoted, which may take ten seconds. holdfast uses its own connection to the new primary; ' +
      'for your other commands, set failoverDetector: true on the client'
    );
  }

  /** The new primary may lack the old one's writes: an answer that arrives after a switch is discarded. */
  async #ofPresent<T>(answer: Promise<T>): Promise<T> {
    const client = this.#client;
    const value = await answer;
    if (this.#client !== client) throw new Error('Another server became the primary while the command ran');
    return value;
  }

  /** A client of holdfast's own, not yet connected. It reconnects to the same server; the watch reports another one. */
  #clientAt(primary: Place): OwnClient {
    const client = this.#duplicate({
      ...commandSettings({
        commandTimeoutMs: this.#options.connectTimeout ?? CONNECT_MS,
        connectionName: this.#connectionName,
      }),
      ...this.#addressOf(primary),
      retryStrategy: reconnectDelayMs,
      reconnectOnError: null,
    });
    // ioredis prints errors that have no listener.
    client.on('error', () => {});
    rememberErrors(client);
    if (!this.#isOurs) letEnd(client);
    return client;
  }

  #openSentinel({ host, port }: Place, events: ConnectionEvents): Promise<Connection> {
    const { sentinelUsername, sentinelPassword, sentinelTLS, connectTimeout = CONNECT_MS } = this.#options;
    const duplicate = (dedicated?: object) => {
      const client = this.#duplicate({
        ...dedicated,
        sentinels: null,
        host,
        port,
        username: sentinelUsername,
        password: sentinelPassword,
        tls: sentinelTLS,
        db: 0,
        protocol: 2,
        connectTimeout: shareMs(connectTimeout),
        socketTimeout: shareMs(connectTimeout),
      });
      letEnd(client);
      return client;
    };
    return openIoredisConnection({ duplicate }, this.#connectionStates, events);
  }

  /** The options that connect to the primary directly instead of through the Sentinels. */
  #addressOf(primary: Place): object {
    const { tls, enableTLSForSentinelMode } = this.#options;
    const { host, port, ...more } = this.#placeOf(primary);
    const isSecured = tls !== undefined && enableTLSForSentinelMode === true;
    return { sentinels: null, host, port, family: 0, tls: isSecured ? { ...more, ...tls } : undefined };
  }

  /** The reachable address of an announced server. */
  #placeOf(named: Place): Place {
    const { natMap } = this.#options;
    const address = `${named.host}:${named.port}`;
    return (typeof natMap === 'function' ? natMap(address) : natMap?.[address]) ?? named;
  }

  #duplicate(overrides: object): OwnClient {
    return this.#model.duplicate(overrides) as OwnClient;
  }
}
