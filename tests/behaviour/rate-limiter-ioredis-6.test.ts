import { describe } from 'vitest';
import { forbidUnhandledRejections, throughIoredis } from './context.ts';
import { describeRateLimiter } from './rate-limiter.ts';

describe(`rate limiter through ${throughIoredis.title}`, () => {
  forbidUnhandledRejections();
  describeRateLimiter(throughIoredis);
});
