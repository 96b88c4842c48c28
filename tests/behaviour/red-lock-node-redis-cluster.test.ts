import { throughNodeRedisCluster } from './context.ts';
import { describeRedLock } from './red-lock.ts';

describeRedLock(throughNodeRedisCluster);
