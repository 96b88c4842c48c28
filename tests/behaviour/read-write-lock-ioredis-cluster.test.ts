/** The read/write lock on a Cluster, through ioredis 6. */
import { describeOnCluster, forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeReadWriteLock, describeReadWriteLockOverTime } from './read-write-lock.ts';
import { describeReadWriteLockWire } from './read-write-lock-wire.ts';

forbidUnhandledRejections();

describeOnCluster(`read/write lock, ${throughIoredisCluster.title}`, () => {
  describeReadWriteLock(throughIoredisCluster);
  describeReadWriteLockOverTime(throughIoredisCluster);
  describeReadWriteLockWire(throughIoredisCluster);
});
