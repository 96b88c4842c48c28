/** What a run found, as sections of text and tables. How it is written down is in `markdown.ts` and `html.ts`. */
import { arch, cpus, platform } from 'node:os';
import type { Fault } from '../fault.ts';
import { MODES, type ModeName } from '../modes.ts';
import type { StormResult } from '../storm.ts';
import type { Counter, WitnessFigures } from '../witness/service.ts';

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface Section {
  readonly title: string;
  readonly text?: string;
  readonly table?: Table;
}

export interface Report {
  readonly title: string;
  readonly sections: readonly Section[];
}

/** One storm, without its events. */
export type CellSummary = Omit<StormResult, 'events'> & {
  readonly mode: ModeName;
  readonly timeline?: string;
};

export interface RunSummary {
  readonly seed: string;
  readonly command: string;
  readonly startedAt: Date;
  readonly tookMs: number;
  readonly servers: readonly string[];
  readonly cells: readonly CellSummary[];
  readonly faults: readonly Fault[];
  readonly witness: Readonly<Record<Counter, WitnessFigures>>;
  /** What workers saw broken: unhandled rejections, leaks of processes. */
  readonly broken: readonly string[];
  readonly mutants: Table | undefined;
  readonly model: Table | undefined;
}

export function operationsOf(cells: readonly CellSummary[]): number {
  return cells.reduce((sum, { verdict }) => sum + verdict.figures.operations, 0);
}

function worst(cells: readonly CellSummary[], figure: 'worstTakeoverMs' | 'worstLossLatenessMs'): string {
  const values = cells.map(({ verdict }) => verdict.figures[figure]).filter((value) => value !== undefined);
  return values.length === 0 ? 'none' : `${Math.round(Math.max(...values))} ms`;
}

export function makeReport(run: RunSummary): Report {
  const { cells, faults, witness, broken } = run;
  const violations = cells.flatMap((cell) => cell.broken.map((violation) => ({ cell, violation })));
  const minutes = (run.tookMs / 60_000).toFixed(1);
  const [cpu] = cpus();
  const summary: Table = {
    columns: ['', ''],
    rows: [
      ['Date', run.startedAt.toISOString().slice(0, 16).replace('T', ' ')],
      ['Command', `\`${run.command}\``],
      ['Seed', run.seed],
      [
        'Machine',
        `${cpus().length} × ${cpu?.model ?? 'unknown'}, ${platform()} ${arch()}, Node ${process.version}`,
      ],
      ['Servers', run.servers.join(', ')],
      ['Time', `${minutes} minutes`],
      ['Storms', cells.length],
      ['Operations checked', operationsOf(cells).toLocaleString('en')],
      ['Faults injected', cells.reduce((sum, { faults: struck }) => sum + struck.length, 0)],
      ['Violations of a promise', violations.length + broken.length],
      ['Violations where none is promised', cells.reduce((sum, { exempt }) => sum + exempt.length, 0)],
      ['Longest time until a waiter took over', worst(cells, 'worstTakeoverMs')],
      ['Longest time from a deadline to its signal', worst(cells, 'worstLossLatenessMs')],
      ['Updates lost without fencing', `${witness.plain.lost} of ${witness.plain.written}`],
      ['Updates lost with fencing, in memory', `${witness.memory.lost} of ${witness.memory.written}`],
      ['Updates lost with fencing, in SQL', `${witness.sql.lost} of ${witness.sql.written}`],
    ],
  };
  const sections: Section[] = [{ title: 'Summary', table: summary }];
  sections.push({
    title: 'Violations of a promise',
    ...(violations.length + broken.length === 0
      ? { text: 'None.' }
      : {
          table: {
            columns: ['cell', 'violation', 'what happened', 'timeline'],
            rows: [
              ...violations.map(({ cell, violation }) => [
                cell.cell.name,
                violation.kind,
                violation.text,
                cell.timeline ?? '',
              ]),
              ...broken.map((text) => ['', 'broken', text, '']),
            ],
          },
        }),
  });
  sections.push(knownToBreak(cells), rowsInjected(cells, faults));
  if (run.mutants !== undefined) sections.push({ title: 'Mutants', table: run.mutants });
  if (run.model !== undefined) sections.push({ title: 'Model', table: run.model });
  sections.push(everyCell(cells));
  return { title: 'Locks under fire', sections };
}

function knownToBreak(cells: readonly CellSummary[]): Section {
  const rows = cells
    .filter(({ exempt }) => exempt.length > 0)
    .map(({ cell, mode, exempt }) => {
      const kinds = new Map<string, number>();
      for (const { kind } of exempt) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const why = cell.strikes
        .map(({ fault }) => fault.exempts?.(MODES[mode])?.why)
        .filter((text) => text !== undefined);
      return [
        cell.name,
        [...kinds].map(([kind, count]) => `${count} × ${kind}`).join(', '),
        [...new Set(why)].join(' '),
      ];
    });
  return {
    title: 'Where nothing is promised',
    text: 'In these modes no client can prevent these violations. They are counted to show that the checker finds them.',
    table: { columns: ['cell', 'violations', 'why'], rows },
  };
}

function rowsInjected(cells: readonly CellSummary[], faults: readonly Fault[]): Section {
  const struck = cells.flatMap((cell) => cell.faults);
  const rows = faults.map((fault) => [
    fault.rows.join(', '),
    fault.name,
    fault.stages.join(', '),
    struck.filter((name) => name === fault.name).length,
  ]);
  rows.sort(([a], [b]) => Number.parseInt(String(a), 10) - Number.parseInt(String(b), 10));
  return { title: 'Faults', table: { columns: ['row', 'fault', 'where', 'times'], rows } };
}

function everyCell(cells: readonly CellSummary[]): Section {
  const rows = cells.map(({ cell, verdict, broken, exempt, faults, tookMs }) => [
    cell.name,
    verdict.figures.operations,
    verdict.figures.grants,
    Object.values(verdict.figures.losses).reduce((sum, count) => sum + count, 0),
    faults.length,
    broken.length,
    exempt.length,
    verdict.verdict,
    `${(tookMs / 1_000).toFixed(1)} s`,
  ]);
  const columns = ['cell', 'operations', 'grants', 'losses', 'faults', 'broken', 'exempt', 'verdict', 'time'];
  return { title: 'Every storm', table: { columns, rows } };
}
