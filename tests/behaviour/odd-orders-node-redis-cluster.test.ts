import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeOddOrders } from './odd-orders.ts';
import { describeCommandTimeouts } from './odd-orders-patience.ts';

describeWithProcess(`odd orders through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeOddOrders(throughNodeRedisCluster);
  describeCommandTimeouts(throughNodeRedisCluster);
});
