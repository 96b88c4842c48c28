import { throughNodeRedis } from './context.ts';
import { describeMultiLock } from './multi-lock.ts';

describeMultiLock(throughNodeRedis);
