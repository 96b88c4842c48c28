import { describe } from 'vitest';
import { forbidUnhandledRejections, throughGlide } from './context.ts';
import { describeSemaphore } from './semaphore.ts';

describe(`semaphore through ${throughGlide.title}`, () => {
  forbidUnhandledRejections();
  describeSemaphore(throughGlide);
});
