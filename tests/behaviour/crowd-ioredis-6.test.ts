import { describe } from 'vitest';
import { forbidUnhandledRejections, throughIoredis } from './context.ts';
import { describeCrowd } from './crowd.ts';

describe(`costs through ${throughIoredis.title}`, () => {
  forbidUnhandledRejections();
  describeCrowd(throughIoredis);
});
