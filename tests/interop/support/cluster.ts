/** A Cluster of the suite's own, as a place for interop suites. */
import { inject, onTestFinished } from 'vitest';
import { RawConnection, type RawReply } from '../../../src/testing/index.ts';
import { startCluster } from '../../harness/cluster.ts';
import { type Place, scriptRunsIn, sumOfCounts, type Topology } from './place.ts';

const NODE_TIMEOUT_MS = 15_000;

/** Three primaries of version 7: there both languages use sharded channels. */
export const CLUSTER: Topology = { title: 'a Cluster', isCluster: true, open };

async function open(): Promise<Place> {
  const binary = inject('serverBinary') as string;
  const servers = await startCluster({
    binary,
    primaries: 3,
    replicasEach: 0,
    nodeTimeoutMs: NODE_TIMEOUT_MS,
  });
  const everywhere = (...args: [string, ...string[]]) =>
    Promise.all(servers.nodes.map((node) => node.command(...args)));
  return {
    javaTarget: { addresses: servers.nodes.map(({ url }) => url), isCluster: true },
    nodeTarget: { cluster: servers.addresses },
    async command(key, ...args) {
      const node = await servers.primaryOf(key);
      return node.command(...args);
    },
    keys: async () => ((await everywhere('KEYS', '*')) as RawReply[][]).flat().map(String),
    async listeners(channel) {
      const channels = ((await everywhere('PUBSUB', 'SHARDCHANNELS', `${channel}*`)) as string[][]).flat();
      return sumOfCounts(((await everywhere('PUBSUB', 'SHARDNUMSUB', ...channels)) as RawReply[][]).flat());
    },
    async hear(channel) {
      const { host, port } = await servers.primaryOf(channel);
      const connection = await RawConnection.connect(host, port);
      onTestFinished(() => connection.close());
      const heard: string[] = [];
      connection.onMessage(({ message }) => heard.push(message));
      await connection.command('SSUBSCRIBE', channel);
      return heard;
    },
    async scriptRuns() {
      return scriptRunsIn((await everywhere('INFO', 'commandstats')).map(String).join('\n'));
    },
    close: () => servers.close(),
  };
}
