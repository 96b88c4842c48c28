import { describeOnCluster, forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describePermitSemaphore } from './permit-semaphore.ts';
import { describePermitLeases } from './permit-semaphore-leases.ts';

describeOnCluster(`permit-expirable semaphore through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describePermitSemaphore(throughNodeRedisCluster);
  describePermitLeases(throughNodeRedisCluster);
});
