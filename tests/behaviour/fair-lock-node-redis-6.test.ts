import { throughNodeRedis } from './context.ts';
import { describeFairLock } from './fair-lock.ts';

describeFairLock(throughNodeRedis);
