import { describeOnCluster, throughIoredisCluster } from './context.ts';
import { describeLocks } from './lock-suites.ts';

describeOnCluster('on a Cluster', () => {
  describeLocks(throughIoredisCluster);
});
