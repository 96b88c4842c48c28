/** How the nodes of a Cluster see it: CLUSTER NODES, read; and whether all of them see the same. */
import type { TestServer } from '../../src/testing/index.ts';
import { answerOf, clusterInfoOf, infoOf } from './server-answers.ts';

/** One node, as another sees it. */
export interface SeenNode {
  readonly id: string;
  /** The node it replicates; undefined for a primary. */
  readonly primaryId: string | undefined;
  readonly configEpoch: number;
  /** First and last slot of each range. */
  readonly ranges: readonly (readonly [number, number])[];
}

function parseRange(text: string): readonly [number, number] {
  const [first = '', last = first] = text.split('-');
  return [Number(first), Number(last)];
}

/** The nodes in the answer of CLUSTER NODES, without those that have not said yet who they are. */
export function parseNodes(text: string): SeenNode[] {
  const seen: SeenNode[] = [];
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [id = '', , flags = '', primaryId = '-', , , configEpoch, , ...slots] = line.split(' ');
    if (flags.includes('handshake')) continue;
    // In brackets: slots on the move, which only the nodes concerned speak of.
    const ranges = slots.filter((slot) => !slot.startsWith('[')).map(parseRange);
    seen.push({
      id,
      primaryId: primaryId === '-' ? undefined : primaryId,
      configEpoch: Number(configEpoch),
      ranges,
    });
  }
  return seen;
}

/** The nodes that a node sees; undefined when it is dead or silent. */
export async function viewOf(node: TestServer): Promise<SeenNode[] | undefined> {
  const text = await answerOf(node, 'CLUSTER', 'NODES');
  return text === undefined ? undefined : parseNodes(String(text));
}

export function hasSlot(seen: SeenNode, slot: number): boolean {
  return seen.ranges.some(([first, last]) => first <= slot && slot <= last);
}

/** Who replicates whom, and who has which slots, as text that is equal when the views are. */
function summary(view: readonly SeenNode[]): string {
  const lines = view.map(
    ({ id, primaryId, ranges }) => `${id} ${primaryId ?? 'primary'} ${ranges.join(' ')}`,
  );
  return lines.sort().join('\n');
}

/**
 * Resolves when all nodes that answer see the same Cluster of that many nodes, find it in order, and those
 * that are replicas are connected to their primary; else throws what is missing.
 */
export async function assertSettled(nodes: readonly TestServer[]): Promise<void> {
  const summaries = new Set<string>();
  await Promise.all(
    nodes.map(async (node) => {
      const asked = [clusterInfoOf(node), viewOf(node), infoOf(node, 'replication')] as const;
      const [info, view, replication] = await Promise.all(asked);
      if (info === undefined || view === undefined || replication === undefined) return;
      const complaint = (text: string) => new Error(`Node ${node.port} ${text}`);
      if (info.get('cluster_state') !== 'ok') throw complaint('finds the cluster not in order');
      if (view.length !== nodes.length) throw complaint(`sees ${view.length} nodes`);
      const isLinked = replication.get('role') !== 'slave' || replication.get('master_link_status') === 'up';
      if (!isLinked) throw complaint('has not reached its primary');
      summaries.add(summary(view));
    }),
  );
  if (summaries.size !== 1) throw new Error(`Different views:\n${[...summaries].join('\n---\n')}`);
}
