/**
 * A description as a row of the list.
 */
import type { Description } from '../../inspect/description.ts';
import { waitersOf } from '../../inspect/reading.ts';
import type { LockRow, RowHolder } from '../protocol.ts';

/** What a row names; the rest is counted. */
const MOST_HOLDERS = 10;
const MOST_WAITERS = 100;

export type Waiter = LockRow['waiters'][number];

function figuresOf(found: Description): Pick<LockRow, 'token' | 'count' | 'free' | 'rate'> {
  return {
    token: found.kind === 'fenced' ? found.lastToken : null,
    count: 'count' in found ? found.count : null,
    free: 'freePermits' in found ? found.freePermits : null,
    rate: found.kind === 'rateLimiter' ? { permits: found.rate, intervalMs: found.intervalMs } : null,
  };
}

/**
 * @param holders all of them, in order
 * @param ownWaiters those in this process: the server knows the waiters of a fair lock only
 */
export function rowOf(
  found: Description,
  holders: ReadonlyMap<string, RowHolder>,
  ownWaiters: readonly Waiter[],
): LockRow {
  const queued = waitersOf(found).map(({ owner, client }) => ({ owner, label: client?.label ?? null }));
  const waiters = found.kind === 'fair' ? queued : ownWaiters;
  return {
    key: found.key,
    kind: found.kind,
    holders: [...holders.values()].slice(0, MOST_HOLDERS),
    held: found.kind === 'permitSemaphore' ? found.takenPermits : holders.size,
    waiters: waiters.slice(0, MOST_WAITERS),
    waiting: waiters.length,
    ...figuresOf(found),
  };
}
