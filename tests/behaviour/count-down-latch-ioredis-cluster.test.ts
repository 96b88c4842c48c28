import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeCountDownLatch } from './count-down-latch.ts';

describeWithProcess(`count-down latch through ${throughIoredisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeCountDownLatch(throughIoredisCluster);
});
