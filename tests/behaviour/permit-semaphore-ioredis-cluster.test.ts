import { describeOnCluster, forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describePermitSemaphore } from './permit-semaphore.ts';
import { describePermitLeases } from './permit-semaphore-leases.ts';

describeOnCluster(`permit-expirable semaphore through ${throughIoredisCluster.title}`, () => {
  forbidUnhandledRejections();
  describePermitSemaphore(throughIoredisCluster);
  describePermitLeases(throughIoredisCluster);
});
