/** Semaphores, latches and rate limiters, shared with Redisson. */
import { describeCountDownLatch } from './parts/count-down-latch.ts';
import { describeMissingManyPermits, describeMissingRateRelease } from './parts/old-redisson.ts';
import { describeManyPermits, describePermitSemaphore } from './parts/permit-semaphore.ts';
import { describeRateLimiter, describeRateRelease } from './parts/rate-limiter.ts';
import { describeReleaseIfExists, describeSemaphore } from './parts/semaphore.ts';
import { describeInterop } from './support/context.ts';

const EVERYWHERE = [describeSemaphore, describePermitSemaphore, describeCountDownLatch, describeRateLimiter];

describeInterop({
  '4.7.0': [...EVERYWHERE, describeManyPermits, describeReleaseIfExists, describeRateRelease],
  '3.52.0': [...EVERYWHERE, describeManyPermits, describeRateRelease],
  '3.17.7': [...EVERYWHERE, describeMissingManyPermits, describeMissingRateRelease],
});
