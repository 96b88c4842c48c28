import { throughIoredis } from './context.ts';
import { describeFairLock } from './fair-lock.ts';

describeFairLock(throughIoredis);
