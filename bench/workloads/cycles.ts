/**
 * Workloads in which tasks take and release locks for a while: how many cycles, how fairly, at which cost.
 */
import type { Contestant } from '../contestants/contestant.ts';
import type { Cores, Stage } from '../machine/stage.ts';
import type { Pace } from '../pace.ts';
import type { Player } from '../players/player.ts';
import type { RunAnswer, RunOrder } from '../players/protocol.ts';
import { jain, sum } from '../statistics.ts';
import type { Figures, Workload } from './workload.ts';

/** Code on the JVM is compiled later than in Node.js. */
const JVM_WARM_UP = 3;

interface Cycles extends Omit<Workload, 'measure'> {
  readonly processes: number;
  readonly cores?: Cores;
  readonly order: Pick<RunOrder, 'tasks' | 'keys' | 'inside'>;
}

export function warmUpMs({ runtime }: Contestant, pace: Pace): number {
  return pace.warmUpMs * (runtime === 'jvm' ? JVM_WARM_UP : 1);
}

function figuresOf(answers: readonly RunAnswer[], serverCpuUs: number): Figures {
  const perProcess = answers.map(({ cycles }) => sum(cycles));
  const cycles = sum(perProcess);
  const elapsedMs = Math.max(...answers.map((answer) => answer.elapsedMs));
  return {
    cyclesPerSecond: cycles / (elapsedMs / 1_000),
    wallUs: (elapsedMs * 1_000) / cycles,
    clientCpuUs: sum(answers.map(({ cpuUs }) => cpuUs)) / cycles,
    serverCpuUs: serverCpuUs / cycles,
    jainTasks: jain(answers.flatMap((answer) => answer.cycles)),
    jainProcesses: jain(perProcess),
    worstWaitMs: Math.max(...answers.map(({ worstWaitMs }) => worstWaitMs)),
  };
}

export function cyclesWorkload({ processes, cores, order, ...about }: Cycles): Workload {
  return {
    ...about,
    async measure(stage: Stage, contestant: Contestant, pace: Pace): Promise<Figures> {
      const entering = Array.from({ length: processes }, () => stage.enter(contestant, cores));
      const players: readonly Player[] = await Promise.all(entering);
      const run = (prefix: string, ms: number, isLast = false) =>
        Promise.all(
          players.map((player) => player.order<RunAnswer>({ op: 'run', prefix, ms, isLast, ...order })),
        );
      await run('warm-up', warmUpMs(contestant, pace));
      const before = await stage.serverCpuUs();
      const answers = await run('measured', pace.measureMs, true);
      return figuresOf(answers, (await stage.serverCpuUs()) - before);
    },
  };
}
