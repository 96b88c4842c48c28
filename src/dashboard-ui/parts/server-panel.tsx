/** The server: its nodes with their replicas, and what is wrong with it, with the remedy. */
import type { ServerHealth, ServerNode } from '../../dashboard/protocol.ts';
import { health } from '../state/store.ts';
import { formatBytes, formatLatency } from '../view/format.ts';
import { Name } from './name.tsx';
import { Panel } from './panel.tsx';

export function ServerPanel() {
  const known = health.value;
  return (
    <Panel title="Server" note={known === null ? 'not looked at yet' : noteOf(known)}>
      {known?.problems.map(({ code, message, remedy }) => (
        <div key={code + message} class="problem">
          <p>
            <strong>{message}</strong>
          </p>
          {remedy !== null && <p class="remedy">{remedy}</p>}
        </div>
      ))}
      <ul class="nodes">
        {known?.nodes.map((node) => (
          <Node key={node.node} node={node} />
        ))}
      </ul>
      {known?.problems.length === 0 && <p class="quiet">No check of this server has found a problem.</p>}
    </Panel>
  );
}

function noteOf({ topology, problems }: ServerHealth): string {
  if (problems.length === 0) return topology;
  return problems.length === 1 ? '1 problem' : `${problems.length} problems`;
}

function Node({ node: { node, latencyMs, replicas } }: { node: ServerNode }) {
  return (
    <li>
      <p class="node">
        <Name text={node === '' ? 'the server' : node} />
        <span class="figure quiet">{latencyMs === null ? 'no answer' : formatLatency(latencyMs)}</span>
      </p>
      {replicas.length === 0 && <p class="replica quiet">no replica</p>}
      {replicas.map((replica) => (
        <p key={replica.node} class="replica">
          <span>
            replica <Name text={replica.node} />
          </span>
          <span class="figure quiet">
            {replica.state}
            {replica.lagBytes !== null && `, ${formatBytes(replica.lagBytes)} behind`}
          </span>
        </p>
      ))}
    </li>
  );
}
