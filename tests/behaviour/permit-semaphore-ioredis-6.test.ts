import { describe } from 'vitest';
import { forbidUnhandledRejections, throughIoredis } from './context.ts';
import { describePermitSemaphore } from './permit-semaphore.ts';
import { describePermitLeases } from './permit-semaphore-leases.ts';

describe(`permit-expirable semaphore through ${throughIoredis.title}`, () => {
  forbidUnhandledRejections();
  describePermitSemaphore(throughIoredis);
  describePermitLeases(throughIoredis);
});
