import { Cluster, type ClusterOptions } from 'ioredis';
import { ioredisClusterDriver } from '../../src/drivers/ioredis-cluster.ts';
import { describeClusterDriver } from './cluster-contract.ts';
import { type ConnectedClient, describeDriver } from './driver-contract.ts';
import { describeIoredisCluster } from './ioredis-cluster-special.ts';

function make(ports: readonly number[], options: ClusterOptions = {}): Cluster {
  const client = new Cluster(
    ports.map((port) => ({ host: '127.0.0.1', port })),
    options as object,
  );
  return client.on('error', () => {});
}

async function connected(ports: readonly number[], options: ClusterOptions): Promise<ConnectedClient> {
  const client = make(ports, options);
  await client.ping().catch(() => {});
  return { driver: ioredisClusterDriver(client), user: client, close: async () => client.disconnect() };
}

describeDriver({
  title: 'ioredis 6 Cluster',
  hasKeyPrefix: true,
  topology: 'cluster',
  connect: ({ port, keyPrefix, ...redisOptions }) =>
    connected([port], { redisOptions, ...(keyPrefix !== undefined && { keyPrefix }) }),
});

describeDriver({
  title: 'ioredis 6 Cluster on RESP2, with settings that change replies and commands',
  hasKeyPrefix: true,
  topology: 'cluster',
  connect: ({ port, ...redisOptions }) =>
    connected([port], {
      enableAutoPipelining: true,
      redisOptions: {
        ...redisOptions,
        protocol: 2,
        stringNumbers: true,
        showFriendlyErrorStack: true,
        commandTimeout: 5000,
      },
    }),
});

for (const protocol of [2, 3] as const) {
  describeClusterDriver({
    title: `ioredis 6 on RESP${protocol}, reading from replicas`,
    connect: ({ ports, ca, ...login }) =>
      connected(ports, {
        scaleReads: 'slave',
        redisOptions: { ...login, protocol, ...(ca !== undefined && { tls: { ca } }) },
      }),
  });
}

describeIoredisCluster({ title: 'ioredis 6 on RESP3', make });
describeIoredisCluster({
  title: 'ioredis 6 on RESP2',
  make: (ports, options) => make(ports, { ...options, redisOptions: { protocol: 2 } }),
});
