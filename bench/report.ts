/**
 * Prints figures as a small table.
 */
import type { Figure } from './scenario.ts';

function round(value: number): string {
  return value.toFixed(Math.abs(value) < 100 ? 2 : 0);
}

export function printReport(title: string, figures: readonly Figure[], tookMs: number): void {
  const width = Math.max(...figures.map(({ what }) => what.length));
  const lines = figures.map(
    ({ what, value, unit }) => `  ${what.padEnd(width)}  ${round(value).padStart(8)} ${unit}`,
  );
  process.stdout.write(`${title} (${(tookMs / 1_000).toFixed(1)} s)\n${lines.join('\n')}\n\n`);
}
