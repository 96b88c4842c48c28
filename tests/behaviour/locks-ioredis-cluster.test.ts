import { describeWithProcess } from '../harness/servers.ts';
import { throughIoredisCluster } from './context.ts';
import { describeLocks } from './lock-suites.ts';

describeWithProcess('on a Cluster', () => {
  describeLocks(throughIoredisCluster);
});
