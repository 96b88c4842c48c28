/** Who waits, in order. */
import type { LockRow } from '../../dashboard/protocol.ts';
import { formatNumber } from '../view/format.ts';
import { shortOwner } from '../view/owner.ts';
import { Name } from './name.tsx';

const IN_BRIEF = 3;

/** How many wait, and the next ones. */
export function WaitersInBrief({ row: { waiters, waiting } }: { row: LockRow }) {
  if (waiting === 0) return null;
  return (
    <span class="waiters">
      <span class="number figure">{formatNumber(waiting)}</span>
      <span class="next">
        {waiters.slice(0, IN_BRIEF).map(({ owner, label }, index) => (
          <span key={owner}>
            {index > 0 && ', '}
            <Name text={label ?? shortOwner(owner)} />
          </span>
        ))}
      </span>
    </span>
  );
}

export function WaiterList({ row: { waiters, waiting } }: { row: LockRow }) {
  if (waiting === 0) return <p class="quiet">No waiter is known.</p>;
  const unnamed = waiting - waiters.length;
  return (
    <>
      <ol class="queue">
        {waiters.map(({ owner, label }) => (
          <li key={owner}>
            <Name text={label ?? shortOwner(owner)} />
            <span class="quiet owner">
              <Name text={owner} />
            </span>
          </li>
        ))}
      </ol>
      {unnamed > 0 && <p class="quiet figure">and {formatNumber(unnamed)} more</p>}
    </>
  );
}
