/** The read/write lock on a Cluster, through node-redis 6. */
import { describeOnCluster, forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeReadWriteLock, describeReadWriteLockOverTime } from './read-write-lock.ts';
import { describeReadWriteLockWire } from './read-write-lock-wire.ts';

forbidUnhandledRejections();

describeOnCluster(`read/write lock, ${throughNodeRedisCluster.title}`, () => {
  describeReadWriteLock(throughNodeRedisCluster);
  describeReadWriteLockOverTime(throughNodeRedisCluster);
  describeReadWriteLockWire(throughNodeRedisCluster);
});
