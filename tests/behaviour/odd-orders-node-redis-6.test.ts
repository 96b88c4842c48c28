import { describe } from 'vitest';
import { forbidUnhandledRejections, throughNodeRedis } from './context.ts';
import { describeOddOrders } from './odd-orders.ts';
import { describeCommandTimeouts } from './odd-orders-patience.ts';

describe(`odd orders through ${throughNodeRedis.title}`, () => {
  forbidUnhandledRejections();
  describeOddOrders(throughNodeRedis);
  describeCommandTimeouts(throughNodeRedis);
});
