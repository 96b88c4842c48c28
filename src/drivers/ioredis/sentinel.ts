/**
 * The primary that Sentinels name, spoken to with ioredis or iovalkey: by a client of the user's, or on connections
 * of our own.
 *
 * These libraries ask the Sentinels only when a connection breaks, and a primary that was replaced may keep its
 * connections for seconds. A watch of our own tells of the switch. From then on the driver sends nothing to the old
 * primary and discards its answers. It leaves a client of the user's as it is, and sends scripts on a connection of
 * our own instead.
 */

import { commandSettings, disconnect, reconnectDelayMs, shareMs } from '../connect-settings.ts';
import { ConnectionStates } from '../connection-state.ts';
import type {
  CallSignal,
  Connection,
  ConnectionEvents,
  ScriptArgument,
  ScriptReply,
  SwitchListener,
} from '../driver.ts';
import type { OneServer } from '../one-server.ts';
import { type Place, SentinelWatch } from '../sentinel-watch.ts';
import { type IoredisClient, openIoredisConnection, send } from './connection.ts';

export const SENTINEL_PORT = 26_379;

/** How long ioredis waits for a connection unless it is told. */
const CONNECT_MS = 10_000;

/** The settings of a client by which the Sentinels and the primary are found. */
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

/** A client of ours; `stream` is its socket, once it is connected. */
type OwnClient = IoredisClient & { quit(): Promise<unknown>; readonly stream: { unref(): unknown } };

/** Lets the process end while the client is connected. */
function letEnd(client: OwnClient): void {
  client.on('connect', () => client.stream.unref());
}

export class SentinelPrimary implements OneServer {
  readonly library = 'ioredis';
  readonly writesOnce = true;
  readonly topology = 'sentinel';
  readonly keyPrefix: string;
  /** Has the settings of all connections. */
  readonly #model: IoredisClient;
  readonly #options: SentinelOptions;
  readonly #isOurs: boolean;
  /** Of the connections to Sentinels. */
  readonly #connectionStates = new ConnectionStates();
  /** Begun with the first call: a client that is never used costs no Sentinel anything. */
  #watching: SentinelWatch | undefined;
  /** What carries scripts: the model itself where it is the user's, until the first switch. */
  #client: IoredisClient;
  /** Settles when a client of ours is connected, or has failed to for the first time. */
  #connecting: Promise<unknown> | undefined;
  #tellSwitched: SwitchListener = () => {};

  /**
   * @param model the user's client, which is left as it is; or one of ours, which is there for its settings, is never
   *   connected, and of which `find` is called first
   */
  constructor(model: IoredisClient, { isOurs = false } = {}) {
    this.#model = model;
    this.#isOurs = isOurs;
    this.#options = model.options as unknown as SentinelOptions;
    this.#client = model;
    this.keyPrefix = String(model.options.keyPrefix ?? '');
  }

  /** Finds the primary; resolves to the client of ours for it, which the caller connects. */
  async find(): Promise<OwnClient> {
    this.#watching = this.#watch();
    const client = this.#clientAt(await this.#watching.primary());
    this.#client = client;
    return client;
  }

  onSwitched(listener: SwitchListener): void {
    this.#tellSwitched = listener;
  }

  async send(command: readonly ScriptArgument[], signal?: CallSignal): Promise<ScriptReply> {
    this.#watching ??= this.#watch();
    if (this.#connecting !== undefined) await this.#connecting;
    return this.#ofPresent(send(this.#client, String(command[0]), command.slice(1), signal));
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
    const connecting = client.connect().catch(() => undefined);
    this.#connecting = connecting;
    void connecting.then(() => {
      if (this.#connecting === connecting) this.#connecting = undefined;
    });
    if (former !== this.#model) former.disconnect();
    this.#tellSwitched(this.#isLeftBehind ? this.#adviceOn(primary) : undefined);
  }

  /** Whether the user's client is connected, so to the old primary, and does not listen to the Sentinels. */
  get #isLeftBehind(): boolean {
    return this.#model.status === 'ready' && this.#options.failoverDetector !== true;
  }

  #adviceOn({ host, port }: Place): string {
    return (
      `The Sentinels made ${host}:${port} the primary, and the ioredis client that was brought along does not follow ` +
      'before the former primary is demoted, which may take ten seconds. Locks follow on a connection of their own; ' +
      'for all else that goes through the client, set failoverDetector: true'
    );
  }

  /** The new primary may not know what the old one did: an answer that comes after a switch is discarded. */
  async #ofPresent<T>(answer: Promise<T>): Promise<T> {
    const client = this.#client;
    const value = await answer;
    if (this.#client !== client) throw new Error('Another server became the primary meanwhile');
    return value;
  }

  /** A client of ours, to be connected. It reconnects to the same server: another one is the watch's to tell. */
  #clientAt(primary: Place): OwnClient {
    const client = this.#duplicate({
      ...commandSettings(this.#options.connectTimeout ?? CONNECT_MS),
      ...this.#addressOf(primary),
      retryStrategy: reconnectDelayMs,
      reconnectOnError: null,
    });
    // ioredis prints an error that nobody listens to.
    client.on('error', () => {});
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

  /** How the primary is connected to, instead of by way of the Sentinels. */
  #addressOf(primary: Place): object {
    const { tls, enableTLSForSentinelMode } = this.#options;
    const { host, port, ...more } = this.#placeOf(primary);
    const isSecured = tls !== undefined && enableTLSForSentinelMode === true;
    return { sentinels: null, host, port, family: 0, tls: isSecured ? { ...more, ...tls } : undefined };
  }

  /** Where a server is that the Sentinels name. */
  #placeOf(named: Place): Place {
    const { natMap } = this.#options;
    const address = `${named.host}:${named.port}`;
    return (typeof natMap === 'function' ? natMap(address) : natMap?.[address]) ?? named;
  }

  #duplicate(overrides: object): OwnClient {
    return this.#model.duplicate(overrides) as OwnClient;
  }
}
