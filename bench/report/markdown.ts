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
  const busy = 'when others use more than 5 % of the machine';
  const disturbed =
    pace.again === 0
      ? `${busy}.`
      : `when the bare pair before and after it differs by more than 15 %, or ${busy}. It is then made again, up to ${pace.again} times.`;
  return [
    `${kind} Every measurement has a fresh server and fresh processes. ${pinned}`,
    `A measurement is disturbed ${disturbed} ${DISTURBED} marks contestants with a disturbed measurement.`,
    'Ratios within one run count; figures of different machines cannot be compared.',
    table({
      title: '',
      head: ['date', 'cores', 'processor', 'server', 'Node.js'],
      lines: [[machine.date, String(machine.cores), machine.cpu, machine.server, machine.node]],
    }).replaceAll('---:', '---'),
  ].join('\n\n');
}

const NOT_SHOWN = section(
  'What the figures do not show',
  'Where tasks of one process wait for each other (W3, W4, W7), holdfast passes the lock on inside the process: most of these hand-overs never reach the server. The rows with `passOn: false` show it without.',
  'The others promise less. Most neither renew a lock nor tell its holder of a loss, and those that poll have no order of waiters. The yardsticks promise nothing at all.',
  'Server and clients share one machine: a network adds its round trip to every command, and with it the differences between libraries become smaller.',
);

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
    NOT_SHOWN,
  ];
  return `${parts.join('\n\n')}\n`;
}
