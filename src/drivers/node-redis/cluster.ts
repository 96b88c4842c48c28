/**
 * The driver for a Cluster client of node-redis 5 and 6, made by `createCluster`.
 *
 * Scripts go through the library's `sendCommand`, which finds the primary by the first key, follows MOVED and ASK, and
 * adds no `keyPrefix`. A primary's name is the address it announces. The library refreshes its slot map only after a
 * MOVED, which a dead primary cannot send (version 6 also refreshes after five seconds). So the driver makes it refresh
 * when the client for a primary is not connected.
 */
import { slotOf } from '../../slots.ts';
import { ConnectionStates } from '../connection-state.ts';
import type {
  CallSignal,
  Condition,
  Connection,
  ConnectionEvents,
  Driver,
  ScriptArgument,
  ScriptReply,
} from '../driver.ts';
import { rememberErrors } from '../last-error.ts';
import { scanWith } from '../scan.ts';
import { nodeRedisCondition } from './condition.ts';
import { droppable, type NodeRedisClient, openNodeRedisConnection, send } from './connection.ts';

interface ClusterNode {
  readonly address: string;
  /** Undefined until first use, if the client is configured to open few connections. */
  readonly client?: NodeRedisClient | undefined;
}

/** The used members of a client made by `createCluster`. */
export interface NodeRedisCluster {
  readonly isOpen: boolean;
  readonly slots: readonly ({ readonly master: ClusterNode } | undefined)[];
  readonly masters: readonly ClusterNode[];
  readonly _keyPrefix?: ScriptArgument | undefined;
  /** Asks the given client's server for the slot map; if that fails, other servers. Version 5 requires a client. */
  readonly _slots: { rediscover(startWith?: NodeRedisClient): Promise<void> };
  sendCommand(
    firstKey: string,
    isReadonly: boolean,
    args: readonly ScriptArgument[],
    options: object,
  ): Promise<unknown>;
  nodeClient(node: ClusterNode): Promise<NodeRedisClient>;
}

/** The shortest time between two refreshes while a primary is not connected. */
const ASK_EVERY_MS = 200;

function randomOf<T>(items: readonly T[]): T | undefined {
  return items[Math.floor(Math.random() * items.length)];
}

function isConnected({ client }: ClusterNode): boolean {
  return client?.isReady === true;
}

class NodeRedisClusterDriver implements Driver {
  readonly library = 'node-redis';
  readonly writesOnce = true;
  readonly topology = 'cluster';
  readonly keyPrefix: string;
  readonly #cluster: NodeRedisCluster;
  readonly #connections = new ConnectionStates();
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(cluster: NodeRedisCluster) {
    this.#cluster = cluster;
    rememberErrors(cluster, 'node-error');
    this.keyPrefix = String(cluster._keyPrefix ?? '');
  }

  async script(command: ScriptArgument[], signal?: CallSignal, key?: string): Promise<ScriptReply> {
    // The library would also choose replicas, if it is configured to use them.
    if (key === undefined) return send(await this.#cluster.nodeClient(this.#primaryAt('')), command, signal);
    const home = this.#primaryOf(key);
    if (home === undefined || home.client?.isReady === false) this.#askAbout(key);
    if (home === undefined) throw this.#missing(`for slot ${slotOf(key)}`);
    return this.#cluster.sendCommand(key, false, command, droppable(signal)) as Promise<ScriptReply>;
  }

  nodeOf(key: string): string {
    return this.#primaryOf(key)?.address ?? '';
  }

  nodes(): readonly string[] {
    const { masters } = this.#cluster;
    return masters.length === 0 ? [''] : masters.map(({ address }) => address);
  }

  async rediscover(key: string): Promise<void> {
    if (!this.#cluster.isOpen) return;
    const home = this.#primaryOf(key);
    const others = this.#cluster.masters.filter((node) => node !== home);
    // Prefer another primary: the one that was wrong may have the oldest information.
    const node = randomOf(others.filter(isConnected)) ?? home ?? randomOf(others);
    if (node === undefined) return;
    try {
      await this.#cluster._slots.rediscover(node.client ?? (await this.#cluster.nodeClient(node)));
    } catch {
      // The slot map stays as it is; the library has emitted the error.
    }
  }

  openConnection(node: string, events: ConnectionEvents): Promise<Connection> {
    let address = node;
    const find = async () => {
      const primary = this.#primaryAt(node);
      address = primary.address;
      // A client that is still connecting already has all its settings.
      return primary.client ?? this.#cluster.nodeClient(primary);
    };
    const isStray = (_client: NodeRedisClient, shardedChannels: ReadonlySet<string>) =>
      [...shardedChannels].some((channel) => ![address, ''].includes(this.nodeOf(channel)));
    return openNodeRedisConnection({ find, isStray }, this.#connections, events);
  }

  async *scan(pattern: string): AsyncIterable<readonly string[]> {
    for (const node of this.nodes()) {
      const client = await this.#cluster.nodeClient(this.#primaryAt(node));
      yield* scanWith((args) => send(client, args), pattern);
    }
  }

  condition(): Condition {
    return nodeRedisCondition(this.#cluster);
  }

  async close(): Promise<void> {
    this.#connections.destroyAll();
  }

  #askAbout(key: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#askedAtMs < ASK_EVERY_MS) return;
    this.#askedAtMs = nowMs;
    void this.rediscover(key);
  }

  #primaryOf(key: string): ClusterNode | undefined {
    return this.#cluster.slots[slotOf(key)]?.master;
  }

  /** By address; for the empty string any, preferably a connected one. */
  #primaryAt(address: string): ClusterNode {
    const { masters } = this.#cluster;
    const primary =
      address === ''
        ? (randomOf(masters.filter(isConnected)) ?? randomOf(masters))
        : masters.find((node) => node.address === address);
    if (primary === undefined) throw this.#missing(address);
    return primary;
  }

  /** The library's own messages for a command that was not sent. */
  #missing(what: string): Error {
    return new Error(this.#cluster.isOpen ? `Cannot find node ${what}` : 'The client is closed');
  }
}

/** Makes a driver of a Cluster client of node-redis. */
export function nodeRedisClusterDriver(cluster: NodeRedisCluster): Driver {
  return new NodeRedisClusterDriver(cluster);
}
