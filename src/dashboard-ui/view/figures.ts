/** What a counter has in place of a holder: its count, its free permits, its rate; the last token of a fenced lock. */
import type { LockRow } from '../../dashboard/protocol.ts';
import { formatInterval, formatNumber } from './format.ts';

export function figuresOf({ kind, held, count, free, rate, token }: LockRow): string {
  const figures: string[] = [];
  if (count !== null) figures.push(kind === 'latch' ? `${formatNumber(count)} to go` : formatNumber(count));
  if (rate !== null) figures.push(`${formatNumber(rate.permits)} per ${formatInterval(rate.intervalMs)}`);
  if (free !== null) figures.push(`${formatNumber(free)} free`);
  if (kind === 'permitSemaphore') figures.push(`${formatNumber(held)} taken`);
  if (token !== null) figures.push(`token ${formatNumber(token)}`);
  return figures.join(', ');
}
