import { describeOnCluster, throughIoredisCluster } from './context.ts';
import { describeMultiLock } from './multi-lock.ts';

describeOnCluster('on a Cluster', () => {
  describeMultiLock(throughIoredisCluster);
});
