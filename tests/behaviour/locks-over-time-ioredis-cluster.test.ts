import { describeOnCluster, throughIoredisCluster } from './context.ts';
import { describeLocksOverTime } from './lock-suites.ts';

describeOnCluster('on a Cluster', () => {
  describeLocksOverTime(throughIoredisCluster);
});
