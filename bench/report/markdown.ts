/**
 * The report as Markdown.
 */
import type { Pace } from '../pace.ts';
import type { Results } from '../results.ts';
import type { Machine } from './machine.ts';
import { chartName } from './svg.ts';
import { DISTURBED, goalTable, rowTables, type Table } from './tables.ts';

export interface Report {
  readonly results: Results;
  readonly machine: Machine;
  readonly pace: Pace;
}

function table({ head, lines }: Table): string {
  const align = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [head, align, ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function section(title: string, ...parts: readonly string[]): string {
  return [`## ${title}`, ...parts].join('\n\n');
}

function introduction({ machine, pace }: Report): string {
  const kind =
    pace.name === 'quick'
      ? 'A quick run: one short repetition. It shows that everything works; its figures say little.'
      : `Medians of ${pace.repetitions} interleaved repetitions, in parentheses the least and the most.`;
  const pinned = machine.canPin
    ? 'Where a title names cores, processes are tied to them; the JVM never is.'
    : 'Processes were not tied to cores: this machine has one core or no `taskset`.';
  const again = pace.again === 0 ? '' : ` It is then made again, up to ${pace.again} times.`;
  return [
    `${kind} Every measurement has a fresh server and fresh processes. ${pinned}`,
    `A measurement is disturbed when the bare pair before and after it differs by more than 15 % or when others use more than 5 % of the machine.${again} ${DISTURBED} marks contestants with a disturbed measurement.`,
    `Ratios within one run count; figures of different machines cannot be compared. ${machine.cores} cores (${machine.cpu}), ${machine.server}, Node.js ${machine.node}.`,
  ].join('\n\n');
}

function contestants({ rows, missing }: Results, { versions }: Machine): string {
  const all = new Set(rows.flatMap(({ entries }) => entries.map(({ contestant }) => contestant)));
  const lines = [...all].map(({ title, needs, note }) => {
    const version = needs === undefined ? '' : (versions[needs] ?? '');
    return [title, version, note];
  });
  const absent = missing.map(({ contestant, why }) => `Missing: ${contestant.title}, because ${why}.`);
  const list = table({ title: '', head: ['', 'version', 'how it is used'], lines }).replaceAll('---:', '---');
  return section(
    'Contestants',
    `Each library is used as its README shows, with its documented pauses between attempts; only the number of attempts is unlimited, so that every task gets the lock in the end. All run on ioredis ${versions['ioredis']} unless node-redis (${versions['redis']}) is named.`,
    list,
    ...absent,
  );
}

export function markdownReport(report: Report): string {
  const { results, machine } = report;
  const tables = rowTables(results);
  const sections = results.rows.map((row, index) => {
    const chart = row.entries.length > 1 ? [`![${row.workload.title}](${chartName(row)})`] : [];
    return section((tables[index] as Table).title, table(tables[index] as Table), ...chart);
  });
  const parts = [
    '# Benchmark',
    introduction(report),
    section('Goals', table(goalTable(results))),
    ...sections,
    contestants(results, machine),
  ];
  return `${parts.join('\n\n')}\n`;
}
