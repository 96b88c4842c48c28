/**
 * Times for people: the two largest units are enough.
 */

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
];

/** `870 ms`, `27.3 s`, `4 m 10 s`, `2 h 5 m`, or `no expiry`. */
export function lasting(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return 'no expiry';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  for (const [index, [unit, unitMs]] of UNITS.entries()) {
    if (ms < unitMs) continue;
    const [small, smallMs] = UNITS[index + 1] ?? (['s', 1_000] as const);
    const rest = Math.floor((ms % unitMs) / smallMs);
    return `${Math.floor(ms / unitMs)} ${unit}${rest === 0 ? '' : ` ${rest} ${small}`}`;
  }
  // Just below a minute.
  return '1 m';
}

/** `14:03:07`, with the day before it if that is another one. */
export function moment(date: Date, now: Date = new Date()): string {
  const time = date.toTimeString().slice(0, 8);
  if (date.toDateString() === now.toDateString()) return time;
  const two = (number: number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}
