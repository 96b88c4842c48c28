import { describe } from 'vitest';
import { forbidUnhandledRejections, throughIoredis } from './context.ts';
import { describeCountDownLatch } from './count-down-latch.ts';

describe(`count-down latch through ${throughIoredis.title}`, () => {
  forbidUnhandledRejections();
  describeCountDownLatch(throughIoredis);
});
