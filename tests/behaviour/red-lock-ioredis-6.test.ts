import { throughIoredis } from './context.ts';
import { describeRedLock } from './red-lock.ts';

describeRedLock(throughIoredis);
