/**
 * What the guard costs where nothing fails: an acquisition with it against the same without it.
 */
import { holdfastOnIoredis } from '../contestants/holdfast.ts';
import { ONE_CORE } from '../machine/stage.ts';
import type { GuardAnswer } from '../players/scale/guard.ts';
import { GUARD_RATIO, GUARDED, PLAIN } from './columns.ts';
import type { Workload } from './workload.ts';

export const guard: Workload = {
  id: 'guard',
  title: 'An acquisition with the guard and without',
  contestants: [holdfastOnIoredis],
  columns: [GUARD_RATIO, PLAIN, GUARDED],
  async measure(stage, contestant, pace) {
    const player = await stage.enter(contestant, ONE_CORE);
    const { plainUs, guardedUs } = await player.order<GuardAnswer>({ op: 'guard', rounds: pace.guardRounds });
    return { plainUs, guardedUs, guardRatio: guardedUs / plainUs };
  },
};
