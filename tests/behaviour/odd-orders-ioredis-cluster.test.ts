import { describeOnCluster, forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeOddOrders } from './odd-orders.ts';
import { describeCommandTimeouts } from './odd-orders-patience.ts';

describeOnCluster(`odd orders through ${throughIoredisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeOddOrders(throughIoredisCluster);
  describeCommandTimeouts(throughIoredisCluster);
});
