import { describeOnCluster, forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeSemaphore } from './semaphore.ts';

describeOnCluster(`semaphore through ${throughIoredisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeSemaphore(throughIoredisCluster);
});
