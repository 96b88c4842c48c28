import { Redis } from 'ioredis5';
import { ioredisDriver } from '../../src/drivers/ioredis.ts';
import { describeDriver } from './driver-contract.ts';

describeDriver({
  title: 'ioredis 5',
  hasKeyPrefix: true,
  async connect(settings) {
    const client = new Redis({ host: '127.0.0.1', ...settings });
    client.on('error', () => {});
    await client.ping().catch(() => {});
    return { driver: ioredisDriver(client), user: client, close: async () => client.disconnect() };
  },
});
