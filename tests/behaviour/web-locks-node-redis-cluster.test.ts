/** The web locks on a Cluster, through node-redis 6. */
import { describeOnCluster, forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeWebLocks } from './web-locks.ts';

forbidUnhandledRejections();

describeOnCluster(`web locks, ${throughNodeRedisCluster.title}`, () =>
  describeWebLocks(throughNodeRedisCluster),
);
