/**
 * Beside an older Redisson at a Cluster: what goes through sharded channels, shared with the last Redisson 3, and
 * locks beside one that knows no such channels.
 */
import { describeExclusion } from './parts/exclusion.ts';
import { describeFairLock } from './parts/fair-lock.ts';
import { describeFencedLock } from './parts/fenced-lock.ts';
import { describeSemaphore } from './parts/semaphore.ts';
import { describeChannelsApart, describeCommonChannels } from './parts/unsharded.ts';
import { describeWaking } from './parts/waking.ts';
import { describeInterop } from './support/context.ts';

describeInterop({
  '3.52.0': [describeExclusion, describeWaking, describeFairLock, describeFencedLock, describeSemaphore],
  '3.17.7': [describeExclusion, describeChannelsApart, describeCommonChannels],
});
