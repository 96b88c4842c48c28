import { describe } from 'vitest';
import { forbidUnhandledRejections, throughIoredis } from './context.ts';
import { describeSemaphore } from './semaphore.ts';

describe(`semaphore through ${throughIoredis.title}`, () => {
  forbidUnhandledRejections();
  describeSemaphore(throughIoredis);
});
