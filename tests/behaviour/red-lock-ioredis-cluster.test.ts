import { throughIoredisCluster } from './context.ts';
import { describeRedLock } from './red-lock.ts';

describeRedLock(throughIoredisCluster);
