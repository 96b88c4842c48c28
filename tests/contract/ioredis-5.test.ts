import { Redis } from 'ioredis5';
import { describeDriver } from './driver-contract.ts';
import { ofUser, redisOptions } from './ioredis-clients.ts';

describeDriver({
  title: 'ioredis 5',
  hasKeyPrefix: true,
  connect: (settings) => ofUser(new Redis(redisOptions(settings))),
});
