/** What the person or the system prefers: colours, motion, and how much room there is. */
import { effect, type ReadonlySignal, signal } from '@preact/signals';

export type Theme = 'light' | 'dark';
const KEPT_AS = 'holdfast-theme';

function matches(query: string): ReadonlySignal<boolean> {
  const list = matchMedia(query);
  const matched = signal(list.matches);
  list.addEventListener('change', () => {
    matched.value = list.matches;
  });
  return matched;
}

const prefersDark = matches('(prefers-color-scheme: dark)');
export const prefersStillness = matches('(prefers-reduced-motion: reduce)');
/** One column, rows of several lines. */
export const isNarrow = matches('(max-width: 719px)');
/** Room for panels beside the list. */
export const isWide = matches('(min-width: 1180px)');

const chosen = signal<Theme | null>(keptTheme());
export const theme = signal<Theme>('light');

effect(() => {
  theme.value = chosen.value ?? (prefersDark.value ? 'dark' : 'light');
  document.documentElement.dataset['theme'] = theme.value;
});

export function switchTheme(): void {
  chosen.value = theme.value === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(KEPT_AS, chosen.value);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

function keptTheme(): Theme | null {
  try {
    const kept = localStorage.getItem(KEPT_AS);
    return kept === 'light' || kept === 'dark' ? kept : null;
  } catch {
    return null;
  }
}
