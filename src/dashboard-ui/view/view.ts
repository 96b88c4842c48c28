/** What the person wants to see, and its form in the address bar, so that it can be kept, shared and gone back to. */
import type { LockRow } from '../../dashboard/protocol.ts';

export type Kind = LockRow['kind'];

export const SORTS = ['name', 'kind', 'holder', 'age', 'lease', 'waiting'] as const;
export type Sort = (typeof SORTS)[number];

export interface View {
  /** The key of the lock whose page is open. */
  readonly lock: string | null;
  readonly search: string;
  readonly kind: Kind | null;
  readonly state: 'held' | 'waiting' | null;
  /** A part of the holder's label, host or owner. */
  readonly holder: string;
  readonly sort: Sort;
  readonly isDescending: boolean;
}

export const PLAIN_VIEW: View = {
  lock: null,
  search: '',
  kind: null,
  state: null,
  holder: '',
  sort: 'name',
  isDescending: false,
};

/** Every kind, with the word for it. */
export const KINDS: Readonly<Record<Kind, string>> = {
  lock: 'Lock',
  fair: 'Fair lock',
  fenced: 'Fenced lock',
  readWrite: 'Read/write lock',
  simple: 'Simple lock',
  semaphore: 'Semaphore',
  permitSemaphore: 'Permit semaphore',
  latch: 'Latch',
  rateLimiter: 'Rate limiter',
  counter: 'Counter',
  other: 'Other key',
  free: 'Free',
};

/** The view that a query asks for. What it does not understand is left out. */
export function parseView(query: string): View {
  const asked = new URLSearchParams(query);
  const kind = asked.get('kind') ?? '';
  const state = asked.get('state');
  const order = asked.get('sort') ?? '';
  const sort = SORTS.find((name) => name === order.replace(/^-/, ''));
  return {
    lock: asked.get('lock'),
    search: asked.get('q') ?? '',
    kind: Object.hasOwn(KINDS, kind) ? (kind as Kind) : null,
    state: state === 'held' || state === 'waiting' ? state : null,
    holder: asked.get('holder') ?? '',
    sort: sort ?? PLAIN_VIEW.sort,
    isDescending: sort !== undefined && order.startsWith('-'),
  };
}

/** The query of a view: `?…`, or `?` alone for the plain one. */
export function formatView(view: View): string {
  const query = new URLSearchParams();
  if (view.search !== '') query.set('q', view.search);
  if (view.kind !== null) query.set('kind', view.kind);
  if (view.state !== null) query.set('state', view.state);
  if (view.holder !== '') query.set('holder', view.holder);
  const isPlain = view.sort === PLAIN_VIEW.sort && !view.isDescending;
  if (!isPlain) query.set('sort', `${view.isDescending ? '-' : ''}${view.sort}`);
  if (view.lock !== null) query.set('lock', view.lock);
  return `?${query}`;
}

/** Whether the list leaves anything out. */
export function isFiltered({ search, kind, state, holder }: View): boolean {
  return search !== '' || kind !== null || state !== null || holder !== '';
}
