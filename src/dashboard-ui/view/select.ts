/** Which locks the list shows, and in which order. */
import type { LockRow, RowHolder } from '../../dashboard/protocol.ts';
import type { Sort, View } from './view.ts';
import { waiterCount } from './waiters.ts';

/** What people know a holder by: its label, or its owner field where it has none. */
export function holderName({ label, owner }: { label: string | null; owner: string }): string {
  return label ?? owner;
}

export function selectRows(rows: Iterable<LockRow>, view: View): LockRow[] {
  const search = view.search.toLowerCase();
  const holder = view.holder.toLowerCase();
  const selected: LockRow[] = [];
  for (const row of rows) {
    if (view.kind !== null && row.kind !== view.kind) continue;
    if (view.state === 'held' && row.held === 0) continue;
    if (view.state === 'waiting' && waiterCount(row) === 0) continue;
    if (search !== '' && !row.key.toLowerCase().includes(search)) continue;
    if (holder !== '' && !row.holders.some((one) => isHolder(one, holder))) continue;
    selected.push(row);
  }
  return selected.sort(comparison(view.sort, view.isDescending));
}

function isHolder({ label, host, owner }: RowHolder, text: string): boolean {
  return [label, host, owner].some((name) => name?.toLowerCase().includes(text));
}

/** Since when the first of its holders has it; `Infinity` while it is free. */
export function heldSince({ holders }: LockRow): number {
  return holders.reduce((first, { since }) => Math.min(first, since), Number.POSITIVE_INFINITY);
}

/** When the first of its leases ends; `Infinity` without one. */
export function leaseEnd({ holders }: LockRow): number {
  return holders.reduce(
    (first, { endsAt }) => Math.min(first, endsAt ?? Number.POSITIVE_INFINITY),
    Number.POSITIVE_INFINITY,
  );
}

/** What a column is sorted by. An age grows as its beginning recedes. */
const VALUES: Readonly<Record<Sort, (row: LockRow) => string | number>> = {
  name: ({ key }) => key,
  kind: ({ kind }) => kind,
  holder: ({ holders: [first] }) => (first === undefined ? '\uffff' : holderName(first).toLowerCase()),
  age: (row) => -heldSince(row),
  lease: leaseEnd,
  waiting: waiterCount,
};

/** Rows that are equal otherwise keep the order of their names, so that the list does not jump. */
function comparison(sort: Sort, isDescending: boolean): (one: LockRow, other: LockRow) => number {
  const value = VALUES[sort];
  const sign = isDescending ? -1 : 1;
  return (one, other) => sign * compare(value(one), value(other)) || compare(one.key, other.key);
}

function compare(one: string | number, other: string | number): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
