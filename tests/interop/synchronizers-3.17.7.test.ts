/** Semaphores, latches and rate limiters, shared with an old Redisson. */
import { describeInterop } from './context.ts';
import { describeCountDownLatch } from './count-down-latch.ts';
import { describeMissingManyPermits, describeMissingRateRelease } from './old-redisson.ts';
import { describePermitSemaphore } from './permit-semaphore.ts';
import { describeRateLimiter } from './rate-limiter.ts';
import { describeSemaphore } from './semaphore.ts';

describeInterop('3.17.7', [
  describeSemaphore,
  describePermitSemaphore,
  describeMissingManyPermits,
  describeCountDownLatch,
  describeRateLimiter,
  describeMissingRateRelease,
]);
