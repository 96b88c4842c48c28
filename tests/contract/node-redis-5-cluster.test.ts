import { createCluster, RESP_TYPES } from 'redis5';
import { describeNodeRedisCluster } from './node-redis-cluster.ts';

describeNodeRedisCluster({
  version: 5,
  typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String },
  create: (options) => createCluster(options),
});
