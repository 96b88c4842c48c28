/** The figures of the tiles. */
import type { ChartPoint, LockRow } from '../../dashboard/protocol.ts';

export interface Summary {
  /** By sampling. */
  readonly held: number;
  readonly waiting: number;
  /** By events of the last hour; null where no client tells. */
  readonly calls: number | null;
  readonly contended: number | null;
  readonly losses: number | null;
}

export function summarise(rows: Iterable<LockRow>, points: readonly ChartPoint[]): Summary {
  let held = 0;
  let waiting = 0;
  for (const row of rows) {
    if (row.held > 0) held += 1;
    waiting += row.waiting ?? 0;
  }
  return {
    held,
    waiting,
    calls: totalOf(points, 'acquired'),
    contended: totalOf(points, 'contended'),
    losses: totalOf(points, 'losses'),
  };
}

/** Null if no point knows. */
function totalOf(points: readonly ChartPoint[], what: 'acquired' | 'contended' | 'losses'): number | null {
  return points.reduce<number | null>(
    (sum, { [what]: value }) => (value === null ? sum : (sum ?? 0) + value),
    null,
  );
}
