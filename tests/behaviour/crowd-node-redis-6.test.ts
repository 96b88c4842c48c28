import { describe } from 'vitest';
import { forbidUnhandledRejections, throughNodeRedis } from './context.ts';
import { describeCrowd } from './crowd.ts';

describe(`costs through ${throughNodeRedis.title}`, () => {
  forbidUnhandledRejections();
  describeCrowd(throughNodeRedis);
});
