/** The read/write lock through ioredis 6. */
import { describe } from 'vitest';
import { forbidUnhandledRejections, throughIoredis } from './context.ts';
import { describeReadWriteLock, describeReadWriteLockOverTime } from './read-write-lock.ts';
import { describeReadWriteLockWire } from './read-write-lock-wire.ts';

forbidUnhandledRejections();

describe(`read/write lock, ${throughIoredis.title}`, () => {
  describeReadWriteLock(throughIoredis);
  describeReadWriteLockOverTime(throughIoredis);
  describeReadWriteLockWire(throughIoredis);
});
