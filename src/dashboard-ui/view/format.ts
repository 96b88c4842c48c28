/** Figures and times as people read them. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration in at most two units: `7 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.floor(ms / SECOND)) * SECOND;
  if (whole < MINUTE) return `${whole / SECOND} s`;
  if (whole < HOUR) return pair(whole, MINUTE, 'min', SECOND, 's');
  if (whole < DAY) return pair(whole, HOUR, 'h', MINUTE, 'min');
  return pair(whole, DAY, 'd', HOUR, 'h');
}

function pair(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((ms % large) / small);
  const first = `${Math.floor(ms / large)} ${largeUnit}`;
  return rest === 0 ? first : `${first} ${rest} ${smallUnit}`;
}

/** A length of time that somebody chose: to the millisecond if it is short. */
export function formatInterval(ms: number): string {
  return ms < SECOND ? `${ms} ms` : formatDuration(ms);
}

/** A short duration with its fraction: `0.4 ms`, `85 ms`, `1.25 s`. */
export function formatLatency(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  return ms < MINUTE ? `${(ms / SECOND).toFixed(2)} s` : formatDuration(ms);
}

const wholeNumbers = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 });

export function formatNumber(value: number): string {
  return wholeNumbers.format(value);
}

/** `4.2 %`; a share that is not nothing is never shown as nothing. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  return `${wholeNumbers.format(percent)} %`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${formatNumber(bytes)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${wholeNumbers.format(bytes / 1_024 ** power)} ${units[power - 1]}`;
}

const times = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** `14:03:59` */
export function formatTime(at: number): string {
  return times.format(at);
}

/** With the day. */
export function formatMoment(at: number): string {
  return moments.format(at);
}
