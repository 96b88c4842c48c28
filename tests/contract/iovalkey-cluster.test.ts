import { Cluster, type ClusterOptions } from 'iovalkey';
import { ioredisClusterDriver } from '../../src/drivers/ioredis-cluster.ts';
import { describeClusterDriver } from './cluster-contract.ts';
import { type ConnectedClient, describeDriver } from './driver-contract.ts';
import { describeIoredisCluster } from './ioredis-cluster-special.ts';

function make(ports: readonly number[], options: ClusterOptions = {}): Cluster {
  const client = new Cluster(
    ports.map((port) => ({ host: '127.0.0.1', port })),
    options,
  );
  return client.on('error', () => {});
}

async function connected(ports: readonly number[], options: ClusterOptions): Promise<ConnectedClient> {
  const client = make(ports, options);
  await client.ping().catch(() => {});
  return { driver: ioredisClusterDriver(client), user: client, close: async () => client.disconnect() };
}

describeDriver({
  title: 'iovalkey Cluster',
  hasKeyPrefix: true,
  topology: 'cluster',
  connect: ({ port, ...redisOptions }) =>
    connected([port], { redisOptions: { ...redisOptions, stringNumbers: true } }),
});

describeClusterDriver({
  title: 'iovalkey, reading from replicas',
  connect: ({ ports, ca, ...login }) =>
    connected(ports, {
      scaleReads: 'all',
      redisOptions: { ...login, ...(ca !== undefined && { tls: { ca } }) },
    }),
});

describeIoredisCluster({ title: 'iovalkey', make });
