import { createClient, createClientPool, createCluster, createSentinel, RESP_TYPES } from 'redis';
import { describe, expect, it } from 'vitest';
import { nodeRedisDriver, nodeRedisPoolDriver } from '../../../src/drivers/node-redis/one-server.ts';
import { classify } from '../../../src/outcome.ts';
import { evalOn } from '../../harness/script-calls.ts';
import { type ClientSettings, type ConnectedClient, describeDriver } from '../parts/driver-contract.ts';
import { describeNodeRedisCluster } from '../parts/node-redis-cluster.ts';
import { describeNodeRedisSentinel } from '../parts/node-redis-sentinel.ts';

/** Neither text nor numbers come as such. */
const typeMapping = { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String };

function options({ port, username, password, db, keyPrefix, ca }: ClientSettings) {
  return {
    socket: { host: '127.0.0.1', port, ...(ca !== undefined && { tls: true as const, ca }) },
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(db !== undefined && { database: db }),
    ...(keyPrefix !== undefined && { keyPrefix }),
  };
}

export function standalone(): void {
  describeDriver({
    title: 'node-redis 6 on RESP3',
    waitsForDrain: true,
    hasKeyPrefix: true,
    async connect(settings): Promise<ConnectedClient> {
      const client = createClient({ ...options(settings), RESP: 3 });
      client.on('error', () => {});
      await client.connect();
      return { driver: nodeRedisDriver(client), user: client, close: async () => client.destroy() };
    },
  });

  describeDriver({
    title: 'node-redis 6 on RESP2, with settings that change replies',
    waitsForDrain: true,
    hasKeyPrefix: true,
    async connect(settings): Promise<ConnectedClient> {
      const client = createClient({
        ...options(settings),
        RESP: 2,
        pingInterval: 60_000,
        commandOptions: { typeMapping },
      });
      client.on('error', () => {});
      await client.connect();
      return { driver: nodeRedisDriver(client), user: client, close: async () => client.destroy() };
    },
  });

  describeDriver({
    title: 'a pool of node-redis 6, with settings that change replies',
    hasKeyPrefix: true,
    async connect(settings): Promise<ConnectedClient> {
      const pool = createClientPool(
        { ...options(settings), commandOptions: { typeMapping } },
        { minimum: 2, maximum: 2 },
      );
      pool.on('error', () => {});
      await pool.connect();
      const user = Object.assign(pool, { ping: () => pool.sendCommand(['PING']) });
      return { driver: nodeRedisPoolDriver(pool), user, close: async () => pool.destroy() };
    },
  });

  describe('a node-redis client that was never connected', () => {
    it.each([
      ['alone', nodeRedisDriver(createClient())],
      ['in a pool', nodeRedisPoolDriver(createClientPool())],
    ])('rejects with the message of the library, before anything is sent: %s', async (_, driver) => {
      const error: unknown = await evalOn(driver, 'return 1', [], []).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ message: 'The client is closed' });
      expect(classify(error)).toBe('transient');
    });
  });
}

export function sentinel(): void {
  describeNodeRedisSentinel({ version: 6, typeMapping, create: (options) => createSentinel(options) });
}

export function cluster(): void {
  describeNodeRedisCluster({ version: 6, typeMapping, create: (options) => createCluster(options) });
}
