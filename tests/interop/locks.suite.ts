/** Locks, shared with Redisson. */
import { describeCommandLine } from './parts/command-line.ts';
import { describeDifferences } from './parts/differences.ts';
import { describeExclusion } from './parts/exclusion.ts';
import { describeFairLock } from './parts/fair-lock.ts';
import { describeFencedLock } from './parts/fenced-lock.ts';
import { describeForcing } from './parts/forcing.ts';
import { describeMultiLock } from './parts/multi-lock.ts';
import { describeMissing } from './parts/old-redisson.ts';
import { describeReadWriteLock } from './parts/read-write-lock.ts';
import { describeReentry } from './parts/reentry.ts';
import { describeWaking } from './parts/waking.ts';
import { describeInterop } from './support/context.ts';

const EVERYWHERE = [
  describeExclusion,
  describeWaking,
  describeForcing,
  describeReentry,
  describeFairLock,
  describeReadWriteLock,
  describeMultiLock,
  describeDifferences,
];

describeInterop({
  '4.7.0': [...EVERYWHERE, describeFencedLock, describeCommandLine],
  '3.52.0': [...EVERYWHERE, describeFencedLock, describeMissing],
  '3.17.7': [...EVERYWHERE, describeMissing],
});
