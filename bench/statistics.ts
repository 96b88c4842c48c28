/**
 * The few statistics that the bench reports.
 */

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Jain's fairness index: 1 when all got the same, 1/n when one got everything. */
export function jain(values: readonly number[]): number {
  const squares = sum(values.map((value) => value * value));
  return squares === 0 ? 0 : sum(values) ** 2 / (values.length * squares);
}
