/**
 * What holdfast wants to reach, beside what was measured.
 */
import {
  bestLibrary,
  type Entry,
  entryOf,
  type Results,
  ratiosOf,
  type Spread,
  spreadOf,
  valuesOf,
} from '../results.ts';
import type { Column } from '../workloads/workload.ts';

export interface Goal {
  readonly what: string;
  readonly limit: number;
  readonly sense: 'at most' | 'at least';
  readonly unit: string;
  readonly digits: number;
  /** Undefined where a workload or a contestant was left out. */
  readonly measured: Spread | undefined;
}

const IOREDIS = 'holdfast-ioredis';

type Bounds = Pick<Goal, 'what' | 'limit' | 'sense'>;

function ratioGoal(bounds: Bounds, figure: string, of: Entry | undefined, to: Entry | undefined): Goal {
  const measured = of && to && spreadOf(ratiosOf(of, to, figure));
  return { ...bounds, unit: '×', digits: 2, measured };
}

function figureGoal(results: Results, workload: string, figure: string, bounds: Bounds): Goal {
  const column = results.rows
    .find((row) => row.workload.id === workload)
    ?.workload.columns.find((candidate) => candidate.figure === figure);
  const { unit = '', digits = 0 }: Partial<Column> = column ?? {};
  const entry = entryOf(results, workload, IOREDIS);
  return { ...bounds, unit, digits, measured: entry && spreadOf(valuesOf(entry, figure)) };
}

/** How many times as good as another, whether more or less is better. */
function timesBetter(results: Results, workload: string, to: Entry | undefined, bounds: Bounds): Goal {
  const [column] = results.rows.find((row) => row.workload.id === workload)?.workload.columns ?? [];
  const ours = entryOf(results, workload, IOREDIS);
  if (column === undefined || ours === undefined || to === undefined)
    return { ...bounds, unit: '×', digits: 2, measured: undefined };
  const isHigher = column.better === 'higher';
  return ratioGoal(bounds, column.figure, isHigher ? ours : to, isHigher ? to : ours);
}

const atMost = (what: string, limit: number): Bounds => ({ what, limit, sense: 'at most' });
const atLeast = (what: string, limit: number): Bounds => ({ what, limit, sense: 'at least' });

function againstYardsticks(results: Results): Goal[] {
  const w1 = (contestant: string) => entryOf(results, 'W1', contestant);
  const w2 = (contestant: string) => entryOf(results, 'W2', contestant);
  const w5 = (contestant: string) => entryOf(results, 'W5', contestant);
  const ours = w1(IOREDIS);
  return [
    ratioGoal(atMost('W1: a cycle / semantic pair', 1.1), 'wallUs', ours, w1('semantic-pair')),
    ratioGoal(atMost('W1: a cycle / bare pair', 1.35), 'wallUs', ours, w1('bare-ioredis')),
    ratioGoal(
      atMost('W1: a cycle on node-redis / its bare pair', 1.35),
      'wallUs',
      w1('holdfast-node-redis'),
      w1('bare-node-redis'),
    ),
    ratioGoal(atLeast('W2: cycles / bare pair', 0.75), 'cyclesPerSecond', w2(IOREDIS), w2('bare-ioredis')),
    ratioGoal(atMost('W5: p50 / hand-written', 1.3), 'p50Us', w5(IOREDIS), w5('hand-written')),
    ratioGoal(atMost('W6: server CPU / semantic pair', 1.1), 'serverCpuUs', ours, w1('semantic-pair')),
  ];
}

function againstLibraries(results: Results): Goal[] {
  const best = (workload: string, limit: number, what: string) => {
    const library = bestLibrary(results, workload);
    const named = library === undefined ? what : `${what} (${library.contestant.title})`;
    return timesBetter(results, workload, library, atLeast(`${workload}: ${named}`, limit));
  };
  return [
    best('W3', 12, 'cycles / best library'),
    figureGoal(results, 'W3', 'jainTasks', atLeast('W3: Jain over tasks', 0.99)),
    best('W4', 1.5, 'cycles / best library'),
    figureGoal(results, 'W4', 'jainProcesses', atLeast('W4: Jain over processes', 0.95)),
    figureGoal(results, 'W4', 'jainTasks', atLeast('W4: Jain over tasks', 0.95)),
    figureGoal(results, 'W4', 'worstWaitMs', atMost('W4: worst wait', 200)),
    best('W7', 20, 'times as fast as the best library'),
  ];
}

function againstRedisson(results: Results): Goal[] {
  return ['W1', 'W2', 'W3', 'W4', 'W5', 'W7'].map((workload) =>
    timesBetter(
      results,
      workload,
      entryOf(results, workload, 'redisson'),
      atLeast(`${workload}: times as good as Redisson on the JVM`, 3),
    ),
  );
}

function atScale(results: Results): Goal[] {
  const goal = (workload: string, figure: string, what: string, limit: number) =>
    figureGoal(results, workload, figure, atMost(what, limit));
  return [
    goal('guard', 'guardRatio', 'guard: an acquisition with / without', 1.1),
    goal('channels', 'channelsRatio', 'channels: a cycle while nobody listens / without', 1.01),
    goal('holds', 'bytesEach', 'holds: heap each', 1_100),
    goal('holds', 'clientPercent', 'holds: CPU of renewals in the client', 6),
    goal('holds', 'serverPercent', 'holds: CPU of renewals in the server', 6),
    goal('holds', 'lagMs', 'holds: event-loop lag by renewals', 20),
    goal('waiters', 'bytesEach', 'waiters: heap each', 600),
    goal('waiters', 'drainMs', 'waiters: time to drain', 150),
    goal('waited-for', 'bytesEach', 'waited-for locks: heap each', 2_500),
    goal('waited-for', 'clientPercent', 'waited-for locks: idle CPU', 5),
  ];
}

/** All goals that this run says something about. */
export function goalsOf(results: Results): readonly Goal[] {
  return [
    ...againstYardsticks(results),
    ...againstLibraries(results),
    ...againstRedisson(results),
    ...atScale(results),
  ].filter(({ measured }) => measured !== undefined);
}

export function isReached({ sense, limit, measured }: Goal): boolean {
  if (measured === undefined) return false;
  return sense === 'at most' ? measured.median <= limit : measured.median >= limit;
}
