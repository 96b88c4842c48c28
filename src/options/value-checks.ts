/**
 * The checks of single values: of which type and in which range an option may be.
 */
import { OptionError } from '../errors.ts';

/** Checks one value: returns it, or throws an `OptionError`. `what` names the value in the message. */
export type Check<T> = (value: unknown, what: string) => T;

export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): Check<number> {
  const upTo = most === Number.MAX_SAFE_INTEGER ? '2^53 - 1' : most;
  return (value, what) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most)
      return value;
    throw new OptionError(`${what} must be a whole number from ${least} to ${upTo}, not ${show(value)}`);
  };
}

/** A time, or `Infinity` for one without an end. */
export function lasting(least: number): Check<number> {
  return (value, what) => {
    if (value === Number.POSITIVE_INFINITY) return value;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
    const wanted = `a whole number from ${least} to 2^53 - 1 or Infinity`;
    throw new OptionError(`${what} must be ${wanted}, not ${show(value)}`);
  };
}

export function positive(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  throw new OptionError(`${what} must be a number above 0, not ${show(value)}`);
}

export function boolean(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value;
  throw new OptionError(`${what} must be true or false, not ${show(value)}`);
}

export function callback<F>(value: unknown, what: string): F {
  if (typeof value === 'function') return value as F;
  throw new OptionError(`${what} must be a function, not ${show(value)}`);
}

export function text(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new OptionError(`${what} must be a non-empty string, not ${show(value)}`);
}

/** Control characters, line separators and lone surrogates would garble logs and listings. */
export function label(value: unknown, what: string): string {
  if (typeof value === 'string' && /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u.test(value)) return value;
  throw new OptionError(`${what} must be a string of 1 to 200 printable characters, not ${show(value)}`);
}

export function abortSignal(value: unknown, what: string): AbortSignal {
  if (value instanceof AbortSignal) return value;
  throw new OptionError(`${what} must be an AbortSignal, not ${show(value)}`);
}

/** For values checked elsewhere: whether an owner belongs to the client, which back-off a spin lock can use. */
export function anything(value: unknown): unknown {
  return value;
}

export function replicaRequirement(value: unknown, what: string): number | 'auto' | 'majority' {
  if (value === 'auto' || value === 'majority') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new OptionError(
    `${what} must be 'auto', 'majority' or a whole number of at least 0, not ${show(value)}`,
  );
}

/** On, off, or on with a given grace. */
export function guard(value: unknown, what: string): boolean | { readonly graceMs: number } {
  if (typeof value === 'boolean') return value;
  const { graceMs, ...others } = Object(value);
  if (typeof value !== 'object' || value === null || Object.keys(others).length > 0) {
    throw new OptionError(`${what} must be true, false or { graceMs }, not ${show(value)}`);
  }
  return { graceMs: integer(100)(graceMs, `${what}.graceMs`) };
}

export const drainMs = lasting(0);

/** On, off, or on with time for what is held. */
export function signals(value: unknown, what: string): boolean | { readonly drainMs: number } {
  if (typeof value === 'boolean') return value;
  const { drainMs: time, ...others } = Object(value);
  if (typeof value !== 'object' || value === null || Object.keys(others).length > 0) {
    throw new OptionError(`${what} must be true, false or { drainMs }, not ${show(value)}`);
  }
  return { drainMs: drainMs(time, `${what}.drainMs`) };
}

/** On, off, or on within given limits. */
export function passOn(value: unknown, what: string): boolean | { maxMs?: number; maxHolds?: number } {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) {
    throw new OptionError(`${what} must be true, false or { maxMs, maxHolds }, not ${show(value)}`);
  }
  const { maxMs, maxHolds, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0) {
    throw new OptionError(`${what} must be true, false or { maxMs, maxHolds }, not ${show(value)}`);
  }
  return {
    ...(maxMs !== undefined && { maxMs: integer(1)(maxMs, `${what}.maxMs`) }),
    ...(maxHolds !== undefined && { maxHolds: integer(1)(maxHolds, `${what}.maxHolds`) }),
  };
}

/** Accepts only the values that this version supports. */
export function only<T>(allowed: readonly T[], expected: string): Check<T> {
  return (value, what) => {
    if (allowed.includes(value as T)) return value as T;
    throw new OptionError(`${what} must be ${expected}, not ${show(value)}`);
  };
}
