import { throughNodeRedis } from './context.ts';
import { describeLocksOverTime } from './lock-suites.ts';

describeLocksOverTime(throughNodeRedis);
