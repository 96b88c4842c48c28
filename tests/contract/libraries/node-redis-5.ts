import { createClient, createClientPool, createCluster, createSentinel, RESP_TYPES } from 'redis5';
import { nodeRedisDriver, nodeRedisPoolDriver } from '../../../src/drivers/node-redis/one-server.ts';
import { type ClientSettings, describeDriver } from '../parts/driver-contract.ts';
import { describeNodeRedisCluster } from '../parts/node-redis-cluster.ts';
import { describeNodeRedisSentinel } from '../parts/node-redis-sentinel.ts';

/** Neither text nor numbers come as such. */
const typeMapping = { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String };

function options({ port, username, password, db, ca }: ClientSettings) {
  const secret = username === undefined ? '' : `${username}:${password}@`;
  const where = `${secret}127.0.0.1:${port}/${db ?? 0}`;
  return ca === undefined
    ? { url: `redis://${where}` }
    : { url: `rediss://${where}`, socket: { tls: true as const, ca } };
}

export function standalone(): void {
  for (const RESP of [2, 3] as const) {
    describeDriver({
      title: `node-redis 5 on RESP${RESP}`,
      waitsForDrain: true,
      hasKeyPrefix: false,
      async connect(settings) {
        const client = createClient({ ...options(settings), RESP });
        client.on('error', () => {});
        await client.connect();
        return { driver: nodeRedisDriver(client), user: client, close: async () => client.destroy() };
      },
    });
  }

  describeDriver({
    title: 'a pool of node-redis 5',
    hasKeyPrefix: false,
    async connect(settings) {
      const pool = createClientPool(options(settings), { minimum: 2, maximum: 2 });
      pool.on('error', () => {});
      await pool.connect();
      const user = Object.assign(pool, { ping: () => pool.sendCommand(['PING']) });
      return { driver: nodeRedisPoolDriver(pool), user, close: async () => pool.destroy() };
    },
  });
}

export function sentinel(): void {
  describeNodeRedisSentinel({ version: 5, typeMapping, create: (options) => createSentinel(options) });
}

export function cluster(): void {
  describeNodeRedisCluster({ version: 5, typeMapping, create: (options) => createCluster(options) });
}
