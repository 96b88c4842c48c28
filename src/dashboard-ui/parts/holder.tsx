/** A holder by its label; host, process and owner are told on hover and on focus. */
import type { RowHolder } from '../../dashboard/protocol.ts';
import { shortOwner } from '../view/owner.ts';
import { Name } from './name.tsx';

export function Holder({ holder }: { holder: RowHolder }) {
  const { owner, label, host, pid, holdCount } = holder;
  return (
    <span class="holder">
      <span class={label === null ? 'label unlabelled' : 'label'}>
        <Name text={label ?? shortOwner(owner)} />
        {holdCount > 1 && <span class="quiet figure"> ×{holdCount}</span>}
      </span>
      <span class="tip">
        {host !== null && (
          <span>
            <Name text={host} />
            {pid !== null && `, process ${pid}`}
          </span>
        )}
        <span>
          owner <Name text={owner} />
        </span>
      </span>
    </span>
  );
}
