/**
 * The Cluster clients of node-redis: the contracts, and what only their driver has to see to. A file for each
 * version calls it with that version's `createCluster`.
 */

import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type NodeRedisCluster, nodeRedisClusterDriver } from '../../../src/drivers/node-redis/cluster.ts';
import { classify } from '../../../src/outcome.ts';
import type { TestServer } from '../../../src/testing/server.ts';
import { evalOn } from '../../harness/script-calls.ts';
import { describeWithProcess } from '../../harness/servers.ts';
import { ownCluster } from '../../harness/topologies.ts';
import { type ClusterSettings, describeClusterDriver } from './cluster-contract.ts';
import { describeDriver, failure, Listener } from './driver-contract.ts';

interface Options {
  rootNodes: { socket: { host: string; port: number } }[];
  defaults: { username?: string; password?: string; socket?: { tls: true; ca: string } };
  RESP: 2 | 3;
  keyPrefix?: string;
  useReplicas?: boolean;
  minimizeConnections?: boolean;
  commandOptions?: { typeMapping: object };
}

type UserCluster = NodeRedisCluster & {
  on(event: 'error', listener: () => void): unknown;
  eventNames(): (string | symbol)[];
  listenerCount(event: string | symbol): number;
  connect(): Promise<unknown>;
  destroy(): void;
};

export interface NodeRedisClusterContext {
  readonly version: 5 | 6;
  /** A type mapping after which neither text nor numbers come as such. */
  readonly typeMapping: object;
  create(options: Options): UserCluster;
}

function options(
  { ports, username, password, ca }: ClusterSettings,
  more: Omit<Options, 'rootNodes' | 'defaults'>,
): Options {
  return {
    rootNodes: ports.map((port) => ({ socket: { host: '127.0.0.1', port } })),
    defaults: {
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(ca !== undefined && { socket: { tls: true, ca } }),
    },
    ...more,
  };
}

export function describeNodeRedisCluster({ version, typeMapping, create }: NodeRedisClusterContext): void {
  async function connect(given: Options) {
    const cluster = create(given);
    cluster.on('error', () => {});
    await cluster.connect();
    const user = {
      eventNames: () => cluster.eventNames(),
      listenerCount: (event: string | symbol) => cluster.listenerCount(event),
      ping: () => cluster.sendCommand('any', true, ['PING'], {}),
    };
    const driver = nodeRedisClusterDriver(cluster);
    return { driver, user, close: async () => cluster.destroy() };
  }

  /** A driver for the servers of the test, with a name that has its home on the first of them. */
  async function ownDriver(more: Omit<Options, 'rootNodes' | 'defaults'>, replicasEach = 0) {
    const cluster = await ownCluster({ primaries: 2, replicasEach });
    const ports = cluster.addresses.map(({ port }) => port);
    const { driver, close } = await connect(options({ ports }, more));
    onTestFinished(close);
    return { cluster, driver, from: cluster.nodes[0] as TestServer, to: cluster.nodes[1] as TestServer };
  }

  describeDriver({
    waitsForDrain: true,
    title: `node-redis ${version} Cluster on RESP3`,
    hasKeyPrefix: version === 6,
    topology: 'cluster',
    connect: ({ port, keyPrefix, ...secret }) =>
      connect(
        options({ ports: [port], ...secret }, { RESP: 3, ...(keyPrefix !== undefined && { keyPrefix }) }),
      ),
  });

  describeDriver({
    waitsForDrain: true,
    title: `node-redis ${version} Cluster on RESP2, with settings that change replies`,
    hasKeyPrefix: false,
    topology: 'cluster',
    connect: ({ port, ...secret }) =>
      connect(options({ ports: [port], ...secret }, { RESP: 2, commandOptions: { typeMapping } })),
  });

  for (const RESP of [2, 3] as const) {
    describeClusterDriver({
      title: `node-redis ${version} on RESP${RESP}`,
      connect: (settings) => connect(options(settings, { RESP })),
    });
  }

  describeWithProcess(`node-redis ${version} Cluster clients`, () => {
    it('runs a script without keys on a primary, also when set to use the replicas', async () => {
      const { driver } = await ownDriver({ RESP: 3, useReplicas: true, minimizeConnections: true }, 1);
      const role = "return string.match(redis.call('info', 'replication'), 'role:(%a+)')";
      const roles = await Promise.all(Array.from({ length: 40 }, () => evalOn(driver, role, [], [])));
      expect(new Set(roles)).toEqual(new Set(['master']));
    });

    it('opens a connection to a primary that the client is not connected to yet', async () => {
      const { driver, to } = await ownDriver({ RESP: 3, minimizeConnections: true });
      const connection = await driver.openConnection(`${to.host}:${to.port}`, new Listener());
      onTestFinished(() => connection.destroy());
      expect(String(await connection.send(['INFO', 'server']))).toContain(`tcp_port:${to.port}\r\n`);
    });

    it('finds by its ping a moved channel that the library has missed', async () => {
      const { cluster, driver, from, to } = await ownDriver({ RESP: 3 });
      const listener = new Listener();
      const [channel, queue] = await Promise.all(
        [0, 1].map(async () => {
          for (;;) {
            const name = randomUUID();
            if ((await cluster.primaryOf(name)) === from) return name;
          }
        }),
      );
      const connection = await driver.openConnection(driver.nodeOf(channel as string), listener);
      onTestFinished(() => connection.destroy());
      await connection.subscribe(channel as string, 'sharded');
      await connection.ping();
      // While an answer is awaited, the library takes the message for a part of it.
      const popped = connection.send(['BLPOP', queue as string, '0']);
      await expect.poll(async () => String(await from.command('CLIENT', 'LIST'))).toContain('cmd=blpop');
      await cluster.moveSlot(cluster.slotOf(channel as string), to);
      await from.command('RPUSH', queue as string, 'x');
      expect(await popped).toEqual([queue, 'x']);
      expect(listener.downs).toEqual([]);
      await driver.rediscover(channel as string);
      await failure(connection.ping());
      expect(listener.downs).toHaveLength(1);
    });
  });

  describe(`a node-redis ${version} Cluster client that was never connected`, () => {
    const driver = nodeRedisClusterDriver(create(options({ ports: [1] }, { RESP: 3 })));

    it('rejects with the message of the library, before anything is sent', async () => {
      const calls = [
        evalOn(driver, 'return 1', [], []),
        evalOn(driver, 'return 1', ['key'], []),
        driver.openConnection('', new Listener()),
        driver.scan('*')[Symbol.asyncIterator]().next(),
      ];
      for (const call of calls) {
        const error = await failure(call);
        expect(error.message).toBe('The client is closed');
        expect(classify(error)).toBe('transient');
      }
    });

    it('knows no primary, not even after rediscover()', async () => {
      await driver.rediscover('key');
      expect(driver.nodeOf('key')).toBe('');
      expect(driver.nodes()).toEqual(['']);
    });
  });
}
