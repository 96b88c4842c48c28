/** The web locks on a Cluster, through ioredis 6. */
import { describeOnCluster, forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeWebLocks } from './web-locks.ts';

forbidUnhandledRejections();

describeOnCluster(`web locks, ${throughIoredisCluster.title}`, () => describeWebLocks(throughIoredisCluster));
