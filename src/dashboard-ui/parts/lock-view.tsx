/** One lock: its holders, its waiters in order, and what happened to it. */
import { useEffect, useRef } from 'preact/hooks';
import type { LockRow } from '../../dashboard/protocol.ts';
import { isListed, isLive, rows } from '../state/store.ts';
import { figuresOf } from '../view/figures.ts';
import { addressOf, follow } from '../view/navigation.ts';
import { KINDS } from '../view/view.ts';
import { HappeningLine } from './happening.tsx';
import { Holders } from './holders.tsx';
import { Icon } from './icon.tsx';
import { Name } from './name.tsx';
import { useLockPage } from './use-lock-page.ts';
import { WaiterList } from './waiters.tsx';

export function LockView({ name }: { name: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const live = rows.value.get(name);
  const { page, error } = useLockPage(name, live);
  // The stream tells what is listed; a lock that is not listed may be known all the same.
  const row = live ?? (isListed.value ? null : page?.row) ?? null;
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <article class="lock-view">
      <a class="back" href={addressOf({ lock: null })} onClick={(event) => follow(event, { lock: null })}>
        <Icon name="back" />
        All locks
      </a>
      <h2 tabIndex={-1} ref={heading}>
        <Name text={name} />
      </h2>
      <p class="quiet">{row === null ? stateOf(isListed.value) : kindOf(row)}</p>
      {error !== null && isLive.value && <p class="banner">{error}</p>}
      <div class="lock-parts">
        <section aria-label="Holders">
          <h3>Held by</h3>
          {row === null ? <p class="quiet">Nobody holds it.</p> : <Holders row={row} />}
        </section>
        <section aria-label="Waiters">
          <h3>{row?.kind === 'fair' ? 'Waiting, in order' : 'Waiting'}</h3>
          {row === null ? <p class="quiet">No waiter is known.</p> : <WaiterList row={row} />}
        </section>
        <section aria-label="History" class="history">
          <h3>History</h3>
          {page?.history.length === 0 && <p class="quiet">Nothing was seen since the dashboard started.</p>}
          <ol class="happenings">
            {page?.history.map((happening) => (
              <HappeningLine key={happening.id} happening={happening} />
            ))}
          </ol>
        </section>
      </div>
    </article>
  );
}

function kindOf(row: LockRow): string {
  return [KINDS[row.kind], figuresOf(row)].filter((text) => text !== '').join(' · ');
}

function stateOf(isKnown: boolean): string {
  return isKnown ? 'Free: the server has no such key now.' : 'Looking …';
}
