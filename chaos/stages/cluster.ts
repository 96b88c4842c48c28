/**
 * A Cluster of three primaries with a replica each. Every node tells others that it is to be found at a fault proxy:
 * what clients and replicas send it goes through, what the nodes tell each other about the Cluster does not.
 *
 * One fault at a time may give slots to other nodes: a slot that is half-way while its node fails over is a fault that
 * no client is asked to survive.
 */
import { LOOPBACK } from '../../src/embedded/free-port.ts';
import type { FaultProxy, TestServer } from '../../src/testing/index.ts';
import { type Address, startAddress } from '../../tests/harness/address.ts';
import { type FailoverKind, startCluster, type TestCluster } from '../../tests/harness/cluster.ts';
import { viewOf } from '../../tests/harness/cluster-view.ts';
import { answerOf } from '../../tests/harness/server-answers.ts';
import { closeAll, orClose } from '../../tests/harness/start-together.ts';
import { eventually } from '../../tests/harness/wait.ts';
import type { Stage, StageTarget } from '../fault.ts';
import type { StageOptions } from './one.ts';
import { obeys, repair } from './repair.ts';
import { isUp, revive } from './restart.ts';
import { healed } from './within.ts';

const NODES = 6;
const FAILED_OVER_WITHIN_MS = 10_000;

interface OpenSlot {
  readonly slot: number;
  readonly otherId: string;
  readonly leaves: boolean;
}

/** The slots on the move, by the node's own word. */
async function openSlotsOf(node: TestServer): Promise<OpenSlot[]> {
  const text = String((await answerOf(node, 'CLUSTER', 'NODES')) ?? '');
  const own = text.split('\n').find((line) => line.includes('myself')) ?? '';
  return [...own.matchAll(/\[(\d+)-([<>])-(\w+)\]/g)].map(([, slot, way, otherId = '']) => ({
    slot: Number(slot),
    otherId,
    leaves: way === '>',
  }));
}

/** Moves what is left of a slot, also keys that have come to be on both sides. */
async function pushKeys(slot: number, from: TestServer, to: TestServer): Promise<void> {
  for (;;) {
    const keys = await answerOf(from, 'CLUSTER', 'GETKEYSINSLOT', slot, 100);
    if (!Array.isArray(keys) || keys.length === 0) return;
    const names = keys.map(String);
    await from.command('MIGRATE', to.host, to.port, '', 0, 5_000, 'REPLACE', 'KEYS', ...names);
  }
}

export class ClusterStage implements Stage {
  readonly name = 'cluster';
  readonly target: StageTarget;
  /** In the order of the servers behind them. */
  readonly links: readonly FaultProxy[];
  readonly cluster: TestCluster;
  #isChanging = false;
  #promotedAt = Number.NEGATIVE_INFINITY;

  constructor(cluster: TestCluster, links: readonly FaultProxy[]) {
    this.cluster = cluster;
    this.links = links;
    this.target = { kind: 'cluster', nodes: links.map(({ host, port }) => ({ host, port })) };
  }

  get servers(): readonly TestServer[] {
    return this.cluster.nodes;
  }

  /** The nodes that have slots, as the nodes see it themselves. */
  async primaries(): Promise<readonly TestServer[]> {
    const views = await Promise.all(this.servers.map((node) => viewOf(node).catch(() => undefined)));
    const claims = views.flat().filter((seen) => seen !== undefined && seen.ranges.length > 0);
    const ids = new Set(claims.map((seen) => seen?.id));
    return this.servers.filter((node) => ids.has(this.cluster.idOf(node)));
  }

  /** How long ago a replica took over, as far as faults know. */
  get sincePromotionMs(): number {
    return performance.now() - this.#promotedAt;
  }

  /** Begins to give slots to other nodes; undefined while there is another one. Answers how it ends. */
  beginChange(): (() => void) | undefined {
    if (this.#isChanging) return undefined;
    this.#isChanging = true;
    return () => {
      this.#isChanging = false;
    };
  }

  /** Asks a replica of the primary to take over; answers whether one was asked. */
  async failOver(primary: TestServer, kind: FailoverKind): Promise<boolean> {
    this.#promotedAt = performance.now();
    const replicas = (await this.cluster.replicasOf(primary)).filter(isUp);
    const how = kind === 'graceful' ? [] : [kind.toUpperCase()];
    for (const replica of replicas) if (await obeys(replica, 'CLUSTER', 'FAILOVER', ...how)) return true;
    return false;
  }

  /** Resolves when another node has the slots of this one, or after ten seconds. */
  async whenReplaced(primary: TestServer): Promise<void> {
    this.#promotedAt = performance.now();
    const id = this.cluster.idOf(primary);
    const check = async () => {
      const up = this.servers.filter((node) => node !== primary && isUp(node));
      const views = await Promise.all(up.map((node) => viewOf(node).catch(() => undefined)));
      return views.every((view) => view?.find((seen) => seen.id === id)?.ranges.length === 0);
    };
    await eventually(check, { withinMs: FAILED_OVER_WITHIN_MS, everyMs: 50 }).catch(() => undefined);
  }

  heal(): Promise<void> {
    return healed(this.name, async (step) => {
      await Promise.all(this.servers.map((server) => server.resume()));
      await Promise.all(this.links.map((link) => link.heal()));
      await Promise.all(this.servers.map((server) => revive(server)));
      await Promise.all(this.servers.map((server) => repair(server)));
      step('its nodes to agree');
      await this.cluster.whenSettled();
      step('slots that are on the move');
      await this.#closeSlots();
      await this.cluster.whenSettled();
    });
  }

  async close(): Promise<void> {
    await closeAll([...this.links, this.cluster]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Finishes the moves that were left half-way. */
  async #closeSlots(): Promise<void> {
    for (const node of await this.primaries()) {
      for (const { slot, otherId, leaves } of await openSlotsOf(node)) {
        const other = this.servers.find((one) => this.cluster.idOf(one) === otherId);
        const owner = await this.cluster.primaryOf(slot);
        if (!leaves || other === undefined || owner !== node) continue;
        await pushKeys(slot, node, other);
        await this.cluster.moveSlot(slot, other);
      }
    }
    for (const node of await this.primaries()) {
      for (const { slot } of await openSlotsOf(node)) await obeys(node, 'CLUSTER', 'SETSLOT', slot, 'STABLE');
    }
  }
}

export async function startClusterStage({ binary }: StageOptions = {}): Promise<ClusterStage> {
  // Their nodes do not have ports yet.
  const nowhere = { host: LOOPBACK, port: 0 };
  const addresses = await Promise.all(Array.from({ length: NODES }, () => startAddress(nowhere)));
  const links = addresses.map(({ proxy }) => proxy);
  const announce = (index: number, port: number) => {
    const { proxy, leadNewTo } = addresses[index] as Address;
    leadNewTo({ host: LOOPBACK, port });
    return ['--cluster-announce-port', String(proxy.port)];
  };
  const options = { argsOf: announce, ...(binary !== undefined && { binary }) };
  const cluster = await orClose({ close: () => closeAll(links) }, () => startCluster(options));
  return new ClusterStage(cluster, links);
}
