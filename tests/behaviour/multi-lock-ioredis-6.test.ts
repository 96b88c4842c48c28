import { throughIoredis } from './context.ts';
import { describeMultiLock } from './multi-lock.ts';

describeMultiLock(throughIoredis);
