/** One lock or counter in the list. */
import type { LockRow, RowHolder } from '../../dashboard/protocol.ts';
import { figuresOf } from '../view/figures.ts';
import { formatNumber } from '../view/format.ts';
import { addressOf, follow, go } from '../view/navigation.ts';
import { heldSince, leaseEnd } from '../view/select.ts';
import { KINDS } from '../view/view.ts';
import { Age } from './age.tsx';
import { Holder } from './holder.tsx';
import { LeaseBar } from './lease-bar.tsx';
import { Name } from './name.tsx';
import { WaitersInBrief } from './waiters.tsx';

interface LockRowLineProps {
  readonly row: LockRow;
  readonly index: number;
  readonly top: number;
  readonly isActive: boolean;
}

export function LockRowLine({ row, index, top, isActive }: LockRowLineProps) {
  const { key, kind, holders } = row;
  return (
    <div
      role="row"
      class="row"
      aria-rowindex={index + 2}
      tabIndex={isActive ? 0 : -1}
      data-key={key}
      data-active={isActive ? '' : undefined}
      style={{ top: `${top}px` }}
      onClick={({ target }) => {
        const isElsewhere = target instanceof Element && target.closest('a') !== null;
        if (!isElsewhere && getSelection()?.isCollapsed !== false) go({ lock: key });
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget) go({ lock: key });
      }}
    >
      <span role="gridcell" class="cell-name">
        <a href={addressOf({ lock: key })} tabIndex={-1} onClick={(event) => follow(event, { lock: key })}>
          <Name text={key} />
        </a>
      </span>
      <span role="gridcell" class="cell-kind">
        {KINDS[kind]}
      </span>
      <span role="gridcell" class="cell-holder">
        <HeldBy row={row} />
      </span>
      <span role="gridcell" class="cell-age">
        {holders.length > 0 && <Since row={row} />}
      </span>
      <span role="gridcell" class="cell-lease">
        {holders.length > 0 && <LeaseBar holder={firstToEnd(row)} />}
      </span>
      <span role="gridcell" class="cell-waiting">
        <WaitersInBrief row={row} />
      </span>
    </div>
  );
}

function HeldBy({ row }: { row: LockRow }) {
  const [first] = row.holders;
  if (first === undefined) return <span class="quiet figure">{figuresOf(row) || 'free'}</span>;
  return (
    <>
      <Holder holder={first} />
      {row.held > 1 && <span class="more figure">+{formatNumber(row.held - 1)}</span>}
    </>
  );
}

function Since({ row }: { row: LockRow }) {
  const since = heldSince(row);
  return <Age since={since} isSeen={row.holders.find((holder) => holder.since === since)?.isSeen ?? false} />;
}

/** The holder whose lease says how long this lock is safe. */
function firstToEnd(row: LockRow): RowHolder {
  const end = leaseEnd(row);
  const holder = row.holders.find(({ endsAt }) => endsAt === end) ?? row.holders[0];
  return holder as RowHolder;
}
