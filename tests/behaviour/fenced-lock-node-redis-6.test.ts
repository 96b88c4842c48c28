import { throughNodeRedis } from './context.ts';
import { describeFencedLock } from './fenced-lock.ts';

describeFencedLock(throughNodeRedis);
