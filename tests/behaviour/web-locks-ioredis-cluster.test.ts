/** The web locks on a Cluster, through ioredis 6. */
import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeWebLocks } from './web-locks.ts';

forbidUnhandledRejections();

describeWithProcess(`web locks, ${throughIoredisCluster.title}`, () =>
  describeWebLocks(throughIoredisCluster),
);
