/**
 * The report for the terminal: aligned columns.
 */
import type { Pace } from '../pace.ts';
import type { Results } from '../results.ts';
import { DISTURBED, goalTable, rowTables, type Table } from './tables.ts';

function draw({ title, head, lines }: Table): string {
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...lines.map((line) => (line[column] ?? '').length)),
  );
  const align = (line: readonly string[]) =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [title, ...[head, ...lines].map((line) => `  ${align(line)}`)].join('\n');
}

const QUICK =
  'A quick run shows that everything works. Its code is not warmed up, so that its ratios say little: the goals are for a full one.';

export function terminalReport(results: Results, { name }: Pace): string {
  const tables = [...rowTables(results), goalTable(results)].map(draw);
  const missing = results.missing.map(
    ({ contestant, why }) => `Missing: ${contestant.title}, because ${why}.`,
  );
  const legend = `Medians, with the least and the most of all repetitions. ${DISTURBED} The machine was also busy with something else.`;
  const notes = [legend, ...(name === 'quick' ? [QUICK] : []), ...missing];
  return ['', ...tables, notes.join('\n')].join('\n\n');
}
