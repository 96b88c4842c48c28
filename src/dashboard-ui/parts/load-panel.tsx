/** What the dashboard itself costs the server. */
import { load } from '../state/store.ts';
import { formatLatency, formatNumber } from '../view/format.ts';
import { Panel } from './panel.tsx';

export function LoadPanel() {
  const known = load.value;
  if (known === null) return null;
  const { scanned, keys, sweepMs, commandsPerSecond, maxCommandsPerSecond } = known;
  const rate = formatNumber(commandsPerSecond);
  return (
    <Panel title="Cost of this dashboard" note={<span class="figure">{rate}/s</span>}>
      <dl class="facts">
        <dt>Commands/s</dt>
        <dd class="figure">
          {rate} of at most {formatNumber(maxCommandsPerSecond)}
        </dd>
        <dt>Keys seen</dt>
        <dd class="figure">
          {formatNumber(scanned)}
          {keys > 0 && ` of ${formatNumber(keys)}`}
        </dd>
        <dt>Last walk took</dt>
        <dd class="figure">{sweepMs === null ? 'the first is under way' : formatLatency(sweepMs)}</dd>
      </dl>
    </Panel>
  );
}
