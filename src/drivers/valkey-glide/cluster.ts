/**
 * The driver for a Cluster behind a GlideClusterClient of Valkey GLIDE 2.
 *
 * GLIDE does not expose its slot map, so the driver asks the servers for it: at first use, and whenever it was wrong.
 * Scripts do not depend on it: GLIDE routes them itself, immediately if its client reads from primaries (`readFrom`). A
 * client that reads from replicas does not notice that a primary became a replica, and needs up to a minute after a
 * planned failover. `command.ts` sends the commands, `connection.ts` opens connections.
 */
import { randomUUID } from 'node:crypto';
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
import { scanWith } from '../scan.ts';
import { type GlideClient, type GlideRoute, glideCondition, send } from './command.ts';
import {
  addressesOf,
  type GlideAddress,
  type GlideConfiguration,
  openGlideConnection,
  usableConfiguration,
} from './connection.ts';

/** Consecutive slots with the same primary. */
interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly primary: GlideAddress;
}

/** An entry of CLUSTER SLOTS: the range, then its servers, the primary first. */
type SlotsLine = [first: number, last: number, primary: [host: string | null, port: number]];

class GlideClusterDriver implements Driver {
  readonly library = 'valkey-glide';
  /** The library decides what happens to a command whose connection breaks. */
  readonly writesOnce = false;
  readonly topology = 'cluster';
  readonly keyPrefix = '';
  readonly #client: GlideClient;
  readonly #config: GlideConfiguration | undefined;
  readonly #connections = new ConnectionStates();
  #ranges: readonly SlotRange[] = [];
  /** By name. */
  #primaries: ReadonlyMap<string, GlideAddress> = new Map();
  #asking: Promise<void> | undefined;
  #asked = false;

  constructor(client: GlideClient, config: GlideConfiguration | undefined) {
    this.#client = client;
    this.#config = config;
  }

  script(
    command: readonly ScriptArgument[],
    _signal?: CallSignal,
    key: string = randomUUID(),
  ): Promise<ScriptReply> {
    this.#learn();
    // Without a route, GLIDE may send a script without keys to a replica.
    return send(this.#client, command, { type: 'primarySlotKey', key });
  }

  nodeOf(key: string): string {
    this.#learn();
    const slot = slotOf(key);
    const range = this.#ranges.find(({ first, last }) => first <= slot && slot <= last);
    return range === undefined ? '' : nameOf(range.primary);
  }

  nodes(): readonly string[] {
    this.#learn();
    return this.#primaries.size === 0 ? [''] : [...this.#primaries.keys()];
  }

  async rediscover(): Promise<void> {
    // If that fails, the known nodes stay.
    await this.#ask().catch(() => undefined);
  }

  async openConnection(node: string, events: ConnectionEvents): Promise<Connection> {
    const config = usableConfiguration(this.#config);
    return openGlideConnection(config, this.#addressOf(node, config), this.#connections, events);
  }

  async *scan(pattern: string): AsyncIterable<readonly string[]> {
    await this.#ask();
    for (const { host, port } of this.#primaries.values()) {
      const route: GlideRoute = { type: 'routeByAddress', host, port };
      yield* scanWith((args) => send(this.#client, args, route), pattern);
    }
  }

  condition(): Condition | undefined {
    return glideCondition(this.#client);
  }

  async close(): Promise<void> {
    this.#connections.destroyAll();
  }

  async #addressOf(node: string, config: GlideConfiguration): Promise<GlideAddress> {
    const known = this.#primaries.get(node);
    if (known !== undefined) return known;
    await this.rediscover();
    const [anyPrimary] = this.#primaries.values();
    const [given] = addressesOf(config);
    const address = this.#primaries.get(node) ?? (node === '' ? (anyPrimary ?? given) : undefined);
    if (address === undefined) throw new UnsentError(`The Cluster has no primary ${node}`);
    return address;
  }

  /** Asks for the slot map if that was never done, without waiting for the answer. */
  #learn(): void {
    if (this.#asked) return;
    this.#asked = true;
    void this.rediscover();
  }

  /** Asks for the slot map. Concurrent callers share one answer. */
  #ask(): Promise<void> {
    this.#asked = true;
    this.#asking ??= send(this.#client, ['CLUSTER', 'SLOTS'], 'randomNode')
      .then((reply) => this.#note(reply as unknown as SlotsLine[]))
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  #note(lines: readonly SlotsLine[]): void {
    const ranges = lines.map(([first, last, [host, port]]) => ({
      first,
      last,
      // A server that does not know its address omits it: then the address that the client uses is right.
      primary: { host: host || (this.#config?.addresses[0]?.host ?? ''), port },
    }));
    this.#ranges = ranges;
    this.#primaries = new Map(ranges.map(({ primary }) => [nameOf(primary), primary]));
  }
}

function nameOf({ host, port }: GlideAddress): string {
  return `${host}:${port}`;
}

/**
 * Makes a driver of a GlideClusterClient.
 *
 * @param config what the client was made with; without it the driver opens no dedicated connections.
 */
export function glideClusterDriver(client: GlideClient, config: GlideConfiguration | undefined): Driver {
  return new GlideClusterDriver(client, config);
}
