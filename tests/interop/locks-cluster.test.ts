/** Locks, shared with the newest Redisson at a Cluster. */
import { CLUSTER } from './cluster.ts';
import { describeInterop } from './context.ts';
import { describeDifferences } from './differences.ts';
import { describeExclusion } from './exclusion.ts';
import { describeFairLock } from './fair-lock.ts';
import { describeFencedLock } from './fenced-lock.ts';
import { describeForcing } from './forcing.ts';
import { describeMultiLock } from './multi-lock.ts';
import { describeReadWriteLock } from './read-write-lock.ts';
import { describeReentry } from './reentry.ts';
import { describeWaking } from './waking.ts';

describeInterop(
  '4.7.0',
  [
    describeExclusion,
    describeWaking,
    describeForcing,
    describeReentry,
    describeFairLock,
    describeReadWriteLock,
    describeFencedLock,
    describeMultiLock,
    describeDifferences,
  ],
  CLUSTER,
);
