import { describeOnCluster, forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeCrowd } from './crowd.ts';

describeOnCluster(`costs through ${throughIoredisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeCrowd(throughIoredisCluster);
});
