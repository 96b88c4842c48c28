/** The web locks on a Cluster, through node-redis 6. */
import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeWebLocks } from './web-locks.ts';

forbidUnhandledRejections();

describeWithProcess(`web locks, ${throughNodeRedisCluster.title}`, () =>
  describeWebLocks(throughNodeRedisCluster),
);
