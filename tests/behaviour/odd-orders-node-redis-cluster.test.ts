import { describeOnCluster, forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeOddOrders } from './odd-orders.ts';
import { describeCommandTimeouts } from './odd-orders-patience.ts';

describeOnCluster(`odd orders through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeOddOrders(throughNodeRedisCluster);
  describeCommandTimeouts(throughNodeRedisCluster);
});
