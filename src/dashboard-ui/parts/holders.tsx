/** The holders of a lock, each with its lease, and the way to free it where that is allowed. */
import type { LockRow, RowHolder } from '../../dashboard/protocol.ts';
import { csrf, isLive } from '../state/store.ts';
import { formatNumber } from '../view/format.ts';
import { shortOwner } from '../view/owner.ts';
import { Age } from './age.tsx';
import { askToFree } from './free-dialog.tsx';
import { LeaseBar } from './lease-bar.tsx';
import { Name } from './name.tsx';

export function Holders({ row }: { row: LockRow }) {
  const rest = row.held - row.holders.length;
  if (row.held === 0) return <p class="quiet">Nobody holds it.</p>;
  return (
    <>
      <ul class="holders">
        {row.holders.map((holder) => (
          <HolderCard key={holder.owner} lock={row.key} holder={holder} />
        ))}
      </ul>
      {rest > 0 && <p class="quiet figure">and {formatNumber(rest)} more</p>}
    </>
  );
}

function HolderCard({ lock, holder }: { lock: string; holder: RowHolder }) {
  const { owner, label, host, pid, holdCount, since, isSeen } = holder;
  return (
    <li class="holder-card">
      <p class="label">
        <Name text={label ?? shortOwner(owner)} />
        {holdCount > 1 && <span class="quiet figure"> entered {holdCount} times</span>}
      </p>
      <dl class="facts">
        <dt>Held for</dt>
        <dd>
          <Age since={since} isSeen={isSeen} />
        </dd>
        <dt>Lease left</dt>
        <dd>
          <LeaseBar holder={holder} />
        </dd>
        {host !== null && (
          <>
            <dt>Process</dt>
            <dd>
              <Name text={pid === null ? host : `${pid} on ${host}`} />
            </dd>
          </>
        )}
        <dt>Owner</dt>
        <dd class="owner">
          <Name text={owner} />
        </dd>
      </dl>
      {csrf.value !== null && (
        <button
          type="button"
          class="danger"
          disabled={!isLive.value}
          onClick={() => askToFree({ lock, holder })}
        >
          Free …
        </button>
      )}
    </li>
  );
}
