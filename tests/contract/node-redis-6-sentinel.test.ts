import { createSentinel, RESP_TYPES } from 'redis';
import { describeNodeRedisSentinel } from './node-redis-sentinel.ts';

describeNodeRedisSentinel({
  version: 6,
  typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String },
  create: (options) => createSentinel(options),
});
