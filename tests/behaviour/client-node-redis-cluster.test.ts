import { describeWithProcess } from '../harness/servers.ts';
import { describeClient } from './client-suites.ts';
import { describeBringYourOwn } from './close.ts';
import { throughNodeRedisCluster } from './context.ts';
import { describeKeyPrefix } from './names-and-inspection.ts';

describeWithProcess('on a Cluster', () => {
  describeClient(throughNodeRedisCluster, () => {
    describeKeyPrefix(throughNodeRedisCluster);
    describeBringYourOwn(throughNodeRedisCluster);
  });
});
