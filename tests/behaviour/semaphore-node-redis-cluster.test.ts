import { describeOnCluster, forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeSemaphore } from './semaphore.ts';

describeOnCluster(`semaphore through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeSemaphore(throughNodeRedisCluster);
});
