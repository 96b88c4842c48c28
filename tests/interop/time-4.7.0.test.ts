/** Leases, watchdogs and crashes, beside the newest Redisson. */
import { describeInterop } from './context.ts';
import { describeCrashes } from './crashes.ts';
import { describeLasting } from './lasting.ts';
import { describeNameMapper } from './name-mapper.ts';
import { describeReadWriteTime } from './read-write-time.ts';
import { describeReadWriteWatchdogs } from './read-write-watchdogs.ts';

describeInterop('4.7.0', [
  describeLasting,
  describeReadWriteTime,
  describeReadWriteWatchdogs,
  describeCrashes,
  describeNameMapper,
]);
