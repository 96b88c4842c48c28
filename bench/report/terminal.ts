/**
 * The report for the terminal: aligned columns.
 */
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

export function terminalReport(results: Results): string {
  const tables = [...rowTables(results), goalTable(results)].map(draw);
  const missing = results.missing.map(
    ({ contestant, why }) => `Missing: ${contestant.title}, because ${why}.`,
  );
  const legend = `Medians, with the least and the most of all repetitions. ${DISTURBED} The machine was also busy with something else.`;
  return ['', ...tables, [legend, ...missing].join('\n')].join('\n\n');
}
