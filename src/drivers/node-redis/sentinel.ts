/**
 * The driver for a Sentinel client of node-redis 5 and 6, made by `createSentinel`.
 *
 * The library hides its settings but lends its client for the primary, and the driver sends commands directly on that
 * client. The library would repeat commands when the connection breaks, though they may have run, and would hold a
 * second concurrent command back until none is pending. The library, which listens to a Sentinel, finds the primary and
 * reports a new one.
 */
import type {
  CallSignal,
  Condition,
  Driver,
  ScriptArgument,
  ScriptReply,
  SwitchListener,
} from '../driver.ts';
import { rememberErrors } from '../last-error.ts';
import { nodeRedisCondition } from './condition.ts';
import { type NodeRedisClient, send } from './connection.ts';
import { driverOf, type NodeRedisServer } from './one-server.ts';

/** The used members of a client made by `createSentinel`. */
export interface NodeRedisSentinel {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly _keyPrefix?: ScriptArgument | undefined;
  /** Lends the client for the primary; looks the primary up again when `use` fails with READONLY. */
  _execute<T>(isReadonly: boolean, use: (client: NodeRedisClient) => Promise<T>): Promise<T>;
  on(event: 'topology-change', listener: (change: TopologyChange) => void): unknown;
  off(event: 'topology-change', listener: (change: TopologyChange) => void): unknown;
}

interface TopologyChange {
  readonly type: string;
}

/** A replica refuses writes. Before version 7, a script error has its own text before that of the replica. */
const READ_ONLY = /^READONLY |: -READONLY /;

class SentinelPrimary implements NodeRedisServer {
  readonly topology = 'sentinel';
  readonly keyPrefix: string;
  readonly #sentinel: NodeRedisSentinel;
  #client: NodeRedisClient | undefined;
  #looking: Promise<NodeRedisClient> | undefined;
  #isWatched = false;
  #tellSwitched: SwitchListener = () => {};
  /** The library has just dropped its clients for the old primary, and is connecting to the new one. */
  readonly #onChange = ({ type }: TopologyChange) => {
    if (type === 'MASTER_CHANGE') this.#tellSwitched();
  };

  constructor(sentinel: NodeRedisSentinel) {
    this.#sentinel = sentinel;
    this.keyPrefix = String(sentinel._keyPrefix ?? '');
    rememberErrors(sentinel);
  }

  async send(args: ScriptArgument[], signal?: CallSignal): Promise<ScriptReply> {
    const client = await this.find();
    try {
      return await send(client, args, signal);
    } catch (error) {
      if (!(error instanceof Error && READ_ONLY.test(error.message))) throw error;
      return send(await this.#look(client), args, signal);
    }
  }

  async find(): Promise<NodeRedisClient> {
    if (!this.#isWatched) this.#sentinel.on('topology-change', this.#onChange);
    this.#isWatched = true;
    if (!this.#sentinel.isOpen) throw new Error('The client is closed');
    // After a failed connect, version 5 would search forever and block the event loop.
    if (this.#client === undefined && !this.#sentinel.isReady) throw new Error('The client is offline');
    // The client is not connected, so the primary may be changing: the library looks it up, and waits for it.
    return this.#client?.isReady === true ? this.#client : this.#look();
  }

  onSwitched(listener: SwitchListener): void {
    this.#tellSwitched = listener;
  }

  condition(): Condition {
    return nodeRedisCondition(this.#sentinel);
  }

  async close(): Promise<void> {
    this.#sentinel.off('topology-change', this.#onChange);
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
