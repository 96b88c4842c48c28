import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeCountDownLatch } from './count-down-latch.ts';

describeWithProcess(`count-down latch through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeCountDownLatch(throughNodeRedisCluster);
});
