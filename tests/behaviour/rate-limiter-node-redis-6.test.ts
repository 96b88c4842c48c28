import { describe } from 'vitest';
import { forbidUnhandledRejections, throughNodeRedis } from './context.ts';
import { describeRateLimiter } from './rate-limiter.ts';

describe(`rate limiter through ${throughNodeRedis.title}`, () => {
  forbidUnhandledRejections();
  describeRateLimiter(throughNodeRedis);
});
