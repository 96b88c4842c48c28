import { Cluster, Redis } from 'ioredis5';
import { describeDriver } from '../parts/driver-contract.ts';
import { describeSentinelClients, sentinelOptions } from '../parts/ioredis-sentinel.ts';
import { describeOneProtocolCluster, ofUser, redisOptions } from '../support/ioredis-clients.ts';

export function standalone(): void {
  describeDriver({
    title: 'ioredis 5',
    hasKeyPrefix: true,
    connect: (settings) => ofUser(new Redis(redisOptions(settings))),
  });
}

export function sentinel(): void {
  describeSentinelClients({
    title: 'ioredis 5',
    hasKeyPrefix: true,
    connect: (at, settings) => ofUser(new Redis(sentinelOptions(at, settings))),
  });
}

export function cluster(): void {
  describeOneProtocolCluster('ioredis 5', (nodes, options) => new Cluster(nodes, options));
}
