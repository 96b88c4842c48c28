import { throughNodeRedis } from './context.ts';
import { describeRedLock } from './red-lock.ts';

describeRedLock(throughNodeRedis);
