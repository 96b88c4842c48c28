/** The page's state, and what follows from it. Components read these signals; only `dispatch` changes the state. */
import { computed, signal } from '@preact/signals';
import { view } from '../view/navigation.ts';
import { selectRows } from '../view/select.ts';
import { type Change, INITIAL, reduce, type State, serverTime } from './state.ts';
import { summarise } from './summary.ts';

const current = signal<State>(INITIAL);

/** The time by the page's clock, read once a second. */
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 1_000);

export function dispatch(change: Change): void {
  current.value = reduce(current.value, change);
}

export const connection = computed(() => current.value.connection);
export const lostAt = computed(() => current.value.lostAt);
export const title = computed(() => current.value.title);
export const csrf = computed(() => current.value.csrf);
export const isListed = computed(() => current.value.isListed);
export const rows = computed(() => current.value.rows);
export const points = computed(() => current.value.points);
export const timeline = computed(() => current.value.timeline);
export const health = computed(() => current.value.health);
export const load = computed(() => current.value.load);
export const chartStepMs = computed(() => current.value.chartStepMs);

/** Whether what is shown is told by the server as it changes. */
export const isLive = computed(() => current.value.connection === 'live');

/** The time by the server's clock, which every age is counted by; it moves once a second. */
export const serverNow = computed(() => serverTime(current.value, now.value));

/** The same, to the millisecond. */
export function preciseServerNow(): number {
  return serverTime(current.peek(), Date.now());
}

export const summary = computed(() => summarise(rows.value.values(), points.value));

/** The rows of the list, in order. */
export const selected = computed(() => selectRows(rows.value.values(), view.value));
