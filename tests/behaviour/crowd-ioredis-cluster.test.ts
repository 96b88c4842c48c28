import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeCrowd } from './crowd.ts';

describeWithProcess(`costs through ${throughIoredisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeCrowd(throughIoredisCluster);
});
