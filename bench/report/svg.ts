/**
 * A workload as a bar chart.
 */
import { type Entry, type Row, spreadOf, valuesOf } from '../results.ts';
import type { Column } from '../workloads/workload.ts';
import { formatFigure } from './format.ts';

const WIDTH = 720;
const LABEL_WIDTH = 190;
const BAR_WIDTH = 400;
const LINE = 24;
const TOP = 44;

const COLOURS = { holdfast: '#0f766e', yardstick: '#a1a1aa', library: '#60a5fa', redisson: '#f59e0b' };

export function chartName({ workload }: Row): string {
  return `${workload.id.toLowerCase()}.svg`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function bar(
  { contestant, measurements }: Entry,
  median: number,
  most: number,
  y: number,
  column: Column,
): string {
  const isMeasured = measurements.length > 0;
  const width = isMeasured ? Math.max(1, (median / most) * BAR_WIDTH) : 0;
  const middle = y + 13;
  return [
    `<text x="${LABEL_WIDTH - 8}" y="${middle}" text-anchor="end">${escapeText(contestant.title)}</text>`,
    `<rect x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="17" fill="${COLOURS[contestant.kind]}"/>`,
    `<text x="${(LABEL_WIDTH + width + 6).toFixed(1)}" y="${middle}">${isMeasured ? formatFigure(median, column) : 'failed'}</text>`,
  ].join('\n');
}

export function drawChart({ workload, entries }: Row): string {
  const [column] = workload.columns;
  const medians = entries.map((entry) => spreadOf(valuesOf(entry, column.figure)).median);
  const most = Math.max(...medians.filter(Number.isFinite));
  const bars = entries.map((entry, i) => bar(entry, medians[i] as number, most, TOP + i * LINE, column));
  const height = TOP + entries.length * LINE + 8;
  const text = 'font-family="system-ui, sans-serif" font-size="12" fill="#52525b"';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" ${text}>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="8" y="18" font-weight="600">${escapeText(`${workload.id}: ${workload.title}`)}</text>
<text x="8" y="34">${escapeText(`${column.title}; ${column.better} is better`)}</text>
${bars.join('\n')}
</svg>
`;
}
