import { describeWithProcess } from '../harness/servers.ts';
import { forbidUnhandledRejections, throughIoredisCluster } from './context.ts';
import { describeRateLimiter } from './rate-limiter.ts';

describeWithProcess(`rate limiter through ${throughIoredisCluster.title}`, () => {
  forbidUnhandledRejections();
  describeRateLimiter(throughIoredisCluster);
});
