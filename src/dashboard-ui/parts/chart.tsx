/** One chart over the last hour, drawn by uPlot. */
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { ChartPoint } from '../../dashboard/protocol.ts';
import { theme } from '../state/preferences.ts';
import { points } from '../state/store.ts';
import { type Curve, chartOptions } from './chart-options.ts';

export interface ChartProps {
  readonly title: string;
  /** Where the figures come from. */
  readonly from: string;
  readonly curves: readonly Curve[];
  readonly format: (value: number) => string;
}

export function Chart({ title, from, curves, format }: ChartProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const last = points.value.length - 1;
  const point = points.value[pointed ?? last];
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <p class="from">{from}</p>
      </figcaption>
      <p class="legend">
        {curves.map((curve) => (
          <span key={curve.label} class={`key is-${curve.colour}`}>
            {curve.label} <b class="figure">{worded(point && curve.value(point), format)}</b>
          </span>
        ))}
      </p>
      <Plot curves={curves} format={format} setPointed={setPointed} label={describe(title, curves, format)} />
    </figure>
  );
}

interface PlotProps {
  readonly curves: readonly Curve[];
  readonly format: (value: number) => string;
  readonly setPointed: (index: number | null) => void;
  readonly label: string;
}

function Plot({ curves, format, setPointed, label }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = points.value;
  const colours = theme.value;

  // Colours are drawn, not styled: another theme needs another drawing.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const options = chartOptions({ width: element.clientWidth, curves, format, setPointed });
    const drawn = new uPlot(options, dataOf(points.peek(), curves), element);
    plot.current = drawn;
    const sizes = new ResizeObserver(() => {
      drawn.setSize({ width: element.clientWidth, height: options.height });
    });
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [curves, format, setPointed, colours]);

  useEffect(() => {
    plot.current?.setData(dataOf(data, curves));
  }, [data, curves]);

  return <div class="plot" ref={box} role="img" aria-label={label} />;
}

function dataOf(all: readonly ChartPoint[], curves: readonly Curve[]): uPlot.AlignedData {
  return [all.map(({ at }) => at / 1_000), ...curves.map(({ value }) => all.map(value))];
}

function worded(value: number | null | undefined, format: ChartProps['format']): string {
  return value === null || value === undefined ? '–' : format(value);
}

/** For those who do not see the drawing: now, and the most of the hour. */
function describe(title: string, curves: readonly Curve[], format: ChartProps['format']): string {
  const texts = curves.map(({ label, value }) => {
    const values = points.value.map(value).filter((one) => one !== null);
    const most = values.length === 0 ? null : Math.max(...values);
    return `${label} ${worded(values.at(-1), format)} now, at most ${worded(most, format)}`;
  });
  return `${title}: ${texts.join('; ')}`;
}
