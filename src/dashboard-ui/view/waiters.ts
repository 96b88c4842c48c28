/** The waiters of a row: how many there are, and those that are named. */
import type { LockRow } from '../../dashboard/protocol.ts';
import { shortOwner } from './owner.ts';

/** At least so many: several calls of one client listen as one. */
export function waiterCount({ waiting, ownWaiting }: LockRow): number {
  return Math.max(waiting ?? 0, ownWaiting);
}

export interface NamedWaiter {
  readonly owner: string;
  readonly name: string;
}

/** The named waiters in order. Calls that have no owner yet are those of one client, named once: `label ×3`. */
export function namedWaiters({ waiters }: LockRow): NamedWaiter[] {
  const counts = new Map<string, number>();
  for (const { owner } of waiters) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const labels = new Map(waiters.map(({ owner, label }) => [owner, label ?? shortOwner(owner)]));
  return [...counts].map(([owner, count]) => {
    const name = labels.get(owner) ?? '';
    return { owner, name: count === 1 ? name : `${name} ×${count}` };
  });
}
