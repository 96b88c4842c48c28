import { describe } from 'vitest';
import { forbidUnhandledRejections, throughIoredis } from './context.ts';
import { describeOddOrders } from './odd-orders.ts';
import { describeCommandTimeouts } from './odd-orders-patience.ts';

describe(`odd orders through ${throughIoredis.title}`, () => {
  forbidUnhandledRejections();
  describeOddOrders(throughIoredis);
  describeCommandTimeouts(throughIoredis);
});
