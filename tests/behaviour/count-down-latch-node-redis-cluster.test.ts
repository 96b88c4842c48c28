import { describeOnCluster, forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeCountDownLatch } from './count-down-latch.ts';

describeOnCluster(`count-down latch through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeCountDownLatch(throughNodeRedisCluster);
});
