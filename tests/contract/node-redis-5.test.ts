import { createClient } from 'redis5';
import { nodeRedisDriver } from '../../src/drivers/node-redis.ts';
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
