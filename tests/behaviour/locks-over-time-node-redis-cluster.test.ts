import { describeWithProcess } from '../harness/servers.ts';
import { throughNodeRedisCluster } from './context.ts';
import { describeLocksOverTime } from './lock-suites.ts';

describeWithProcess('on a Cluster', () => {
  describeLocksOverTime(throughNodeRedisCluster);
});
