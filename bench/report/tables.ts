/**
 * The report as tables of strings, which the terminal and Markdown write in their own ways.
 */
import { type Entry, isDisturbed, type Results, type Row, spreadOf, valuesOf } from '../results.ts';
import { formatNumber, formatSpread } from './format.ts';
import { goalsOf, isReached } from './goals.ts';

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly lines: readonly (readonly string[])[];
}

/** Marks what was measured while the machine was busy with something else. */
export const DISTURBED = '~';

function firstLine([failure = '']: readonly string[]): string {
  return failure.split('\n')[0] ?? '';
}

function lineOf(entry: Entry, { workload }: Row): string[] {
  const { contestant, measurements, failures } = entry;
  const mark = isDisturbed(entry) ? ` ${DISTURBED}` : '';
  if (measurements.length === 0) {
    return [contestant.title, firstLine(failures), ...workload.columns.slice(1).map(() => '')];
  }
  const repetitions = measurements.length + failures.length;
  const count = failures.length === 0 ? '' : ` (${measurements.length} of ${repetitions})`;
  const cells = workload.columns.map(({ figure, digits }) =>
    formatSpread(spreadOf(valuesOf(entry, figure)), digits),
  );
  return [`${contestant.title}${count}${mark}`, ...cells];
}

function rowTable(row: Row): Table {
  const { workload, entries } = row;
  const head = workload.columns.map(({ title, unit }) => (unit === '' ? title : `${title}, ${unit}`));
  return {
    title: `${workload.id}: ${workload.title}`,
    head: ['', ...head],
    lines: entries.map((entry) => lineOf(entry, row)),
  };
}

export function goalTable(results: Results): Table {
  const lines = goalsOf(results).map((goal) => {
    const { what, sense, limit, unit, digits, measured } = goal;
    const number = formatNumber(limit, Number.isInteger(limit) ? 0 : 2);
    return [
      what,
      `${sense === 'at most' ? '≤' : '≥'} ${number} ${unit}`.trimEnd(),
      measured === undefined ? '' : formatSpread(measured, digits),
      isReached(goal) ? 'reached' : 'missed',
    ];
  });
  return { title: 'Goals', head: ['', 'goal', 'measured', ''], lines };
}

export function rowTables({ rows }: Results): readonly Table[] {
  return rows.map(rowTable);
}
