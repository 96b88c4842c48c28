import { describe } from 'vitest';
import { forbidUnhandledRejections, throughNodeRedis } from './context.ts';
import { describeSemaphore } from './semaphore.ts';

describe(`semaphore through ${throughNodeRedis.title}`, () => {
  forbidUnhandledRejections();
  describeSemaphore(throughNodeRedis);
});
