/** Leases, watchdogs and crashes, beside an old Redisson. */

import { describeInterop } from './context.ts';
import { describeCrashes } from './crashes.ts';
import { describeLasting } from './lasting.ts';
import { describeNameMapper } from './name-mapper.ts';
import { describeOldFairWaiters } from './old-redisson.ts';
import { describeReadWriteTime } from './read-write-time.ts';
import { describeReadWriteWatchdogs } from './read-write-watchdogs.ts';

describeInterop('3.17.7', [
  describeLasting,
  describeReadWriteTime,
  describeReadWriteWatchdogs,
  describeCrashes,
  describeNameMapper,
  describeOldFairWaiters,
]);
