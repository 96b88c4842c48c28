/**
 * Looks at a Cluster as `RawConnection` looks at one server: each command goes to the primary of its key, and
 * channels are sharded ones, as a test means that plays another client there.
 *
 * It knows who has which slots from the moment it was opened. What is asked of a whole server goes to all of
 * them where the answers can be put together, and is refused where they cannot.
 */
import { type RawArgument, RawConnection, type RawMessage, type RawReply } from '../../src/testing/index.ts';
import { slotOf } from './slot.ts';

/** What tests use to look at servers, be it one or a Cluster. */
export type RawView = Pick<RawConnection, 'command' | 'subscribe' | 'onMessage' | 'nextMessage' | 'close'>;

interface Range {
  readonly first: number;
  readonly last: number;
  readonly primary: RawConnection;
}

type Command = [RawArgument, ...RawArgument[]];

/** Asked about several keys, they answer with a sum. */
const SUMMED = ['DEL', 'EXISTS'];
/** The primaries of a Cluster on one machine have one clock and one version. */
const ALIKE = ['TIME', 'INFO', 'PING'];
/** A test that needs these is about one server. */
const REFUSED = ['ACL', 'CLIENT', 'CONFIG', 'FLUSHALL', 'SCAN', 'SCRIPT', 'SELECT'];

export class ClusterConnection implements RawView {
  readonly #primaries: readonly RawConnection[];
  readonly #ranges: readonly Range[];

  private constructor(primaries: readonly RawConnection[], ranges: readonly Range[]) {
    this.#primaries = primaries;
    this.#ranges = ranges;
  }

  /** Connects to every primary that the given node knows of. */
  static async connect({ host, port }: { host: string; port: number }): Promise<ClusterConnection> {
    await using guide = await RawConnection.connect(host, port);
    const slots = (await guide.command('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
    const primaries = new Map<string, RawConnection>();
    const ranges: Range[] = [];
    for (const [first, last, [itsHost, itsPort]] of slots) {
      const address = `${itsHost}:${itsPort}`;
      const primary = primaries.get(address) ?? (await RawConnection.connect(itsHost, itsPort));
      primaries.set(address, primary);
      ranges.push({ first, last, primary });
    }
    return new ClusterConnection([...primaries.values()], ranges);
  }

  /** Sends a command to where it belongs. */
  async command(...args: Command): Promise<RawReply> {
    const [word, ...rest] = args;
    const name = String(word).toUpperCase();
    if (REFUSED.includes(name)) throw new Error(`${name} is about one server, not about a Cluster`);
    if (ALIKE.includes(name)) return (this.#primaries[0] as RawConnection).command(...args);
    if (name === 'KEYS') return this.#joined(args);
    if (name === 'PUBSUB') return this.#aboutChannels(rest);
    if (name === 'PUBLISH') return this.#primaryOf(rest[0]).command('SPUBLISH', ...rest);
    if (SUMMED.includes(name)) {
      const counts = await Promise.all(rest.map((key) => this.#primaryOf(key).command(name, key)));
      return counts.reduce<number>((sum, count) => sum + Number(count), 0);
    }
    return this.#primaryOf(name === 'EVAL' ? rest[2] : rest[0]).command(...args);
  }

  /** Subscribes to sharded channels, each on the primary of its slot. */
  async subscribe(...channels: [string, ...string[]]): Promise<void> {
    await Promise.all(channels.map((channel) => this.#primaryOf(channel).command('SSUBSCRIBE', channel)));
  }

  onMessage(listener: (message: RawMessage) => void): () => void {
    const stops = this.#primaries.map((primary) => primary.onMessage(listener));
    return () => {
      for (const stop of stops) stop();
    };
  }

  nextMessage(): Promise<RawMessage> {
    return Promise.race(this.#primaries.map((primary) => primary.nextMessage()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#primaries.map((primary) => primary.close()));
  }

  /** Who has the slot of a key or channel. */
  #primaryOf(key: RawArgument | undefined): RawConnection {
    if (key === undefined) throw new Error('The command has no key');
    const slot = slotOf(String(key));
    const range = this.#ranges.find(({ first, last }) => first <= slot && slot <= last);
    if (range === undefined) throw new Error(`Nobody has slot ${slot}`);
    return range.primary;
  }

  async #joined(command: Command): Promise<RawReply[]> {
    const replies = await Promise.all(this.#primaries.map((primary) => primary.command(...command)));
    return replies.flat();
  }

  /** About sharded channels, in the words for plain ones. */
  async #aboutChannels([what, ...channels]: readonly RawArgument[]): Promise<RawReply> {
    if (what === 'CHANNELS') return this.#joined(['PUBSUB', 'SHARDCHANNELS', ...channels]);
    if (what !== 'NUMSUB') throw new Error(`PUBSUB ${what} is not known of sharded channels`);
    const ask = (channel: RawArgument) => this.#primaryOf(channel).command('PUBSUB', 'SHARDNUMSUB', channel);
    return (await Promise.all(channels.map(ask))).flat();
  }
}
