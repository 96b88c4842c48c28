import { describeOnCluster, forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeRateLimiter } from './rate-limiter.ts';

describeOnCluster(`rate limiter through ${throughIoredisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeRateLimiter(throughIoredisCluster);
});
