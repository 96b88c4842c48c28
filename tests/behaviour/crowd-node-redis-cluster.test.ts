import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeCrowd } from './crowd.ts';

describeWithProcess(`costs through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeCrowd(throughNodeRedisCluster);
});
