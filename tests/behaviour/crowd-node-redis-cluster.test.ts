import { describeOnCluster, forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeCrowd } from './crowd.ts';

describeOnCluster(`costs through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeCrowd(throughNodeRedisCluster);
});
