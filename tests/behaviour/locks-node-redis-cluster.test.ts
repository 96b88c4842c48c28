import { describeWithProcess } from '../harness/servers.ts';
import { throughNodeRedisCluster } from './context.ts';
import { describeLocks } from './lock-suites.ts';

describeWithProcess('on a Cluster', () => {
  describeLocks(throughNodeRedisCluster);
});
