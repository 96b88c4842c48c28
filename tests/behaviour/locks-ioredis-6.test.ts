import { throughIoredis } from './context.ts';
import { describeLocks } from './lock-suites.ts';

describeLocks(throughIoredis);
