/**
 * A Cluster of real servers whose slots a test moves and whose primaries it fails over. How the Cluster is
 * made is left to `cluster-nodes.ts`. Nodes that are dead or frozen have no say in what all agree on.
 */
import type { TestServer } from '../../src/testing/index.ts';
import { type ClusterOptions, formCluster, nodeIdOf, startClusterNodes } from './cluster-nodes.ts';
import { assertSettled, hasSlot, type SeenNode, viewOf } from './cluster-view.ts';
import { answerOf } from './server-answers.ts';
import { slotOf } from './slot.ts';
import { beginSlotMove, type SlotMove } from './slot-move.ts';
import { closeAll, orClose } from './start-together.ts';
import { eventually } from './wait.ts';

/** Who has to consent: the old primary and the other ones; the other ones; nobody. */
export type FailoverKind = 'graceful' | 'force' | 'takeover';

const AGREED_WITHIN_MS = 20_000;
const POLL_MS = 20;
/** A replica gives a failover up when the other primaries have not voted for it within five seconds. */
const REQUEST_MS = 5_500;
const REQUESTS = 3;

export class TestCluster implements AsyncDisposable {
  /** The first ones were started as primaries, the others as their replicas. */
  readonly nodes: readonly TestServer[];
  readonly #ids: ReadonlyMap<TestServer, string>;

  constructor(nodes: readonly TestServer[], ids: ReadonlyMap<TestServer, string>) {
    this.nodes = nodes;
    this.#ids = ids;
  }

  get addresses(): { host: string; port: number }[] {
    return this.nodes.map(({ host, port }) => ({ host, port }));
  }

  slotOf(key: string): number {
    return slotOf(key);
  }

  /** The id by which the nodes know a node. */
  idOf(node: TestServer): string {
    const id = this.#ids.get(node);
    if (id === undefined) throw new Error(`${node.url} is no node of this cluster`);
    return id;
  }

  /** Who has a slot, given by its number or by a key. Of several claims the newest counts. */
  async primaryOf(slotOrKey: number | string): Promise<TestServer> {
    const slot = typeof slotOrKey === 'number' ? slotOrKey : slotOf(slotOrKey);
    const claims = (await this.#views()).flat().filter((seen) => hasSlot(seen, slot));
    claims.sort((one, other) => other.configEpoch - one.configEpoch);
    return this.#nodeOf(claims[0]?.id);
  }

  /** Who replicates a primary, as that one and the other nodes see it. */
  async replicasOf(primary: TestServer): Promise<TestServer[]> {
    const id = this.idOf(primary);
    const view = (await viewOf(primary)) ?? (await this.#views())[0] ?? [];
    return view.filter(({ primaryId }) => primaryId === id).map((seen) => this.#nodeOf(seen.id));
  }

  /** Resolves when all agree on who has what, find the cluster in order, and the replicas are in sync. */
  async whenSettled(): Promise<void> {
    await eventually(() => assertSettled(this.nodes), { withinMs: AGREED_WITHIN_MS, everyMs: POLL_MS });
  }

  /** Resolves to the new primary when all agree that it is not `from` any more. */
  whenFailedOver(slotOrKey: number | string, from: TestServer): Promise<TestServer> {
    return this.#failedOver(slotOrKey, from, AGREED_WITHIN_MS);
  }

  /** Has a replica take over from the primary; resolves to it when all agree. */
  async failover(slotOrKey: number | string, kind: FailoverKind = 'graceful'): Promise<TestServer> {
    const from = await this.primaryOf(slotOrKey);
    const replica = await this.#answering(await this.replicasOf(from));
    const how = kind === 'graceful' ? [] : [kind.toUpperCase()];
    for (let request = 1; request <= REQUESTS; request += 1) {
      await replica.command('CLUSTER', 'FAILOVER', ...how);
      const primary = await this.#failedOver(slotOrKey, from, REQUEST_MS).catch(() => undefined);
      if (primary !== undefined) return primary;
      if ((await this.primaryOf(slotOrKey)) !== from) break;
    }
    return this.whenFailedOver(slotOrKey, from);
  }

  /** Moves a slot with its keys; resolves when all agree. */
  async moveSlot(slot: number, to: TestServer): Promise<void> {
    await (await this.beginMove(slot, to)).finish();
  }

  /** Opens a slot for a move, and moves nothing yet. */
  async beginMove(slot: number, to: TestServer): Promise<SlotMove> {
    const from = await this.primaryOf(slot);
    const view = (await viewOf(from)) ?? [];
    const primaries = view.filter(({ primaryId }) => primaryId === undefined);
    const others = primaries.map(({ id }) => this.#nodeOf(id)).filter((node) => node !== from && node !== to);
    return beginSlotMove({
      slot,
      from,
      to,
      others,
      idOf: (node) => this.idOf(node),
      whenMoved: () => this.whenSettled(),
    });
  }

  async close(): Promise<void> {
    await closeAll(this.nodes);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #failedOver(slotOrKey: number | string, from: TestServer, withinMs: number): Promise<TestServer> {
    const check = async () => {
      // Asked first: a view that all share after somebody has seen the change contains the change.
      const primary = await this.primaryOf(slotOrKey);
      if (primary === from) throw new Error(`Node ${from.port} is still the primary`);
      await assertSettled(this.nodes);
      return primary;
    };
    return eventually(check, { withinMs, everyMs: POLL_MS });
  }

  async #views(): Promise<SeenNode[][]> {
    const views = await Promise.all(this.nodes.map(viewOf));
    return views.filter((view) => view !== undefined);
  }

  async #answering(nodes: readonly TestServer[]): Promise<TestServer> {
    for (const node of nodes) if ((await answerOf(node, 'PING')) !== undefined) return node;
    throw new Error('No replica that answers');
  }

  #nodeOf(id: string | undefined): TestServer {
    for (const [node, itsId] of this.#ids) if (itsId === id) return node;
    throw new Error(`No node has the id ${id}`);
  }
}

/** Starts a Cluster; resolves when every node finds it in order, after two seconds or a little more. */
export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const { primaries = 3 } = options;
  const nodes = await startClusterNodes(options);
  return orClose({ close: () => closeAll(nodes) }, async () => {
    await formCluster(nodes, primaries);
    const ids = new Map<TestServer, string>();
    for (const node of nodes) ids.set(node, await nodeIdOf(node));
    return new TestCluster(nodes, ids);
  });
}
