/** Locks at a Cluster beside a Redisson that knows no sharded channels. */
import { CLUSTER } from './cluster.ts';
import { describeInterop } from './context.ts';
import { describeExclusion } from './exclusion.ts';
import { describeChannelsApart, describeCommonChannels } from './unsharded.ts';

describeInterop('3.17.7', [describeExclusion, describeChannelsApart, describeCommonChannels], CLUSTER);
