import { describeWithProcess } from '../harness/servers.ts';
import { throughNodeRedisCluster } from './context.ts';
import { describeFencedLock } from './fenced-lock.ts';

describeWithProcess('on a Cluster', () => {
  describeFencedLock(throughNodeRedisCluster);
});
