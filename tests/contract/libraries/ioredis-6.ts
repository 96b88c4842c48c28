import { Cluster, Redis } from 'ioredis';
import { describeClusterDriver } from '../parts/cluster-contract.ts';
import { describeDriver } from '../parts/driver-contract.ts';
import { describeIoredisCluster } from '../parts/ioredis-cluster-special.ts';
import { describeSentinelClients, sentinelOptions } from '../parts/ioredis-sentinel.ts';
import { clusterClients, ofUser, redisOptions } from '../support/ioredis-clients.ts';

export function standalone(): void {
  describeDriver({
    title: 'ioredis 6',
    hasKeyPrefix: true,
    connect: (settings) => ofUser(new Redis(redisOptions(settings))),
  });

  describeDriver({
    title: 'ioredis 6 on RESP2, with settings that change replies and commands',
    hasKeyPrefix: true,
    connect: (settings) =>
      ofUser(
        new Redis({
          ...redisOptions(settings),
          protocol: 2,
          stringNumbers: true,
          enableAutoPipelining: true,
          showFriendlyErrorStack: true,
          commandTimeout: 5000,
          socketTimeout: 5000,
        }),
      ),
  });
}

export function sentinel(): void {
  describeSentinelClients({
    title: 'ioredis 6',
    hasKeyPrefix: true,
    connect: (at, settings) => ofUser(new Redis(sentinelOptions(at, settings))),
  });
}

export function cluster(): void {
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
}
