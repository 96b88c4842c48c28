import { throughIoredis } from './context.ts';
import { describeLocksOverTime } from './lock-suites.ts';

describeLocksOverTime(throughIoredis);
