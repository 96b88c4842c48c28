/**
 * The driver for a Sentinel client of node-redis 5 and 6, made by `createSentinel`.
 *
 * The library hides its settings but lends its client for the primary, and the driver sends commands directly on that
 * client. The library would repeat commands when the connection breaks, though they may have run, and would hold a
 * second concurrent command back until none is pending.
 *
 * The library finds the primary and reports a new one, but may do so seconds after the other clients have left the old
 * primary, which still grants locks. The driver therefore runs its own watch. After a switch it sends nothing to the
 * old primary, discards its answers, and has the library look for the new one.
 */
import { UnsentError } from '../../outcome.ts';
import { ConnectionStates } from '../connection-state.ts';
import type {
  CallSignal,
  Condition,
  Driver,
  ScriptArgument,
  ScriptReply,
  SwitchListener,
} from '../driver.ts';
import { rememberErrors } from '../last-error.ts';
import { type Place, SentinelWatch } from '../sentinel-watch.ts';
import { nodeRedisCondition } from './condition.ts';
import { type NodeRedisClient, openNodeRedisConnection, send } from './connection.ts';
import { driverOf, type NodeRedisServer } from './one-server.ts';
import { placeIn, sentinelOptions, settingsOf } from './sentinel-settings.ts';

/** The used members of a client made by `createSentinel`. */
export interface NodeRedisSentinel {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly _keyPrefix?: ScriptArgument | undefined;
  /** Lends the client for the primary; looks the primary up again when `use` fails with READONLY. */
  _execute<T>(isReadonly: boolean, use: (client: NodeRedisClient) => Promise<T>): Promise<T>;
  /** The client itself, where this object is a proxy of it. */
  readonly _self: unknown;
  /** From version 6. */
  duplicate?(): unknown;
  on(event: 'topology-change', listener: (change: TopologyChange) => void): unknown;
  off(event: 'topology-change', listener: (change: TopologyChange) => void): unknown;
}

interface TopologyChange {
  readonly type: string;
  readonly node: Place;
}

/** A replica refuses writes. Before version 7, a script error has its own text before that of the replica. */
const READ_ONLY = /^READONLY |: -READONLY /;

const keyOf = ({ host, port }: Place) => `${host}:${port}`;

/** The server that a client is for. */
function addressOf({ options }: NodeRedisClient): string {
  return keyOf(Object(options?.socket));
}

class SentinelPrimary implements NodeRedisServer {
  readonly topology = 'sentinel';
  readonly keyPrefix: string;
  readonly #sentinel: NodeRedisSentinel;
  #client: NodeRedisClient | undefined;
  #looking: Promise<NodeRedisClient> | undefined;
  /** The connections to Sentinels. */
  readonly #connectionStates = new ConnectionStates();
  #isWatched = false;
  /** Starts with the first call; undefined where the library does not show its settings. */
  #watching: SentinelWatch | undefined;
  /** The address of the primary that the Sentinels replaced, while the library still names it. */
  #replaced: string | undefined;
  /** The last new primary: both the watch and the library tell of it. */
  #newest: string | undefined;
  #tellSwitched: SwitchListener = () => {};
  /** The library has just dropped its clients for the old primary, and is connecting to the new one. */
  readonly #onChange = ({ type, node }: TopologyChange) => {
    if (type === 'MASTER_CHANGE') this.#switched(node);
  };

  constructor(sentinel: NodeRedisSentinel) {
    this.#sentinel = sentinel;
    this.keyPrefix = String(sentinel._keyPrefix ?? '');
    rememberErrors(sentinel);
  }

  async send(args: ScriptArgument[], signal?: CallSignal): Promise<ScriptReply> {
    const client = await this.find();
    try {
      return this.#ofPresent(client, await send(client, args, signal));
    } catch (error) {
      if (!(error instanceof Error && READ_ONLY.test(error.message))) throw error;
      return send(await this.#look(client), args, signal);
    }
  }

  async find(): Promise<NodeRedisClient> {
    if (!this.#isWatched) this.#watch();
    if (!this.#sentinel.isOpen) throw new Error('The client is closed');
    // After a failed connect, version 5 would search forever and block the event loop.
    if (this.#client === undefined && !this.#sentinel.isReady) throw new Error('The client is offline');
    const client = this.#client;
    if (client?.isReady === true && !this.#isReplaced(client)) return client;
    // The client is not connected, or its server is no longer the primary: the library looks the primary up.
    const found = await this.#look(client !== undefined && this.#isReplaced(client) ? client : undefined);
    if (this.#isReplaced(found))
      throw new UnsentError('The Sentinels replaced the primary, and node-redis still names it');
    this.#replaced = undefined;
    return found;
  }

  onSwitched(listener: SwitchListener): void {
    this.#tellSwitched = listener;
  }

  condition(): Condition {
    return nodeRedisCondition(this.#sentinel);
  }

  async close(): Promise<void> {
    this.#sentinel.off('topology-change', this.#onChange);
    this.#watching?.close();
    this.#connectionStates.destroyAll();
  }

  #watch(): void {
    this.#isWatched = true;
    this.#sentinel.on('topology-change', this.#onChange);
    const settings = settingsOf(this.#sentinel);
    if (settings === undefined) return;
    const placeOf = (named: Place) => placeIn(settings, named);
    this.#watching = new SentinelWatch({
      name: settings.name,
      sentinels: settings.sentinelRootNodes.map(placeOf),
      placeOf,
      open: async (sentinel, events) => {
        const model = this.#client ?? (await this.#look());
        const duplicate = (dedicated?: object) =>
          model.duplicate({ ...dedicated, ...sentinelOptions(settings, sentinel) });
        const found = { find: async () => ({ ...model, duplicate }) };
        return openNodeRedisConnection(found, this.#connectionStates, events, { letsEnd: true });
      },
      onSwitched: (primary) => {
        // The library may have followed already.
        if (this.#newest !== keyOf(primary) && this.#client !== undefined)
          this.#replaced = addressOf(this.#client);
        this.#switched(primary);
      },
    });
  }

  #switched(primary: Place): void {
    if (this.#newest === keyOf(primary)) return;
    this.#newest = keyOf(primary);
    this.#tellSwitched();
  }

  #isReplaced(client: NodeRedisClient): boolean {
    return this.#replaced !== undefined && this.#replaced === addressOf(client);
  }

  /** The new primary may lack the old one's writes: an answer that arrives after a switch is discarded. */
  #ofPresent(client: NodeRedisClient, reply: ScriptReply): ScriptReply {
    if (this.#isReplaced(client)) throw new Error('Another server became the primary while the command ran');
    return reply;
  }

  /** One lookup at a time: of two at once, the library would lose one of its clients for good, if it has several. */
  #look(demoted?: NodeRedisClient): Promise<NodeRedisClient> {
    this.#looking ??= this.#borrow(demoted).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #borrow(demoted: NodeRedisClient | undefined): Promise<NodeRedisClient> {
    let isToldOf = false;
    this.#client = await this.#sentinel._execute(false, async (client) => {
      if (client !== demoted || isToldOf) return client;
      isToldOf = true;
      throw new Error('READONLY The primary became a replica');
    });
    return this.#client;
  }
}

/** Makes a driver of a Sentinel client of node-redis. */
export function nodeRedisSentinelDriver(sentinel: NodeRedisSentinel): Driver {
  return driverOf(new SentinelPrimary(sentinel));
}
