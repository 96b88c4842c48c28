/**
 * All workloads, in the order of the report.
 */
import { ALL, PRIMITIVES, QUEUED } from '../contestants/index.ts';
import { A_CORE_EACH, ONE_CORE } from '../machine/stage.ts';
import { burst } from './burst.ts';
import { channels } from './channels.ts';
import { CLIENT_CPU, CYCLES, JAIN_PROCESSES, JAIN_TASKS, SERVER_CPU, WALL, WORST_WAIT } from './columns.ts';
import { cyclesWorkload } from './cycles.ts';
import { guard } from './guard.ts';
import { handover } from './handover.ts';
import { holds, waitedFor, waiters } from './scale.ts';
import type { Workload } from './workload.ts';

export const WORKLOADS: readonly Workload[] = [
  cyclesWorkload({
    id: 'W1',
    aliases: ['W6'],
    title: 'One task, one free key; server and client on one core',
    contestants: ALL,
    columns: [CYCLES, WALL, CLIENT_CPU, SERVER_CPU],
    processes: 1,
    cores: ONE_CORE,
    order: { tasks: 1, keys: 'one', inside: 'nothing' },
  }),
  cyclesWorkload({
    id: 'primitives',
    title: "holdfast's other primitives in the place of its lock in W1",
    contestants: PRIMITIVES,
    columns: [CYCLES, WALL, CLIENT_CPU, SERVER_CPU],
    processes: 1,
    cores: ONE_CORE,
    order: { tasks: 1, keys: 'one', inside: 'nothing' },
  }),
  guard,
  channels,
  cyclesWorkload({
    id: 'W2',
    title: '64 tasks, a key each; server and client on a core each',
    contestants: ALL,
    columns: [CYCLES, CLIENT_CPU, SERVER_CPU],
    processes: 1,
    cores: A_CORE_EACH,
    order: { tasks: 64, keys: 'one each', inside: 'nothing' },
  }),
  cyclesWorkload({
    id: 'W3',
    title: '100 tasks of one process on one key, one turn of the event loop inside',
    contestants: QUEUED,
    columns: [CYCLES, JAIN_TASKS, WORST_WAIT],
    processes: 1,
    cores: A_CORE_EACH,
    order: { tasks: 100, keys: 'one', inside: 'turn' },
  }),
  cyclesWorkload({
    id: 'W4',
    title: '4 processes with 8 tasks each on one key, a GET and a SET inside',
    contestants: QUEUED,
    columns: [CYCLES, JAIN_PROCESSES, JAIN_TASKS, WORST_WAIT],
    processes: 4,
    order: { tasks: 8, keys: 'one', inside: 'get and set' },
  }),
  handover,
  burst,
  holds,
  waiters,
  waitedFor,
];
