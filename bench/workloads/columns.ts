/**
 * The figures that several workloads share.
 */
import type { Column } from './workload.ts';

function column(
  figure: string,
  title: string,
  unit: string,
  digits: number,
  better: Column['better'],
): Column {
  return { figure, title, unit, digits, better };
}

export const CYCLES = column('cyclesPerSecond', 'cycles', '/s', 0, 'higher');
export const WALL = column('wallUs', 'a cycle', 'µs', 1, 'lower');
export const CLIENT_CPU = column('clientCpuUs', 'client CPU', 'µs', 1, 'lower');
export const SERVER_CPU = column('serverCpuUs', 'server CPU', 'µs', 1, 'lower');
export const JAIN_TASKS = column('jainTasks', 'Jain, tasks', '', 3, 'higher');
export const JAIN_PROCESSES = column('jainProcesses', 'Jain, processes', '', 3, 'higher');
export const WORST_WAIT = column('worstWaitMs', 'worst wait', 'ms', 0, 'lower');
export const P50 = column('p50Us', 'p50', 'µs', 0, 'lower');
export const P99 = column('p99Us', 'p99', 'µs', 0, 'lower');
export const LAST = column('lastMs', 'until the last', 'ms', 0, 'lower');
export const BYTES = column('bytesEach', 'heap each', 'B', 0, 'lower');
export const CLIENT_SHARE = column('clientPercent', 'client CPU', '%', 1, 'lower');
export const SERVER_SHARE = column('serverPercent', 'server CPU', '%', 1, 'lower');
export const LAG = column('lagMs', 'event-loop lag', 'ms', 0, 'lower');
export const DRAIN = column('drainMs', 'time to drain', 'ms', 0, 'lower');
export const PLAIN = column('plainUs', 'without guard', 'µs', 1, 'lower');
export const GUARDED = column('guardedUs', 'with guard', 'µs', 1, 'lower');
export const GUARD_RATIO = column('guardRatio', 'with / without', '×', 2, 'lower');
export const NO_CHANNELS = column('withoutUs', 'without channels', 'µs', 1, 'lower');
export const IDLE_CHANNELS = column('idleUs', 'nobody listens', 'µs', 1, 'lower');
export const SUBSCRIBED = column('subscribedUs', 'with subscribers', 'µs', 1, 'lower');
export const CHANNELS_RATIO = column('channelsRatio', 'nobody listens / without', '×', 3, 'lower');
