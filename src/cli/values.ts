/**
 * Reads the values of flags. Commander turns an `InvalidArgumentError` into one line that names the flag.
 */
import { InvalidArgumentError } from 'commander';

const UNIT_MS: Readonly<Record<string, number>> = {
  '': 1,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A time in milliseconds, or with a unit: `500`, `500ms`, `30s`, `5m`, `2h`, `1d`. */
export function duration(text: string): number {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  const ms = Math.round(Number(digits) * (UNIT_MS[unit] ?? Number.NaN));
  if (Number.isSafeInteger(ms)) return ms;
  throw new InvalidArgumentError('Expected milliseconds, or a number with ms, s, m, h or d.');
}

/** A time of at least a millisecond. */
export function positiveDuration(text: string): number {
  const ms = duration(text);
  if (ms > 0) return ms;
  throw new InvalidArgumentError('Expected a time above 0.');
}

/** How long to wait: a time, or `forever`. */
export function patience(text: string): number {
  return text === 'forever' ? Number.POSITIVE_INFINITY : duration(text);
}

/** The name of a lock or synchronizer. */
export function primitiveName(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Expected a name that is not empty.');
}

/** A whole number of at least 1. */
export function count(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('Expected a whole number of at least 1.');
}

/** A whole number of at least 0. */
export function wholeNumber(text: string): number {
  return text === '0' ? 0 : count(text);
}

/** How many replicas must acknowledge: a number, `auto` or `majority`. */
export function requiredReplicas(text: string): number | 'auto' | 'majority' {
  if (text === 'auto' || text === 'majority') return text;
  if (/^\d+$/.test(text)) return wholeNumber(text);
  throw new InvalidArgumentError('Expected a number, auto or majority.');
}

export interface HostAndPort {
  readonly host: string;
  readonly port?: number;
}

function address(text: string): HostAndPort {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port ?? 1) > 65_535 || Number(port ?? 1) < 1) {
    throw new InvalidArgumentError('Expected host:port.');
  }
  return port === undefined ? { host } : { host, port: Number(port) };
}

/** `host:port`, `[::1]:port` or `host`; a flag that may be repeated, or list several with commas. */
export function addresses(text: string, before: readonly HostAndPort[] = []): readonly HostAndPort[] {
  return [...before, ...text.split(',').map((part) => address(part.trim()))];
}
