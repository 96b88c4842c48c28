import { Cluster, Redis } from 'iovalkey';
import { describeDriver } from '../parts/driver-contract.ts';
import { describeSentinelClients, sentinelOptions } from '../parts/ioredis-sentinel.ts';
import { describeOneProtocolCluster, ofUser, redisOptions } from '../support/ioredis-clients.ts';

export function standalone(): void {
  describeDriver({
    title: 'iovalkey',
    hasKeyPrefix: true,
    connect: (settings) => ofUser(new Redis(redisOptions(settings))),
  });
}

export function sentinel(): void {
  describeSentinelClients({
    title: 'iovalkey',
    hasKeyPrefix: true,
    connect: (at, settings) => ofUser(new Redis(sentinelOptions(at, settings))),
  });
}

export function cluster(): void {
  describeOneProtocolCluster('iovalkey', (nodes, options) => new Cluster(nodes, options));
}
