/**
 * One-line bars and curves.
 */

const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A bar that is full at 1. */
export function bar(share: number, width = 20): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(full) + '░'.repeat(width - full);
}

/** One character for each value, on a scale from 0 to `top`. */
export function curve(values: readonly number[], top: number): string {
  return values
    .map((value) => {
      const level = Math.floor((Math.max(0, value) / top) * LEVELS.length);
      return LEVELS[Math.min(level, LEVELS.length - 1)];
    })
    .join('');
}
