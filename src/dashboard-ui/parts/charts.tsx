/** The last hour in four charts. Each says where its figures come from. */
import type { ChartPoint } from '../../dashboard/protocol.ts';
import { chartStepMs, load, summary } from '../state/store.ts';
import { formatInterval, formatLatency, formatNumber } from '../view/format.ts';
import { Chart } from './chart.tsx';
import type { Curve } from './chart-options.ts';
import { Panel } from './panel.tsx';

const curve = (
  label: string,
  colour: Curve['colour'],
  value: (point: ChartPoint) => number | null,
): Curve => ({ label, colour, value });

const HELD = [
  curve('held', 'accent', ({ held }) => held),
  curve('waited for', 'warning', ({ waitedFor }) => waitedFor),
  curve('waiters', 'ink', ({ waiting }) => waiting),
];
const CALLS = [
  curve('calls', 'accent', ({ acquired }) => acquired),
  curve('contended', 'ink', ({ contended }) => contended),
];
const WAITS = [
  curve('p50', 'accent', ({ waitP50 }) => waitP50),
  curve('p95', 'ink', ({ waitP95 }) => waitP95),
];
const TROUBLE = [
  { ...curve('timed out', 'ink', ({ timeouts }) => timeouts), isRare: true },
  { ...curve('lost', 'bad', ({ losses }) => losses), isRare: true },
];

const SAMPLED = 'Sampled at the server';
const FROM_EVENTS = 'Events of this process';

export function Charts() {
  return (
    <Panel title="The last hour" class="charts">
      <div class="chart-grid">
        <Chart
          title="Held and waiting"
          from={load.value?.countsListeners === false ? `${SAMPLED}, fair queues only` : SAMPLED}
          curves={HELD}
          format={formatNumber}
        />
        {summary.value.calls === null ? <Untold /> : <FromEvents />}
      </div>
    </Panel>
  );
}

function FromEvents() {
  const each = `per ${formatInterval(chartStepMs.value)}`;
  return (
    <>
      <Chart title={`Calls ${each}`} from={FROM_EVENTS} curves={CALLS} format={formatNumber} />
      <Chart title="Time to wait" from={FROM_EVENTS} curves={WAITS} format={formatLatency} />
      <Chart title={`Time-outs, losses ${each}`} from={FROM_EVENTS} curves={TROUBLE} format={formatNumber} />
    </>
  );
}

function Untold() {
  return (
    <div class="chart untold">
      <h3>Calls, waiting times, time-outs and losses</h3>
      <p>
        Clients tell these, but only inside their own process, and no client in the dashboard’s process has
        told anything. Mount the dashboard in an application to see them here.
      </p>
    </div>
  );
}
