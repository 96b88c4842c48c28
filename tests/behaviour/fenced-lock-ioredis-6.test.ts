import { throughIoredis } from './context.ts';
import { describeFencedLock } from './fenced-lock.ts';

describeFencedLock(throughIoredis);
