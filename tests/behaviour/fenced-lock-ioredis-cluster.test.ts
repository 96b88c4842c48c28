import { describeWithProcess } from '../harness/servers.ts';
import { throughIoredisCluster } from './context.ts';
import { describeFencedLock } from './fenced-lock.ts';

describeWithProcess('on a Cluster', () => {
  describeFencedLock(throughIoredisCluster);
});
