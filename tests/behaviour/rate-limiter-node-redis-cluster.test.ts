import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeRateLimiter } from './rate-limiter.ts';

describeWithProcess(`rate limiter through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeRateLimiter(throughNodeRedisCluster);
});
