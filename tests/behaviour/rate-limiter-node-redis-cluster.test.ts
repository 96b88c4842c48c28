import { describeOnCluster, forbidUnhandledRejections, throughNodeRedisCluster } from './context.ts';
import { describeRateLimiter } from './rate-limiter.ts';

describeOnCluster(`rate limiter through ${throughNodeRedisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeRateLimiter(throughNodeRedisCluster);
});
