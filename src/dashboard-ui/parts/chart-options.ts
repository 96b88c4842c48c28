/** How uPlot draws a chart of this page. */
import uPlot from 'uplot';
import type { ChartPoint } from '../../dashboard/protocol.ts';

export interface Curve {
  readonly label: string;
  readonly colour: 'accent' | 'ink' | 'warning' | 'bad';
  /** Mostly nothing: drawn as single bars. */
  readonly isRare?: boolean;
  readonly value: (point: ChartPoint) => number | null;
}

const HEIGHT = 120;
const SPAN_SECONDS = 3_600;
/** The cursor is at the same moment in all charts. */
const TOGETHER = 'last-hour';
const BAR_PIXELS = 3;
const FONT = '11px system-ui, sans-serif';

interface Wanted {
  readonly width: number;
  readonly curves: readonly Curve[];
  readonly format: (value: number) => string;
  readonly setPointed: (index: number | null) => void;
}

export function chartOptions({ width, curves, format, setPointed }: Wanted): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis: uPlot.Axis = {
    stroke: colour('ink-2'),
    font: FONT,
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars?.({ size: [1, BAR_PIXELS, BAR_PIXELS] });
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    padding: [6, 8, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 }, sync: { key: TOGETHER } },
    scales: {
      // A dashboard that has just started has a short line at the right.
      x: { range: (_plot, _first, last) => [last - SPAN_SECONDS, last] },
      y: { range: (_plot, _least, most) => [0, Math.max(1, most * 1.1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        space: 70,
        values: (_plot, seconds) => seconds.map(hourAndMinute),
      },
      {
        ...axis,
        size: 52,
        space: 28,
        values: (_plot, values) => values.map((value) => ticked(value, format)),
      },
    ],
    series: [
      {},
      ...curves.map(
        ({ label, colour: name, isRare = false }): uPlot.Series => ({
          label,
          stroke: colour(name),
          width: 1.5,
          points: { show: false },
          ...(name === 'accent' ? { fill: colour('accent-soft') } : {}),
          ...(isRare && bars !== undefined ? { fill: colour(name), paths: bars } : {}),
        }),
      ),
    ],
    hooks: { setCursor: [({ cursor }) => setPointed(cursor.idx ?? null)] },
  };
}

function hourAndMinute(seconds: number): string {
  const at = new Date(seconds * 1_000);
  return `${at.getHours()}:${String(at.getMinutes()).padStart(2, '0')}`;
}

/** Nothing between whole numbers is counted. */
function ticked(value: number, format: Wanted['format']): string {
  return value > 0 && value < 1 ? '' : value === 0 ? '0' : format(value);
}
