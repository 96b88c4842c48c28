/**
 * Looks at a Cluster as `RawConnection` looks at one server: each command goes to the primary of its key, and
 * channels are sharded ones, as a test means that plays another client there.
 *
 * Who has which slots is found out once, by `SlotMap`. What is asked of a whole server goes to all of them where
 * the answers can be put together, and is refused where they cannot.
 */
import { type RawArgument, RawConnection, type RawMessage, type RawReply } from '../../src/testing/index.ts';
import { slotOf } from './slot.ts';

/** What tests use to look at servers, be it one or a Cluster. */
export type RawView = Pick<RawConnection, 'command' | 'subscribe' | 'onMessage' | 'nextMessage' | 'close'>;

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Who has which slots. */
export class SlotMap {
  readonly primaries: readonly Address[];
  readonly #ranges: readonly (readonly [first: number, last: number, primary: Address])[];

  private constructor(slots: readonly [number, number, [string, number]][]) {
    const primaries = new Map<string, Address>();
    this.#ranges = slots.map(([first, last, [host, port]]) => {
      const primary = primaries.get(`${host}:${port}`) ?? { host, port };
      primaries.set(`${host}:${port}`, primary);
      return [first, last, primary];
    });
    this.primaries = [...primaries.values()];
  }

  /** As the node sees it now. */
  static async seenBy({ host, port }: Address): Promise<SlotMap> {
    await using node = await RawConnection.connect(host, port);
    return new SlotMap((await node.command('CLUSTER', 'SLOTS')) as [number, number, [string, number]][]);
  }

  /** Who has the slot of a key or channel. */
  primaryOf(key: string): Address {
    const slot = slotOf(key);
    const range = this.#ranges.find(([first, last]) => first <= slot && slot <= last);
    if (range === undefined) throw new Error(`Nobody has slot ${slot}`);
    return range[2];
  }
}

type Command = [RawArgument, ...RawArgument[]];

/** Asked about several keys, they answer with a sum. */
const SUMMED = ['DEL', 'EXISTS'];
/** The primaries of a Cluster on one machine have one clock and one version. */
const ALIKE = ['TIME', 'INFO', 'PING'];
/** A test that needs these is about one server. */
const REFUSED = ['ACL', 'CLIENT', 'CONFIG', 'FLUSHALL', 'SCAN', 'SCRIPT', 'SELECT'];

export class ClusterConnection implements RawView {
  readonly #slots: SlotMap;
  readonly #connections: ReadonlyMap<Address, RawConnection>;

  private constructor(slots: SlotMap, connections: ReadonlyMap<Address, RawConnection>) {
    this.#slots = slots;
    this.#connections = connections;
  }

  /** Connects to every primary: a test that looks in the last moment has no time for it. */
  static async connect(slots: SlotMap): Promise<ClusterConnection> {
    const opening = slots.primaries.map(async (primary): Promise<[Address, RawConnection]> => {
      return [primary, await RawConnection.connect(primary.host, primary.port)];
    });
    return new ClusterConnection(slots, new Map(await Promise.all(opening)));
  }

  /** Sends a command to where it belongs. */
  async command(...args: Command): Promise<RawReply> {
    const [word, ...rest] = args;
    const name = String(word).toUpperCase();
    if (REFUSED.includes(name)) throw new Error(`${name} is about one server, not about a Cluster`);
    if (ALIKE.includes(name)) return this.#send(this.#slots.primaries[0] as Address, args);
    if (name === 'KEYS') return this.#joined(args);
    if (name === 'PUBSUB') return this.#aboutChannels(rest);
    if (name === 'PUBLISH') return this.#sendTo(rest[0], ['SPUBLISH', ...rest]);
    if (SUMMED.includes(name)) {
      const counts = await Promise.all(rest.map((key) => this.#sendTo(key, [name, key])));
      return counts.reduce<number>((sum, count) => sum + Number(count), 0);
    }
    return this.#sendTo(name === 'EVAL' ? rest[2] : rest[0], args);
  }

  /** Subscribes to sharded channels, each on the primary of its slot. */
  async subscribe(...channels: [string, ...string[]]): Promise<void> {
    await Promise.all(channels.map((channel) => this.#sendTo(channel, ['SSUBSCRIBE', channel])));
  }

  onMessage(listener: (message: RawMessage) => void): () => void {
    const stops = [...this.#connections.values()].map((connection) => connection.onMessage(listener));
    return () => {
      for (const stop of stops) stop();
    };
  }

  nextMessage(): Promise<RawMessage> {
    return Promise.race([...this.#connections.values()].map((connection) => connection.nextMessage()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }

  /** To the primary of a key or channel. */
  #sendTo(key: RawArgument | undefined, command: Command): Promise<RawReply> {
    if (key === undefined) throw new Error(`${command[0]} without a key`);
    return this.#send(this.#slots.primaryOf(String(key)), command);
  }

  #send(primary: Address, command: Command): Promise<RawReply> {
    const connection = this.#connections.get(primary) as RawConnection;
    return connection.command(...command);
  }

  async #joined(command: Command): Promise<RawReply[]> {
    const replies = this.#slots.primaries.map((primary) => this.#send(primary, command));
    return (await Promise.all(replies)).flat();
  }

  /** About sharded channels, in the words for plain ones. */
  async #aboutChannels([what, ...channels]: readonly RawArgument[]): Promise<RawReply> {
    if (what === 'CHANNELS') return this.#joined(['PUBSUB', 'SHARDCHANNELS', ...channels]);
    if (what !== 'NUMSUB') throw new Error(`PUBSUB ${what} is not known of sharded channels`);
    const ask = (channel: RawArgument) => this.#sendTo(channel, ['PUBSUB', 'SHARDNUMSUB', channel]);
    return (await Promise.all(channels.map(ask))).flat();
  }
}
