/**
 * The driver for a `Cluster` of ioredis 5 or 6 or of iovalkey.
 *
 * The library keeps the slot map and follows redirections. Typed structurally. Time-outs belong to `call-timeout.ts`,
 * the meaning of errors to `outcome.ts`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { UnsentError } from '../../outcome.ts';
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
import { ioredisCondition } from './condition.ts';
import {
  type IoredisClient,
  type IoredisSender,
  openIoredisConnection,
  ping,
  send,
  sendThrough,
} from './connection.ts';

/** The used members of an ioredis or iovalkey `Cluster`. */
export interface IoredisCluster extends IoredisSender {
  readonly options: {
    readonly keyPrefix?: ScriptArgument | null | undefined;
    readonly enableOfflineQueue?: unknown;
  };
  /** For each slot its nodes as `host:port`, the primary first. Empty where no node is known. */
  readonly slots: readonly (readonly string[])[];
  nodes(role: 'master'): IoredisClient[];
  refreshSlotsCache(callback: (error?: Error | null) => void): void;
}

/** The library's error for a command that was redirected too often. */
const TOO_MANY_REDIRECTIONS = /^Too many Cluster redirections\. Last error: \w+: (.*)$/s;

const REFRESHING_POLL_MS = 5;

function nameOf({ options }: IoredisClient): string {
  return `${options.host}:${options.port}`;
}

/** The last server error of a command that was redirected too often. */
function lastOf(error: unknown): unknown {
  const last = error instanceof Error ? TOO_MANY_REDIRECTIONS.exec(error.message)?.[1] : undefined;
  return last === undefined ? error : new Error(last, { cause: error });
}

class IoredisClusterDriver implements Driver {
  readonly library = 'ioredis';
  readonly writesOnce = true;
  readonly topology = 'cluster';
  readonly keyPrefix: string;
  readonly #client: IoredisCluster;
  readonly #connections = new ConnectionStates();
  readonly #disconnectClient: (() => Promise<void>) | undefined;
  /** Whether commands wait in the client while it is not connected. */
  readonly #isQueueing: boolean;

  constructor(client: IoredisCluster, disconnectClient?: () => Promise<void>) {
    this.#client = client;
    this.#disconnectClient = disconnectClient;
    rememberErrors(client, 'node error');
    this.#isQueueing = disconnectClient === undefined && client.options.enableOfflineQueue !== false;
    // Includes a prefix set in `redisOptions`.
    this.keyPrefix = String(client.options.keyPrefix ?? '');
  }

  async script(command: ScriptArgument[], signal?: CallSignal, key?: string): Promise<ScriptReply> {
    this.#assertSendable();
    // Without a key the library picks any primary, even one it has no connection to.
    const anywhere = key === undefined && this.#client.status === 'ready' ? this.#anyPrimary() : undefined;
    try {
      return await sendThrough(anywhere ?? this.#client)(command, signal);
    } catch (error) {
      throw lastOf(error);
    }
  }

  nodeOf(key: string): string {
    return this.#client.slots[slotOf(key)]?.[0] ?? '';
  }

  nodes(): readonly string[] {
    // When one slot moved, the library changes all slots of its range until the next refresh; and it forgets a node
    // whose connection has closed.
    const primaries = new Set<string>(
      this.#client.status === 'ready' ? this.#client.nodes('master').map(nameOf) : [],
    );
    for (const nodes of this.#client.slots) if (nodes?.[0] !== undefined) primaries.add(nodes[0]);
    return primaries.size === 0 ? [''] : [...primaries];
  }

  async rediscover(): Promise<void> {
    await this.#refresh();
  }

  openConnection(node: string, events: ConnectionEvents): Promise<Connection> {
    return openIoredisConnection(this.#primary(node), this.#connections, events);
  }

  async *scan(pattern: string): AsyncIterable<readonly string[]> {
    await this.#connected();
    // A listing that misses a node looks complete.
    await this.#refresh();
    for (const node of this.nodes()) {
      const client = await this.#primary(node);
      yield* scanWith(([name, ...args]) => send(client, name, args), pattern);
    }
  }

  condition(): Condition {
    return ioredisCondition(this.#client, this.#disconnectClient !== undefined);
  }

  async close(): Promise<void> {
    this.#connections.destroyAll();
    await this.#disconnectClient?.();
  }

  /** Throws when a command could neither be written now nor wait. */
  #assertSendable(): void {
    const { status } = this.#client;
    if (status !== 'ready') {
      if (this.#isQueueing) return;
      // A lazy client connects at its first command. Whether it succeeds, this command is not sent.
      if (status === 'wait') this.#client.connect().catch(() => undefined);
      throw new UnsentError('The Cluster client is not connected');
    }
    if (this.#client.nodes('master').length > 0) return;
    // The library would use a replica, whose data may be behind.
    void this.#findPrimaries();
    throw new UnsentError('The Cluster client is not connected to any primary');
  }

  /** The libraries return to their startup nodes only when a command has failed on all other nodes. */
  async #findPrimaries(): Promise<void> {
    const error = await this.#refresh();
    // The attempt is what counts; the next command finds out whether it helped.
    if (error) await ping(this.#client).catch(() => undefined);
  }

  /** Refreshes the library's slot map. Resolves to the reason if that failed. */
  async #refresh(): Promise<Error | null | undefined> {
    const error = await new Promise<Error | null | undefined>((resolve) => {
      this.#client.refreshSlotsCache(resolve);
    });
    // iovalkey calls back at once when a refresh is already running.
    while (Reflect.get(this.#client, 'isRefreshing') === true) await sleep(REFRESHING_POLL_MS);
    return error;
  }

  /** Does what every command does without a connection: connects, waits, or fails. */
  async #connected(): Promise<void> {
    if (this.#client.status === 'ready') return;
    this.#assertSendable();
    await ping(this.#client);
  }

  async #primary(node: string): Promise<IoredisClient> {
    await this.#connected();
    const known = this.#find(node);
    if (known !== undefined) return known;
    // The library forgets a node whose connection has closed, until the next refresh.
    await this.#refresh();
    const found = this.#find(node);
    if (found !== undefined) return found;
    const missing =
      node === '' ? 'The client knows no primary of the Cluster' : `The Cluster has no primary ${node}`;
    throw new UnsentError(missing);
  }

  #find(node: string): IoredisClient | undefined {
    if (node === '') return this.#anyPrimary();
    return this.#client.nodes('master').find((client) => nameOf(client) === node);
  }

  #anyPrimary(): IoredisClient | undefined {
    const primaries = this.#client.nodes('master');
    return primaries.find(({ status }) => status === 'ready') ?? primaries[0];
  }
}

/**
 * Makes a driver of a Cluster client of ioredis or iovalkey.
 *
 * @param disconnectClient what `close()` does to the client itself; undefined for the user's client. Commands of the
 *   user's client wait for a connection as the user has configured; those of holdfast's own client never wait.
 */
export function ioredisClusterDriver(client: IoredisCluster, disconnectClient?: () => Promise<void>): Driver {
  return new IoredisClusterDriver(client, disconnectClient);
}
