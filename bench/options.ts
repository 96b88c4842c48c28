/**
 * The command line of the bench.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BENCH } from './folders.ts';
import { FULL, type Pace, QUICK } from './pace.ts';
import { WORKLOADS } from './workloads/index.ts';
import type { Workload } from './workloads/workload.ts';

export const HELP = `npm run bench                      everything, three times; about half an hour
npm run bench -- --quick           everything once and shortly: shows that it works, in two minutes
npm run bench -- --only W3,W4      some workloads
npm run bench -- --list            workloads and contestants
npm run bench -- --out dir         where the report goes. Without it a run of everything writes into
                                   bench/results; a quick one and a part only show their figures here
`;

export interface Options {
  readonly pace: Pace;
  readonly workloads: readonly Workload[];
  readonly wantsList: boolean;
  readonly wantsHelp: boolean;
  /** Undefined when no report is written: a part, or a quick run, must not replace the report of a whole one. */
  readonly out: string | undefined;
}

function select(only: string): Workload[] {
  const wanted = new Set(only.split(',').map((id) => id.trim().toLowerCase()));
  const chosen = WORKLOADS.filter(({ id, aliases = [] }) =>
    [id, ...aliases].some((name) => wanted.delete(name.toLowerCase())),
  );
  if (wanted.size > 0) throw new Error(`There is no workload ${[...wanted].join(', ')}; see --list`);
  return chosen;
}

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      only: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const isWhole = !values.quick && values.only === undefined;
  return {
    pace: values.quick ? QUICK : FULL,
    workloads: values.only === undefined ? WORKLOADS : select(values.only),
    wantsList: values.list,
    wantsHelp: values.help,
    out: values.out ?? (isWhole ? join(BENCH, 'results') : undefined),
  };
}
