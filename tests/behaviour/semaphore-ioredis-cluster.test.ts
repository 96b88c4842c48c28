import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeSemaphore } from './semaphore.ts';

describeWithProcess(`semaphore through ${throughIoredisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeSemaphore(throughIoredisCluster);
});
