/**
 * The row that the keyboard is at. It stays at its lock while the list changes around it, and moves to the row that took
 * its place when the lock is gone.
 */
import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { LockRow } from '../../dashboard/protocol.ts';
import { isTaken } from './use-keyboard.ts';

/** Kept while a lock's page is open. */
const activeKey = signal<string | null>(null);
let lastIndex = 0;

/** How far a key moves; `innerHeight` worth of rows is a page. */
const STEPS: Readonly<Record<string, (page: number) => number>> = {
  j: () => 1,
  ArrowDown: () => 1,
  k: () => -1,
  ArrowUp: () => -1,
  PageDown: (page) => page,
  PageUp: (page) => -page,
  Home: () => Number.NEGATIVE_INFINITY,
  End: () => Number.POSITIVE_INFINITY,
};
/** Between the row and the edge of the window. */
const MARGIN = 8;
/** Those that scroll the page while the list has not got the focus. */
const IN_LIST_ONLY = /^(?:Page|Home|End)/;

export interface RowFocus {
  /** The index of the active row; -1 in an empty list. */
  readonly active: number;
  readonly isChosen: boolean;
}

export function useRowFocus(
  box: RefObject<HTMLElement | null>,
  list: readonly LockRow[],
  rowHeight: number,
): RowFocus {
  /** Whether the focus belongs to the list: a row that moves in the document loses it. */
  const isWanted = useRef(activeKey.peek() !== null);
  const key = activeKey.value;
  const found = key === null ? -1 : list.findIndex((row) => row.key === key);
  const active = found >= 0 ? found : Math.min(lastIndex, list.length - 1);
  if (found >= 0) lastIndex = found;

  const moveTo = useRef((_index: number) => {});
  moveTo.current = (step) => {
    const start = key === null ? (step > 0 ? -1 : 0) : active;
    const index = Math.max(0, Math.min(list.length - 1, start + step));
    const row = list[index];
    if (row === undefined || box.current === null) return;
    isWanted.current = true;
    lastIndex = index;
    activeKey.value = row.key;
    bringIntoSight(box.current, index, rowHeight);
  };

  useEffect(() => {
    const isInside = (target: EventTarget | null) =>
      target instanceof Node && box.current?.contains(target) === true;
    const onKey = (event: KeyboardEvent) => {
      const step = STEPS[event.key];
      if (step === undefined || isTaken(event) || event.shiftKey) return;
      const inside = isInside(event.target);
      if (!inside && (IN_LIST_ONLY.test(event.key) || isWidget(event.target))) return;
      event.preventDefault();
      moveTo.current(step(Math.max(1, Math.floor(innerHeight / rowHeight) - 4)));
    };
    const onFocus = ({ target }: Event) => {
      isWanted.current = isInside(target);
      const row = target instanceof Element && isWanted.current ? target.closest('[data-key]') : null;
      if (row instanceof HTMLElement) activeKey.value = row.dataset['key'] ?? null;
    };
    const onPointer = ({ target }: Event) => {
      if (!isInside(target)) isWanted.current = false;
    };
    addEventListener('keydown', onKey);
    document.addEventListener('focusin', onFocus);
    document.addEventListener('pointerdown', onPointer);
    return () => {
      removeEventListener('keydown', onKey);
      document.removeEventListener('focusin', onFocus);
      document.removeEventListener('pointerdown', onPointer);
    };
  }, [box, rowHeight]);

  useLayoutEffect(() => {
    if (!isWanted.current) return;
    const row = box.current?.querySelector<HTMLElement>('[data-active]');
    if (row?.contains(document.activeElement) === false) row.focus({ preventScroll: true });
  });

  return { active, isChosen: key !== null };
}

/** Arrow keys belong to these. */
function isWidget(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('summary, [role="columnheader"]') !== null;
}

function bringIntoSight(box: HTMLElement, index: number, rowHeight: number): void {
  const covered = document.querySelector('.sticky')?.getBoundingClientRect().height ?? 0;
  const top = box.getBoundingClientRect().top + index * rowHeight;
  const end = top + rowHeight + MARGIN;
  if (top < covered) scrollBy(0, top - covered);
  else if (end > innerHeight) scrollBy(0, end - innerHeight);
}
