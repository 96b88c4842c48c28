/** Who waits, in order. */
import type { LockRow } from '../../dashboard/protocol.ts';
import { formatNumber } from '../view/format.ts';
import { namedWaiters, waiterCount } from '../view/waiters.ts';
import { Name } from './name.tsx';

const IN_BRIEF = 3;

/** How many wait, and the next ones. */
export function WaitersInBrief({ row }: { row: LockRow }) {
  const count = waiterCount(row);
  if (count === 0) return null;
  return (
    <span class="waiters">
      <span class="number figure">{formatNumber(count)}</span>
      <span class="next">
        {namedWaiters(row)
          .slice(0, IN_BRIEF)
          .map(({ owner, name }, index) => (
            <span key={owner}>
              {index > 0 && ', '}
              <Name text={name} />
            </span>
          ))}
      </span>
    </span>
  );
}

export function WaiterList({ row }: { row: LockRow }) {
  if (waiterCount(row) === 0) return <p class="quiet">No waiter is known.</p>;
  return row.kind === 'fair' ? <Queue row={row} /> : <Listeners row={row} />;
}

function Queue({ row }: { row: LockRow }) {
  const unnamed = waiterCount(row) - row.waiters.length;
  return (
    <>
      <Named row={row} />
      {unnamed > 0 && <p class="quiet figure">and {formatNumber(unnamed)} more</p>}
    </>
  );
}

function Listeners({ row }: { row: LockRow }) {
  const { waiting, ownWaiting } = row;
  return (
    <>
      {waiting !== null && (
        <p class="figure">
          {formatNumber(waiting)} {waiting === 1 ? 'client' : 'clients'} listening
          <span class="quiet">, sampled: one that has just stopped waiting may count for a moment</span>
        </p>
      )}
      {ownWaiting > 0 && (
        <>
          <p class="quiet">{formatNumber(ownWaiting)} waiting in the dashboard’s own process:</p>
          <Named row={row} />
        </>
      )}
    </>
  );
}

function Named({ row }: { row: LockRow }) {
  return (
    <ol class="queue">
      {namedWaiters(row).map(({ owner, name }) => (
        <li key={owner}>
          <Name text={name} />
          <span class="quiet owner">
            <Name text={owner} />
          </span>
        </li>
      ))}
    </ol>
  );
}
