/** The view in the address bar: read from it, written to it, and followed when the person goes back. */
import { computed, signal } from '@preact/signals';
import { formatView, parseView, type View } from './view.ts';

const query = signal(location.search);
addEventListener('popstate', () => {
  query.value = location.search;
});

export const view = computed(() => parseView(query.value));

/** The address of the view with these changes. */
export function addressOf(changes: Partial<View>): string {
  return formatView({ ...view.value, ...changes });
}

/**
 * Changes the view. Each change is a step that the back button undoes; `isSameStep`: it continues the last one, as the
 * next letter of a search does.
 */
export function go(changes: Partial<View>, { isSameStep = false } = {}): void {
  const asked = formatView({ ...view.peek(), ...changes });
  const address = location.pathname + (asked === '?' ? '' : asked);
  if (address === location.pathname + location.search) return;
  if (isSameStep) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  query.value = location.search;
}

/** For links: the browser keeps its ways of opening them elsewhere. */
export function follow(event: MouseEvent, changes: Partial<View>): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(changes);
}
