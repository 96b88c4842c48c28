import { throughNodeRedis } from './context.ts';
import { describeLocks } from './lock-suites.ts';

describeLocks(throughNodeRedis);
