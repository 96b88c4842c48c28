/**
 * Numbers as the report writes them.
 */
import type { Spread } from '../results.ts';
import type { Column } from '../workloads/workload.ts';

export function formatNumber(value: number | undefined, digits: number): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function formatFigure(value: number | undefined, { digits, unit }: Column): string {
  return `${formatNumber(value, digits)} ${unit}`.trimEnd();
}

/** The median, and the least and the most beside it where they differ from it. */
export function formatSpread({ median, least, most }: Spread, digits: number): string {
  const [middle, low, high] = [median, least, most].map((value) => formatNumber(value, digits));
  return low === high ? `${middle}` : `${middle} (${low}–${high})`;
}
