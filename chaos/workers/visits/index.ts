/** Every visit by name, and how often each is made. */
import { latch, permit, rate, semaphore } from './counters.ts';
import { badInput } from './input.ts';
import { fair, fenced, forced, lock, multi, readWrite, red, reentry, sections, simple } from './locks.ts';
import type { Visit } from './visit.ts';

const VISITS = {
  lock,
  simple,
  fair,
  readWrite,
  fenced,
  reentry,
  sections,
  multi,
  forced,
  semaphore,
  permit,
  rate,
  latch,
  badInput,
  red,
} satisfies Record<string, Visit>;

export type VisitName = keyof typeof VISITS;

/** What the guard carries through a loss of data. */
export const LOCK_VISITS: readonly VisitName[] = [
  'lock',
  'simple',
  'fair',
  'readWrite',
  'fenced',
  'reentry',
  'sections',
  'multi',
  'forced',
];

/** Everything that one server, or several that act as one, can be asked for. */
export const SHARED_VISITS: readonly VisitName[] = [
  ...LOCK_VISITS,
  'semaphore',
  'permit',
  'rate',
  'latch',
  'badInput',
];

const OFTEN: Partial<Record<VisitName, number>> = {
  lock: 3,
  semaphore: 2,
  readWrite: 2,
  latch: 0.5,
  badInput: 0.1,
};

export function visitOf(name: VisitName): Visit {
  return VISITS[name];
}

/** Visits to pick from at random: the more often, the more times it is listed. */
export function weigh(names: readonly VisitName[]): VisitName[] {
  return names.flatMap((name) => Array.from({ length: Math.ceil(10 * (OFTEN[name] ?? 1)) }, () => name));
}
