import { Redis } from 'iovalkey';
import { describeDriver } from './driver-contract.ts';
import { ofUser, redisOptions } from './ioredis-clients.ts';

describeDriver({
  title: 'iovalkey',
  hasKeyPrefix: true,
  connect: (settings) => ofUser(new Redis(redisOptions(settings))),
});
