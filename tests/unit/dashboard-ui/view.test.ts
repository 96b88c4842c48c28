/** What the dashboard's page shows, by its address. */
import { describe, expect, it } from 'vitest';
import { selectRows } from '../../../src/dashboard-ui/view/select.ts';
import { formatView, PLAIN_VIEW, parseView, SORTS, type View } from '../../../src/dashboard-ui/view/view.ts';
import { namedWaiters, waiterCount } from '../../../src/dashboard-ui/view/waiters.ts';
import { holder, row } from './support/rows.ts';

describe('the address', () => {
  it('of the plain view is bare', () => {
    expect(formatView(PLAIN_VIEW)).toBe('?');
    expect(parseView('')).toEqual(PLAIN_VIEW);
  });

  it('brings back every view', () => {
    const views: View[] = [
      { ...PLAIN_VIEW, search: 'a&b=c#d +é', kind: 'fair', state: 'waiting', holder: 'api 1' },
      { ...PLAIN_VIEW, lock: '<img src=x onerror=alert(1)>', isDescending: true },
      ...SORTS.map((sort) => ({ ...PLAIN_VIEW, sort, isDescending: sort === 'age' })),
    ];
    for (const view of views) expect(parseView(formatView(view))).toEqual(view);
  });

  it('is understood as far as it makes sense', () => {
    expect(parseView('?kind=constructor&state=lost&sort=-colour&q=x')).toEqual({
      ...PLAIN_VIEW,
      search: 'x',
    });
  });
});

describe('the list', () => {
  const rows = [
    row('order:2', { kind: 'fair', holders: [holder({ label: 'api', since: 5, endsAt: 90 })], waiting: 1 }),
    row('Order:1', {
      holders: [holder({ label: null, host: null, owner: 'java:1', since: 9, endsAt: null })],
    }),
    row('stock', { kind: 'counter', count: 4 }),
    row('bill', { holders: [holder({ label: 'worker', since: 1, endsAt: 50 }), holder({ since: 3 })] }),
  ];
  const shown = (view: Partial<View>) => selectRows(rows, { ...PLAIN_VIEW, ...view }).map(({ key }) => key);

  it('has everything, by name', () => {
    expect(shown({})).toEqual(['Order:1', 'bill', 'order:2', 'stock']);
    expect(shown({ isDescending: true })).toEqual(['stock', 'order:2', 'bill', 'Order:1']);
  });

  it('is filtered by name, kind, state and holder', () => {
    expect(shown({ search: 'ORDER' })).toEqual(['Order:1', 'order:2']);
    expect(shown({ kind: 'counter' })).toEqual(['stock']);
    expect(shown({ state: 'held' })).toEqual(['Order:1', 'bill', 'order:2']);
    expect(shown({ state: 'waiting' })).toEqual(['order:2']);
    expect(shown({ holder: 'JAVA' })).toEqual(['Order:1']);
    expect(shown({ holder: 'host-1' })).toEqual(['bill', 'order:2']);
    expect(shown({ search: 'order', holder: 'api' })).toEqual(['order:2']);
  });

  it('is sorted by any column, and by name where that is equal', () => {
    expect(shown({ sort: 'kind' })).toEqual(['stock', 'order:2', 'Order:1', 'bill']);
    expect(shown({ sort: 'holder' })).toEqual(['order:2', 'Order:1', 'bill', 'stock']);
    // The youngest first, what is not held before it.
    expect(shown({ sort: 'age' })).toEqual(['stock', 'Order:1', 'order:2', 'bill']);
    expect(shown({ sort: 'lease' })).toEqual(['bill', 'order:2', 'Order:1', 'stock']);
    expect(shown({ sort: 'waiting', isDescending: true })).toEqual(['order:2', 'Order:1', 'bill', 'stock']);
  });
});

describe('the waiters of a row', () => {
  it('are named once for each client, with the number of its calls', () => {
    const one = { owner: 'f0e1d2c3-0000-4000-8000-000000000000', label: 'api' };
    const other = { owner: 'a1b2c3d4-0000-4000-8000-000000000000', label: null };
    const found = row('a', { waiting: 1, ownWaiting: 4, waiters: [one, one, other, one] });
    expect(namedWaiters(found).map(({ name }) => name)).toEqual(['api ×3', 'a1b2c3d4…']);
    expect(waiterCount(found)).toBe(4);
    expect(waiterCount(row('b', { waiting: 7 }))).toBe(7);
    expect(waiterCount(row('c', { waiting: null }))).toBe(0);
  });
});
