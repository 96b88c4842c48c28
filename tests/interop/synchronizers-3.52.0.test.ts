/** Semaphores, latches and rate limiters, shared with the last Redisson 3. */
import { describeInterop } from './context.ts';
import { describeCountDownLatch } from './count-down-latch.ts';
import { describeManyPermits, describePermitSemaphore } from './permit-semaphore.ts';
import { describeRateLimiter, describeRateRelease } from './rate-limiter.ts';
import { describeSemaphore } from './semaphore.ts';

describeInterop('3.52.0', [
  describeSemaphore,
  describePermitSemaphore,
  describeManyPermits,
  describeCountDownLatch,
  describeRateLimiter,
  describeRateRelease,
]);
