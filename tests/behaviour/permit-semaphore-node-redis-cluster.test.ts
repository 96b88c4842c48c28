import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describePermitSemaphore } from './permit-semaphore.ts';
import { describePermitLeases } from './permit-semaphore-leases.ts';

describeWithProcess(`permit-expirable semaphore through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describePermitSemaphore(throughNodeRedisCluster);
  describePermitLeases(throughNodeRedisCluster);
});
