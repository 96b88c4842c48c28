/** Makes a Cluster of server processes, without redis-cli: starts them, hands out slots, introduces them. */
import { findFreePort } from '../../src/embedded/free-port.ts';
import { startServer, type TestServer } from '../../src/testing/index.ts';
import { PortTakenError } from '../../src/testing/server-process.ts';
import { assertSettled, viewOf } from './cluster-view.ts';
import { SLOTS } from './slot.ts';
import { startTogether } from './start-together.ts';
import { eventually } from './wait.ts';

export interface ClusterOptions {
  readonly primaries?: number;
  readonly replicasEach?: number;
  /** After how long a node counts as gone; an automatic failover takes about two seconds more. */
  readonly nodeTimeoutMs?: number;
  /** Further arguments of every node. */
  readonly args?: readonly string[];
  /** Further arguments of one node, which will listen on that port. */
  readonly argsOf?: (index: number, port: number) => readonly string[];
  readonly binary?: string;
}

/** The nodes of a Cluster talk to each other on their port and this. */
const BUS_OFFSET = 10_000;
/** Where outgoing connections begin to take ports, one of which a restarted node might need. */
const FIRST_EPHEMERAL_PORT = 32_768;
const ATTEMPTS = 10;
const FORMED_WITHIN_MS = 20_000;
const POLL_MS = 20;

async function findClusterPort(): Promise<number> {
  for (;;) {
    const port = await findFreePort();
    if (port + BUS_OFFSET < FIRST_EPHEMERAL_PORT) return port;
  }
}

async function startNode(options: ClusterOptions, index: number): Promise<TestServer> {
  const { binary, nodeTimeoutMs = 2_000, argsOf = () => [] } = options;
  const args = [
    ...['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf'],
    ...['--cluster-announce-ip', '127.0.0.1', '--cluster-node-timeout', String(nodeTimeoutMs)],
    // A replica may always follow its primary, however long it was cut off, and never changes sides.
    ...['--cluster-replica-validity-factor', '0', '--cluster-migration-barrier', '100'],
    ...['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'],
    ...(options.args ?? []),
  ];
  for (let attempt = 1; ; attempt += 1) {
    try {
      const port = await findClusterPort();
      const given = [...args, ...argsOf(index, port)];
      return await startServer({ port, args: given, ...(binary === undefined ? {} : { binary }) });
    } catch (error) {
      // The port for the bus may be taken as well.
      if (!(error instanceof PortTakenError) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** The processes, which do not know each other yet: the primaries, then the replicas. */
export function startClusterNodes(options: ClusterOptions): Promise<TestServer[]> {
  const { primaries = 3, replicasEach = 1 } = options;
  const count = primaries * (1 + replicasEach);
  return startTogether(Array.from({ length: count }, (_, index) => startNode(options, index)));
}

async function addSlots(primary: TestServer, index: number, primaries: number): Promise<void> {
  const first = Math.floor((SLOTS * index) / primaries);
  const end = Math.floor((SLOTS * (index + 1)) / primaries);
  const slots = Array.from({ length: end - first }, (_, at) => first + at);
  await primary.command('CLUSTER', 'ADDSLOTS', ...slots);
}

export async function nodeIdOf(node: TestServer): Promise<string> {
  return String(await node.command('CLUSTER', 'MYID'));
}

/**
 * Makes one Cluster of the nodes; resolves when all of them find it in order and the replicas are in sync.
 * A server refuses to find that before it is two seconds old.
 */
export async function formCluster(nodes: readonly TestServer[], primaries: number): Promise<void> {
  const ids = await Promise.all(nodes.map(nodeIdOf));
  await Promise.all(
    nodes.map(async (node, index) => {
      // Epochs that differ from the start, or the nodes would have to settle a quarrel first.
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
      if (index < primaries) await addSlots(node, index, primaries);
      // Everybody meets everybody: waiting for gossip takes seconds.
      for (const other of nodes.slice(index + 1)) {
        await node.command('CLUSTER', 'MEET', other.host, other.port);
      }
    }),
  );
  const seesAll = async (node: TestServer) => (await viewOf(node))?.length === nodes.length;
  const bounds = { withinMs: FORMED_WITHIN_MS, everyMs: POLL_MS };
  await Promise.all(nodes.map((node) => eventually(() => seesAll(node), bounds)));
  const replicas = nodes.slice(primaries);
  await Promise.all(
    replicas.map((node, index) => node.command('CLUSTER', 'REPLICATE', ids[index % primaries] as string)),
  );
  await eventually(() => assertSettled(nodes), bounds);
}
