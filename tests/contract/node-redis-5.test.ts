import { createClient, createClientPool } from 'redis5';
import { nodeRedisDriver, nodeRedisPoolDriver } from '../../src/drivers/node-redis.ts';
import { describeDriver } from './driver-contract.ts';

for (const RESP of [2, 3] as const) {
  describeDriver({
    title: `node-redis 5 on RESP${RESP}`,
    hasKeyPrefix: false,
    async connect({ port, username, password, db }) {
      const secret = username === undefined ? '' : `${username}:${password}@`;
      const client = createClient({ url: `redis://${secret}127.0.0.1:${port}/${db ?? 0}`, RESP });
      client.on('error', () => {});
      await client.connect();
      return { driver: nodeRedisDriver(client), user: client, close: async () => client.destroy() };
    },
  });
}

describeDriver({
  title: 'a pool of node-redis 5',
  hasKeyPrefix: false,
  async connect({ port, username, password, db }) {
    const secret = username === undefined ? '' : `${username}:${password}@`;
    const url = `redis://${secret}127.0.0.1:${port}/${db ?? 0}`;
    const pool = createClientPool({ url }, { minimum: 2, maximum: 2 });
    pool.on('error', () => {});
    await pool.connect();
    const user = Object.assign(pool, { ping: () => pool.sendCommand(['PING']) });
    return { driver: nodeRedisPoolDriver(pool), user, close: async () => pool.destroy() };
  },
});
