/** Users' clients of ioredis and iovalkey, of whichever version, and the drivers made of them. */

import { type IoredisCluster, ioredisClusterDriver } from '../../../src/drivers/ioredis/cluster.ts';
import type { IoredisClient } from '../../../src/drivers/ioredis/connection.ts';
import { ioredisDriver } from '../../../src/drivers/ioredis/one-server.ts';
import { describeClusterDriver } from '../parts/cluster-contract.ts';
import { type ClientSettings, type ConnectedClient, describeDriver } from '../parts/driver-contract.ts';
import { describeIoredisCluster } from '../parts/ioredis-cluster-special.ts';

type Seen = NonNullable<ConnectedClient['user']>;
type UserCluster = IoredisCluster &
  Seen & {
    nodes(role: 'master' | 'slave'): IoredisClient[];
    on(event: 'error', listener: () => void): unknown;
    disconnect(): void;
  };

/** The settings in the words of these libraries. */
export function redisOptions({ ca, sentinel: _, ...settings }: ClientSettings) {
  return { host: '127.0.0.1', ...settings, ...(ca !== undefined && { tls: { ca } }) };
}

export async function ofUser(client: IoredisClient & Seen): Promise<ConnectedClient> {
  client.on('error', () => {});
  await client.ping().catch(() => {});
  const driver = ioredisDriver(client);
  const close = async () => {
    await driver.close();
    client.disconnect();
  };
  return { driver, user: client, close };
}

/** Settings of a Cluster client that the libraries share. */
export interface ClusterClientOptions {
  readonly keyPrefix?: string;
  readonly enableAutoPipelining?: boolean;
  readonly lazyConnect?: boolean;
  readonly enableOfflineQueue?: boolean;
  readonly scaleReads?: 'slave' | 'all';
  readonly natMap?: Record<string, { host: string; port: number }>;
  readonly redisOptions?: object;
}

type Create = (nodes: { host: string; port: number }[], options: ClusterClientOptions) => UserCluster;

/** Makes the Cluster clients of one library by the ports of nodes; `connected` waits for them. */
export function clusterClients(create: Create) {
  const make = (ports: readonly number[], options: ClusterClientOptions = {}): UserCluster => {
    const client = create(
      ports.map((port) => ({ host: '127.0.0.1', port })),
      options,
    );
    client.on('error', () => {});
    return client;
  };
  const connected = async (
    ports: readonly number[],
    options: ClusterClientOptions,
  ): Promise<ConnectedClient> => {
    const client = make(ports, options);
    await client.ping().catch(() => {});
    return { driver: ioredisClusterDriver(client), user: client, close: async () => client.disconnect() };
  };
  return { make, connected };
}

/** Every contract of a Cluster, for a library that knows no protocol but one. */
export function describeOneProtocolCluster(title: string, create: Create): void {
  const { make, connected } = clusterClients(create);
  describeDriver({
    title: `${title} Cluster`,
    hasKeyPrefix: true,
    topology: 'cluster',
    connect: ({ port, ...settings }) =>
      connected([port], { redisOptions: { ...settings, stringNumbers: true } }),
  });
  describeClusterDriver({
    title: `${title}, reading from replicas`,
    connect: ({ ports, ca, ...login }) =>
      connected(ports, {
        scaleReads: 'all',
        redisOptions: { ...login, ...(ca !== undefined && { tls: { ca } }) },
      }),
  });
  describeIoredisCluster({ title, make });
}
