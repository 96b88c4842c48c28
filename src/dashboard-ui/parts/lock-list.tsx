/** All locks and counters. Only the rows in sight are in the document, whatever the number of locks is. */
import { useRef } from 'preact/hooks';
import { isNarrow } from '../state/preferences.ts';
import { isListed, rows, selected } from '../state/store.ts';
import { go, view } from '../view/navigation.ts';
import type { Sort } from '../view/view.ts';
import { LockRowLine } from './lock-row.tsx';
import { useRowFocus } from './use-row-focus.ts';
import { useVisibleRange } from './use-visible-range.ts';

/** As in styles/list.css. */
const ROW_HEIGHT = 44;
const NARROW_ROW_HEIGHT = 96;

const COLUMNS: readonly (readonly [Sort, string])[] = [
  ['name', 'Name'],
  ['kind', 'Kind'],
  ['holder', 'Holder'],
  ['age', 'Held for'],
  ['lease', 'Lease left'],
  ['waiting', 'Waiting'],
];

export function LockList() {
  const box = useRef<HTMLDivElement>(null);
  const list = selected.value;
  const rowHeight = isNarrow.value ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
  const { first, end } = useVisibleRange(box, rowHeight, list.length);
  const { active, isChosen } = useRowFocus(box, list, rowHeight);

  const shown = Array.from({ length: end - first }, (_, index) => first + index);
  // The row with the focus stays in the document while the person scrolls away from it.
  if (isChosen && active >= 0 && (active < first || active >= end)) shown.push(active);
  return (
    <div
      role="grid"
      aria-label="Locks and counters"
      aria-rowcount={list.length + 1}
      aria-colcount={COLUMNS.length}
    >
      <div class="sticky heads" role="row" aria-rowindex={1}>
        {COLUMNS.map(([sort, label]) => (
          <Head key={sort} sort={sort} label={label} />
        ))}
      </div>
      <div class="rows" role="rowgroup" ref={box} style={{ height: `${list.length * rowHeight}px` }}>
        {shown.map((index) => {
          const row = list[index];
          return (
            row !== undefined && (
              <LockRowLine
                key={row.key}
                row={row}
                index={index}
                top={index * rowHeight}
                isActive={index === active}
              />
            )
          );
        })}
      </div>
      {list.length === 0 && <Nothing />}
    </div>
  );
}

function Head({ sort, label }: { sort: Sort; label: string }) {
  const isSorted = view.value.sort === sort;
  const { isDescending } = view.value;
  const order = isDescending ? 'descending' : 'ascending';
  return (
    <div role="columnheader" class={`head cell-${sort}`} aria-sort={isSorted ? order : 'none'}>
      <button
        type="button"
        onClick={() => go({ sort, isDescending: isSorted ? !isDescending : sort === 'waiting' })}
      >
        {label}
        <span class="arrow" aria-hidden="true">
          {isSorted ? (isDescending ? '↓' : '↑') : ''}
        </span>
      </button>
    </div>
  );
}

function Nothing() {
  if (!isListed.value) return <p class="nothing">Looking through the server’s keys …</p>;
  return (
    <p class="nothing">
      {rows.value.size === 0 ? 'No lock is held and no counter exists.' : 'No lock fits the filters.'}
    </p>
  );
}
