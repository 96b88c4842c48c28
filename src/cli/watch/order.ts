/**
 * In which order locks are watched.
 */
import type { Description } from '../../inspect/description.ts';
import { holdersOf, labelOf, leaseLeftMs, waitersOf } from '../../inspect/reading.ts';

export const ORDERS = ['name', 'left', 'waiters', 'holder'] as const;
export type Order = (typeof ORDERS)[number];

type Compare = (one: Description, other: Description) => number;

const byKey: Compare = (one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0);

const holder = (found: Description) => {
  const [first] = holdersOf(found);
  return first === undefined ? '\uffff' : labelOf(first);
};

const COMPARE: Record<Order, Compare> = {
  name: byKey,
  // What ends next comes first, and what is not held last.
  left: (one, other) => {
    const [left, right] = [one, other].map((found) => leaseLeftMs(found) ?? Number.MAX_VALUE);
    return left === right ? 0 : (left ?? 0) < (right ?? 0) ? -1 : 1;
  },
  waiters: (one, other) => waitersOf(other).length - waitersOf(one).length,
  holder: (one, other) => (holder(one) < holder(other) ? -1 : holder(one) > holder(other) ? 1 : 0),
};

export function sorted(found: readonly Description[], order: Order): Description[] {
  return [...found].sort((one, other) => COMPARE[order](one, other) || byKey(one, other));
}
