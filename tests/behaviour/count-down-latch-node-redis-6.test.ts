import { describe } from 'vitest';
import { forbidUnhandledRejections, throughNodeRedis } from './context.ts';
import { describeCountDownLatch } from './count-down-latch.ts';

describe(`count-down latch through ${throughNodeRedis.title}`, () => {
  forbidUnhandledRejections();
  describeCountDownLatch(throughNodeRedis);
});
