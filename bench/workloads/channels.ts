/**
 * What the diagnostics channels cost: a cycle while nobody listens, and while somebody does, against one without them.
 */
import { holdfastOnIoredis } from '../contestants/holdfast.ts';
import { ONE_CORE } from '../machine/stage.ts';
import type { ChannelsAnswer } from '../players/scale/channels.ts';
import { CHANNELS_RATIO, IDLE_CHANNELS, NO_CHANNELS, SUBSCRIBED } from './columns.ts';
import type { Workload } from './workload.ts';

export const channels: Workload = {
  id: 'channels',
  title: 'A cycle with the diagnostics channels and without',
  contestants: [holdfastOnIoredis],
  columns: [CHANNELS_RATIO, NO_CHANNELS, IDLE_CHANNELS, SUBSCRIBED],
  async measure(stage, contestant, pace) {
    const player = await stage.enter(contestant, ONE_CORE);
    const order = { op: 'channels', rounds: pace.channelRounds } as const;
    return { ...(await player.order<ChannelsAnswer>(order)) };
  },
};
