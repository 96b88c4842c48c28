/**
 * W7: many tasks want one lock at the same moment; how long until the last has had it.
 */
import { QUEUED } from '../contestants/index.ts';
import { A_CORE_EACH } from '../machine/stage.ts';
import type { RunAnswer, RunOrder } from '../players/protocol.ts';
import { sum } from '../statistics.ts';
import { LAST } from './columns.ts';
import { warmUpMs } from './cycles.ts';
import type { Workload } from './workload.ts';

const WARM_UP_TASKS = 100;

const shared = { op: 'run', keys: 'one', inside: 'nothing' } as const satisfies Partial<RunOrder>;

export const burst: Workload = {
  id: 'W7',
  title: '1,000 tasks at once on one lock (quick: 100)',
  contestants: QUEUED,
  columns: [LAST],
  async measure(stage, contestant, pace) {
    const player = await stage.enter(contestant, A_CORE_EACH);
    await player.order({
      ...shared,
      prefix: 'warm-up',
      tasks: WARM_UP_TASKS,
      ms: warmUpMs(contestant, pace),
    });
    const { elapsedMs, cycles } = await player.order<RunAnswer>({
      ...shared,
      prefix: 'measured',
      tasks: pace.burstTasks,
      cyclesEach: 1,
      ms: pace.burstMs,
      isLast: true,
    });
    const served = sum(cycles);
    if (served < pace.burstTasks)
      throw new Error(`only ${served} of ${pace.burstTasks} served in ${pace.burstMs / 1_000} s`);
    return { lastMs: elapsedMs };
  },
};
