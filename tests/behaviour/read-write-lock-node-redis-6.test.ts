/** The read/write lock through node-redis 6. */
import { describe } from 'vitest';
import { forbidUnhandledRejections, throughNodeRedis } from './context.ts';
import { describeReadWriteLock, describeReadWriteLockOverTime } from './read-write-lock.ts';
import { describeReadWriteLockWire } from './read-write-lock-wire.ts';

forbidUnhandledRejections();

describe(`read/write lock, ${throughNodeRedis.title}`, () => {
  describeReadWriteLock(throughNodeRedis);
  describeReadWriteLockOverTime(throughNodeRedis);
  describeReadWriteLockWire(throughNodeRedis);
});
