import { describeClient } from './client-suites.ts';
import { describeBringYourOwn } from './close.ts';
import { describeOnCluster, throughIoredisCluster } from './context.ts';
import { describeKeyPrefix } from './names-and-inspection.ts';

describeOnCluster('on a Cluster', () => {
  describeClient(throughIoredisCluster, () => {
    describeKeyPrefix(throughIoredisCluster);
    describeBringYourOwn(throughIoredisCluster);
  });
});
