/**
 * A workload as a bar chart.
 */
import type { Kind } from '../contestants/contestant.ts';
import { type Entry, type Row, spreadOf, valuesOf } from '../results.ts';
import type { Column } from '../workloads/workload.ts';
import { formatFigure } from './format.ts';

const WIDTH = 720;
const LABEL_WIDTH = 190;
const BAR_WIDTH = 400;
const LINE = 24;
const TOP = 48;

/** Each reads well on white and on black. */
const COLOURS: Readonly<Record<Kind, string>> = {
  holdfast: '#0d9488',
  yardstick: '#8b8b95',
  library: '#3b82f6',
  redisson: '#d97706',
};

const LEGEND: Readonly<Record<Kind, string>> = {
  holdfast: 'holdfast',
  yardstick: 'yardstick',
  library: 'library',
  redisson: 'Redisson',
};
const LEGEND_WIDTH = 82;

/** A page that shows the chart as an image cannot style it: it brings its own colours for both schemes. */
const STYLE = `<style>
.paper { fill: #ffffff }
text { fill: #27272a; font: 12px system-ui, sans-serif }
.strong { font-weight: 600 }
@media (prefers-color-scheme: dark) { .paper { fill: #0d1117 } text { fill: #e4e4e7 } }
</style>`;

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
  const weight = contestant.kind === 'holdfast' ? ' class="strong"' : '';
  return [
    `<text x="${LABEL_WIDTH - 8}" y="${middle}" text-anchor="end"${weight}>${escapeText(contestant.title)}</text>`,
    `<rect x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="17" rx="2" fill="${COLOURS[contestant.kind]}"/>`,
    `<text x="${(LABEL_WIDTH + width + 6).toFixed(1)}" y="${middle}"${weight}>${isMeasured ? formatFigure(median, column) : 'failed'}</text>`,
  ].join('\n');
}

/** What the colours of this chart stand for, at its upper right. */
function legend(entries: readonly Entry[]): string {
  const kinds = [...new Set(entries.map(({ contestant }) => contestant.kind))];
  return kinds
    .map((kind, i) => {
      const x = WIDTH - (kinds.length - i) * LEGEND_WIDTH;
      return `<rect x="${x}" y="25" width="10" height="10" rx="2" fill="${COLOURS[kind]}"/><text x="${x + 15}" y="34">${LEGEND[kind]}</text>`;
    })
    .join('\n');
}

export function drawChart({ workload, entries }: Row): string {
  const [column] = workload.columns;
  const medians = entries.map((entry) => spreadOf(valuesOf(entry, column.figure)).median);
  const most = Math.max(...medians.filter(Number.isFinite));
  const bars = entries.map((entry, i) => bar(entry, medians[i] as number, most, TOP + i * LINE, column));
  const height = TOP + entries.length * LINE + 8;
  const title = escapeText(`${workload.id}: ${workload.title}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>${title}</title>
${STYLE}
<rect class="paper" width="100%" height="100%"/>
<text x="8" y="18" class="strong">${title}</text>
<text x="8" y="34">${escapeText(`${column.title}; ${column.better} is better`)}</text>
${legend(entries)}
${bars.join('\n')}
</svg>
`;
}
