/** Leases, watchdogs and crashes, beside Redisson. */
import { describeCrashes } from './parts/crashes.ts';
import { describeLasting } from './parts/lasting.ts';
import { describeNameMapper } from './parts/name-mapper.ts';
import { describeOldFairWaiters } from './parts/old-redisson.ts';
import { describeReadWriteTime } from './parts/read-write-time.ts';
import { describeReadWriteWatchdogs } from './parts/read-write-watchdogs.ts';
import { describeInterop } from './support/context.ts';

const EVERYWHERE = [
  describeLasting,
  describeReadWriteTime,
  describeReadWriteWatchdogs,
  describeCrashes,
  describeNameMapper,
];

describeInterop({
  '4.7.0': EVERYWHERE,
  '3.52.0': EVERYWHERE,
  '3.17.7': [...EVERYWHERE, describeOldFairWaiters],
});
