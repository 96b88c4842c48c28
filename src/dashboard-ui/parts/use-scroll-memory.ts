/** A lock's page begins at its top; the list is found again where it was left. */
import { useLayoutEffect, useRef } from 'preact/hooks';

export function useScrollMemory(isLockOpen: boolean): void {
  const listAt = useRef(0);
  useLayoutEffect(() => {
    history.scrollRestoration = 'manual';
    scrollTo(0, isLockOpen ? 0 : listAt.current);
    if (isLockOpen) return;
    const remember = () => {
      listAt.current = scrollY;
    };
    addEventListener('scroll', remember, { passive: true });
    return () => removeEventListener('scroll', remember);
  }, [isLockOpen]);
}
