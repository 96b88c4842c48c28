/**
 * Descriptions as the rows of a listing.
 */
import type { Description, HolderInfo } from '../../inspect/description.ts';
import { holdersOf, labelOf, leaseLeftMs, waitersOf } from '../../inspect/reading.ts';
import { printable } from './printable.ts';
import { lasting, moment } from './time.ts';

export const LISTING_HEADER = ['NAME', 'KIND', 'HOLDER', 'SINCE', 'LEFT', 'WAITERS', 'MORE'] as const;

/** A cell without a value. */
const NONE = '-';

export function kindOf(found: Description): string {
  switch (found.kind) {
    case 'readWrite':
      return found.mode === 'write' ? 'write lock' : 'read lock';
    case 'permitSemaphore':
      return 'permits';
    case 'rateLimiter':
      return 'rate limiter';
    default:
      return found.kind;
  }
}

function entered({ holdCount }: HolderInfo): string[] {
  return holdCount > 1 ? [`entered ${holdCount} times`] : [];
}

/** What is particular to the kind. */
export function detailsOf(found: Description): string {
  switch (found.kind) {
    case 'fenced':
      return [`token ${found.lastToken}`, ...found.holders.flatMap(entered)].join(', ');
    case 'readWrite':
      return found.holders.length === 1 ? '' : `${found.holders.length} holders`;
    case 'lock':
    case 'fair':
    case 'simple':
      return found.holders.flatMap(entered).join(', ');
    case 'permitSemaphore':
      return `${found.takenPermits} of ${found.takenPermits + found.freePermits} taken`;
    case 'semaphore':
      return `${found.freePermits} free`;
    case 'rateLimiter': {
      const { rate, intervalMs, freePermits, mode } = found;
      const left = freePermits === null ? '' : `, ${freePermits} left`;
      return `${rate} per ${lasting(intervalMs)}${mode === 'perClient' ? ' and client' : ''}${left}`;
    }
    case 'latch':
    case 'counter':
      return `count ${found.count}`;
    case 'other':
      return `a Redis ${found.type}, not a lock`;
    case 'free':
      return '';
  }
}

function holderCell(found: Description): string {
  const [first, ...others] = holdersOf(found);
  if (first === undefined) return NONE;
  return printable(labelOf(first)) + (others.length === 0 ? '' : ` +${others.length}`);
}

function sinceCell(found: Description, now: Date): string {
  const [since] = holdersOf(found)
    .flatMap(({ heldSince }) => heldSince ?? [])
    .sort((one, other) => one.getTime() - other.getTime());
  return since === undefined ? NONE : moment(since, now);
}

/** @param name how the user calls it */
export function listingRow(name: string, found: Description, now: Date): string[] {
  const leftMs = leaseLeftMs(found);
  return [
    printable(name),
    kindOf(found),
    holderCell(found),
    sinceCell(found, now),
    leftMs === null ? NONE : lasting(leftMs),
    found.kind === 'fair' ? String(waitersOf(found).length) : NONE,
    detailsOf(found),
  ];
}
