import { throughGlide } from './context.ts';
import { describeLocksOverTime } from './lock-suites.ts';

describeLocksOverTime(throughGlide);
