import { Redis } from 'ioredis';
import { describeDriver } from './driver-contract.ts';
import { ofUser, redisOptions } from './ioredis-clients.ts';

describeDriver({
  title: 'ioredis 6',
  hasKeyPrefix: true,
  connect: (settings) => ofUser(new Redis(redisOptions(settings))),
});

describeDriver({
  title: 'ioredis 6 on RESP2, with settings that change replies and commands',
  hasKeyPrefix: true,
  connect: (settings) =>
    ofUser(
      new Redis({
        ...redisOptions(settings),
        protocol: 2,
        stringNumbers: true,
        enableAutoPipelining: true,
        showFriendlyErrorStack: true,
        commandTimeout: 5000,
        socketTimeout: 5000,
      }),
    ),
});
