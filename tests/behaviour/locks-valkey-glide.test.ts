import { throughGlide } from './context.ts';
import { describeLocks } from './lock-suites.ts';

describeLocks(throughGlide);
