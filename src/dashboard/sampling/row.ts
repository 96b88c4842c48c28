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
 * @param listening how many clients listen on its channel; undefined where that is not known
 * @param ownWaiters the calls of the dashboard's client: the server knows the waiters of a fair lock only
 */
export function rowOf(
  found: Description,
  holders: ReadonlyMap<string, RowHolder>,
  listening: number | undefined,
  ownWaiters: readonly Waiter[],
): LockRow {
  const queued = waitersOf(found).map(({ owner, client }) => ({ owner, label: client?.label ?? null }));
  const isQueue = found.kind === 'fair';
  const waiters = isQueue ? queued : ownWaiters;
  return {
    key: found.key,
    kind: found.kind,
    holders: [...holders.values()].slice(0, MOST_HOLDERS),
    held: found.kind === 'permitSemaphore' ? found.takenPermits : holders.size,
    waiters: waiters.slice(0, MOST_WAITERS),
    waiting: isQueue ? queued.length : (listening ?? null),
    ownWaiting: ownWaiters.length,
    ...figuresOf(found),
  };
}
