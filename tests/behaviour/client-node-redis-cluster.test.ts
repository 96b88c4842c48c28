import { describeClient } from './client-suites.ts';
import { describeBringYourOwn } from './close.ts';
import { describeOnCluster, throughNodeRedisCluster } from './context.ts';
import { describeKeyPrefix } from './names-and-inspection.ts';

describeOnCluster('on a Cluster', () => {
  describeClient(throughNodeRedisCluster, () => {
    describeKeyPrefix(throughNodeRedisCluster);
    describeBringYourOwn(throughNodeRedisCluster);
  });
});
