import { describeWithProcess } from '../harness/servers.ts';
import { throughIoredisCluster } from './context.ts';
import { describeFairLock } from './fair-lock.ts';

describeWithProcess('on a Cluster', () => {
  describeFairLock(throughIoredisCluster);
});
