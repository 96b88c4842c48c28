/** Permits and rates beside a Redisson that writes them in another layout. */
import { describeInterop } from './context.ts';
import { describeOldPermits, describeOldRates } from './old-layout.ts';

describeInterop('3.16.8', [describeOldPermits, describeOldRates]);
