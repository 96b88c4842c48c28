/** What takes real time, every kind of lock at once. */
import { describeHoldOverTime } from './parts/hold.ts';
import { describeLeaseOverTime } from './parts/lease.ts';
import { describeReentryOverTime } from './parts/reentry.ts';
import { describeWaitingForLeases } from './parts/waiting.ts';
import { describeWithLockOverTime } from './parts/with-lock.ts';
import { describeThrough } from './support/context.ts';

describeThrough('locks', (context) => {
  describeWaitingForLeases(context);
  describeLeaseOverTime(context);
  describeHoldOverTime(context);
  describeWithLockOverTime(context);
  describeReentryOverTime(context);
});
