/** The keys that work anywhere on the page. Moving through the list is the list's own. */
import { useEffect } from 'preact/hooks';
import { go, view } from '../view/navigation.ts';
import { isHelpOpen } from './help-dialog.tsx';
import { searchField } from './toolbar.tsx';

/** Whether the key belongs to the element that has the focus, or to a dialog. */
export function isTaken({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || document.querySelector('dialog[open]') !== null) return true;
  return target instanceof Element && target.closest('input, select, textarea') !== null;
}

export function useKeyboard(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTaken(event)) return;
      if (event.key === '/' && view.peek().lock === null) {
        event.preventDefault();
        searchField.current?.focus();
      } else if (event.key === '?') {
        event.preventDefault();
        isHelpOpen.value = true;
      } else if (event.key === 'Escape' && view.peek().lock !== null) {
        go({ lock: null });
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
