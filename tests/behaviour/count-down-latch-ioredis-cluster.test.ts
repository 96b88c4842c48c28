import { describeOnCluster, forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeCountDownLatch } from './count-down-latch.ts';

describeOnCluster(`count-down latch through ${throughIoredisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeCountDownLatch(throughIoredisCluster);
});
