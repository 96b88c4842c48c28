import { describeWithProcess } from '../harness/servers.ts';
import { throughNodeRedisCluster } from './context.ts';
import { describeMultiLock } from './multi-lock.ts';

describeWithProcess('on a Cluster', () => {
  describeMultiLock(throughNodeRedisCluster);
});
