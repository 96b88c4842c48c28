/**
 * The servers that Redisson and clients of ours are at. Suites know nothing of them but `Topology` and `Place`. To run
 * them elsewhere, write another of these: see `cluster.ts`.
 */
import { inject, onTestFinished } from 'vitest';
import type { Target } from '../../../src/index.ts';
import { type RawArgument, RawConnection, type RawReply, startServer } from '../../../src/testing/index.ts';
import type { JavaTarget } from './java-peer.ts';

/** A way to arrange servers. */
export interface Topology {
  readonly title: string;
  readonly isCluster: boolean;
  open(): Promise<Place>;
}

/** Servers, seen from both languages and from outside. */
export interface Place {
  readonly javaTarget: JavaTarget;
  /** What `Holdfast.connect` takes. */
  readonly nodeTarget: string | Target;
  /** A command to the server that has the key. */
  command(key: string, ...args: [RawArgument, ...RawArgument[]]): Promise<RawReply>;
  /** Every key of every server. */
  keys(): Promise<string[]>;
  /** How many connections listen to the channels whose names start so. */
  listeners(channel: string): Promise<number>;
  /** The messages of a channel from now on, as they come. */
  hear(channel: string): Promise<readonly string[]>;
  /** How many scripts have run so far. */
  scriptRuns(): Promise<number>;
  close(): Promise<void>;
}

/** A server process of the suite's own. */
export const ONE_SERVER: Topology = { title: 'one server', isCluster: false, open: openOneServer };

async function openOneServer(): Promise<Place> {
  const binary = inject('serverBinary');
  const server = await startServer(binary === null ? {} : { binary });
  return {
    javaTarget: { addresses: [server.url], isCluster: false },
    nodeTarget: server.url,
    command: (_key, ...args) => server.command(...args),
    keys: async () => ((await server.command('KEYS', '*')) as RawReply[]).map(String),
    async listeners(channel) {
      const channels = (await server.command('PUBSUB', 'CHANNELS', `${channel}*`)) as string[];
      return sumOfCounts((await server.command('PUBSUB', 'NUMSUB', ...channels)) as RawReply[]);
    },
    async hear(channel) {
      const connection = await RawConnection.connect(server.host, server.port);
      onTestFinished(() => connection.close());
      const heard: string[] = [];
      connection.onMessage(({ message }) => heard.push(message));
      await connection.subscribe(channel);
      return heard;
    },
    async scriptRuns() {
      return scriptRunsIn(String(await server.command('INFO', 'commandstats')));
    },
    close: () => server.close(),
  };
}

/** Of names and counts in turns, the sum of the counts. */
export function sumOfCounts(replies: readonly RawReply[]): number {
  return replies.reduce<number>((sum, reply, index) => (index % 2 === 1 ? sum + Number(reply) : sum), 0);
}

/** How many scripts have run according to INFO. */
export function scriptRunsIn(stats: string): number {
  const calls = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}
