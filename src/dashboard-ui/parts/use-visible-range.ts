/** Which rows of a list that scrolls with the page are in sight. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

export interface Range {
  readonly first: number;
  /** The one after the last. */
  readonly end: number;
}

/** Rows beyond the edges, so that a fast scroll shows no gap. */
const BEYOND = 12;

export function useVisibleRange(box: RefObject<HTMLElement | null>, rowHeight: number, count: number): Range {
  const [range, setRange] = useState<Range>({ first: 0, end: 40 });

  useLayoutEffect(() => {
    const look = () => {
      if (box.current === null) return;
      const { top } = box.current.getBoundingClientRect();
      const first = Math.max(0, Math.min(count, Math.floor(-top / rowHeight) - BEYOND));
      const end = Math.max(first, Math.min(count, Math.ceil((innerHeight - top) / rowHeight) + BEYOND));
      setRange((last) => (last.first === first && last.end === end ? last : { first, end }));
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    // What is above the list may fold or grow.
    const sizes = new ResizeObserver(look);
    sizes.observe(document.body);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
      sizes.disconnect();
    };
  }, [box, rowHeight, count]);

  return { first: Math.min(range.first, count), end: Math.min(range.end, count) };
}
