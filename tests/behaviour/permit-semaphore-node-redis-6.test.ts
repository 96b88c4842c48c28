import { describe } from 'vitest';
import { forbidUnhandledRejections, throughNodeRedis } from './context.ts';
import { describePermitSemaphore } from './permit-semaphore.ts';
import { describePermitLeases } from './permit-semaphore-leases.ts';

describe(`permit-expirable semaphore through ${throughNodeRedis.title}`, () => {
  forbidUnhandledRejections();
  describePermitSemaphore(throughNodeRedis);
  describePermitLeases(throughNodeRedis);
});
