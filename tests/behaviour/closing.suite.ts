/** Closing with `drainMs`: what is held ends first, and nothing new begins. Closing at once is in `client.suite.ts`. */
import { describeDrain } from './parts/drain.ts';
import { describeDrainCalls } from './parts/drain-calls.ts';
import { describeDrainedPermits } from './parts/drain-permits.ts';
import { describeDrainReentry } from './parts/drain-reentry.ts';
import { describeThrough } from './support/context.ts';

describeThrough('closing', (context) => {
  describeDrain(context);
  describeDrainReentry(context);
  describeDrainCalls(context);
  describeDrainedPermits(context);
});
