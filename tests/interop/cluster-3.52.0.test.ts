/** What goes through sharded channels at a Cluster, shared with the last Redisson 3. */
import { CLUSTER } from './cluster.ts';
import { describeInterop } from './context.ts';
import { describeExclusion } from './exclusion.ts';
import { describeFairLock } from './fair-lock.ts';
import { describeFencedLock } from './fenced-lock.ts';
import { describeSemaphore } from './semaphore.ts';
import { describeWaking } from './waking.ts';

describeInterop(
  '3.52.0',
  [describeExclusion, describeWaking, describeFairLock, describeFencedLock, describeSemaphore],
  CLUSTER,
);
