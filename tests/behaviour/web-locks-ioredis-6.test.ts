/** The web locks through ioredis 6. */
import { describe } from 'vitest';
import { forbidUnhandledRejections, throughIoredis } from './context.ts';
import { describeWebLocks } from './web-locks.ts';

forbidUnhandledRejections();

describe(`web locks, ${throughIoredis.title}`, () => describeWebLocks(throughIoredis));
