import { describeOnCluster, throughNodeRedisCluster } from './context.ts';
import { describeFencedLock } from './fenced-lock.ts';

describeOnCluster('on a Cluster', () => {
  describeFencedLock(throughNodeRedisCluster);
});
