/** Losses, warnings and forced releases, newest first. */
import { useState } from 'preact/hooks';
import { timeline } from '../state/store.ts';
import { formatNumber } from '../view/format.ts';
import { HappeningLine } from './happening.tsx';
import { Panel } from './panel.tsx';

const FIRST_SHOWN = 30;

export function Timeline() {
  const [isWhole, showWhole] = useState(false);
  const all = timeline.value;
  const rest = all.length - FIRST_SHOWN;
  return (
    <Panel title="Losses and warnings" note={all.length === 0 ? 'none' : formatNumber(all.length)}>
      {all.length === 0 && <p class="quiet">Nothing was lost and nothing is at risk, as far as was told.</p>}
      <ol class="happenings">
        {all.slice(0, isWhole ? all.length : FIRST_SHOWN).map((happening) => (
          <HappeningLine key={happening.id} happening={happening} isNamed />
        ))}
      </ol>
      {rest > 0 && !isWhole && (
        <button type="button" class="plain" onClick={() => showWhole(true)}>
          Show {formatNumber(rest)} earlier
        </button>
      )}
    </Panel>
  );
}
