/** Locks, shared with the last Redisson 3. */

import { describeInterop } from './context.ts';
import { describeDifferences } from './differences.ts';
import { describeExclusion } from './exclusion.ts';
import { describeFairLock } from './fair-lock.ts';
import { describeFencedLock } from './fenced-lock.ts';
import { describeForcing } from './forcing.ts';
import { describeMultiLock } from './multi-lock.ts';
import { describeMissing } from './old-redisson.ts';
import { describeReadWriteLock } from './read-write-lock.ts';
import { describeReentry } from './reentry.ts';
import { describeWaking } from './waking.ts';

describeInterop('3.52.0', [
  describeExclusion,
  describeWaking,
  describeForcing,
  describeReentry,
  describeFairLock,
  describeReadWriteLock,
  describeFencedLock,
  describeMultiLock,
  describeDifferences,
  describeMissing,
]);
