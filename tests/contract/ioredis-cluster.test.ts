import { Cluster } from 'ioredis';
import { describeClusterDriver } from './cluster-contract.ts';
import { describeDriver } from './driver-contract.ts';
import { clusterClients } from './ioredis-clients.ts';
import { describeIoredisCluster } from './ioredis-cluster-special.ts';

const { make, connected } = clusterClients((nodes, options) => new Cluster(nodes, options));

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
