import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeSemaphore } from './semaphore.ts';

describeWithProcess(`semaphore through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeSemaphore(throughNodeRedisCluster);
});
