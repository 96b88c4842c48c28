import { Redis } from 'ioredis';
import { ioredisDriver } from '../../src/drivers/ioredis.ts';
import { type ConnectedClient, describeDriver } from './driver-contract.ts';

async function connected(client: Redis): Promise<ConnectedClient> {
  client.on('error', () => {});
  await client.ping().catch(() => {});
  return { driver: ioredisDriver(client), user: client, close: async () => client.disconnect() };
}

describeDriver({
  title: 'ioredis 6',
  hasKeyPrefix: true,
  connect: (settings) => connected(new Redis({ host: '127.0.0.1', ...settings })),
});

describeDriver({
  title: 'ioredis 6 on RESP2, with settings that change replies and commands',
  hasKeyPrefix: true,
  connect: (settings) =>
    connected(
      new Redis({
        host: '127.0.0.1',
        ...settings,
        protocol: 2,
        stringNumbers: true,
        enableAutoPipelining: true,
        showFriendlyErrorStack: true,
        commandTimeout: 5000,
        socketTimeout: 5000,
      }),
    ),
});
