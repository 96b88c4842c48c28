import { describeWithProcess } from '../harness/servers.ts';
import { throughIoredisCluster } from './context.ts';
import { describeLocksOverTime } from './lock-suites.ts';

describeWithProcess('on a Cluster', () => {
  describeLocksOverTime(throughIoredisCluster);
});
