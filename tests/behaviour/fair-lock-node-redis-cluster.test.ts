import { describeOnCluster, throughNodeRedisCluster } from './context.ts';
import { describeFairLock } from './fair-lock.ts';

describeOnCluster('on a Cluster', () => {
  describeFairLock(throughNodeRedisCluster);
});
