/** The web locks through node-redis 6. */
import { describe } from 'vitest';
import { forbidUnhandledRejections, throughNodeRedis } from './context.ts';
import { describeWebLocks } from './web-locks.ts';

forbidUnhandledRejections();

describe(`web locks, ${throughNodeRedis.title}`, () => describeWebLocks(throughNodeRedis));
