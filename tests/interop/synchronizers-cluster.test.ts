/** Semaphores, latches and rate limiters, shared with the newest Redisson at a Cluster. */
import { CLUSTER } from './cluster.ts';
import { describeInterop } from './context.ts';
import { describeCountDownLatch } from './count-down-latch.ts';
import { describeManyPermits, describePermitSemaphore } from './permit-semaphore.ts';
import { describeRateLimiter, describeRateRelease } from './rate-limiter.ts';
import { describeReleaseIfExists, describeSemaphore } from './semaphore.ts';

describeInterop(
  '4.7.0',
  [
    describeSemaphore,
    describePermitSemaphore,
    describeManyPermits,
    describeCountDownLatch,
    describeRateLimiter,
    describeReleaseIfExists,
    describeRateRelease,
  ],
  CLUSTER,
);
