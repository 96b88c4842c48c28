/**
 * Independent servers for red locks, old enough to vote: a server that has just started abstains for one lease.
 */
import { afterAll, beforeAll, inject } from 'vitest';
import type { Lock } from '../../../src/index.ts';
import { startServer, type TestServer } from '../../../src/testing/index.ts';
import { startCluster } from '../../harness/cluster.ts';
import { startTogether } from '../../harness/start-together.ts';
import { eventually } from '../../harness/wait.ts';
import type { Context } from './context.ts';

/** The longest lease in use; every client of these servers has it as its `watchdogMs`. */
export const LEASE_MS = 4_000;

/** Uptime is told in whole seconds, and may be up to a second more than has passed. */
export async function untilTheyVote(servers: readonly TestServer[], leaseMs: number): Promise<void> {
  const neededSeconds = leaseMs / 1_000 + 1;
  for (const server of servers) {
    await eventually(
      async () => {
        const info = String(await server.command('INFO', 'server'));
        return Number(/uptime_in_seconds:(\d+)/.exec(info)?.[1]) >= neededSeconds;
      },
      { withinMs: neededSeconds * 1_000 + 10_000, everyMs: 50 },
    );
  }
}

type Topology = Context['topology'];

/** A server that is alone, or that is a Cluster by itself. */
async function startVoter(topology: Topology): Promise<TestServer> {
  const found = inject('serverBinary');
  const binary = found === null ? {} : { binary: found };
  if (topology === 'standalone') return startServer(binary);
  const { nodes } = await startCluster({ primaries: 1, replicasEach: 0, ...binary });
  return nodes[0] as TestServer;
}

/** Servers for all the tests of a file. Only inside `describeWithProcess`. */
export function serversForAll(count: number, topology: Topology = 'standalone'): readonly TestServer[] {
  const servers: TestServer[] = [];
  beforeAll(async () => {
    servers.push(...(await startTogether(Array.from({ length: count }, () => startVoter(topology)))));
    await untilTheyVote(servers, LEASE_MS);
  });
  afterAll(() => Promise.all(servers.map((server) => server.close())));
  return servers;
}

/** The servers that have the key, by their place. */
export async function whereHeld(servers: readonly TestServer[], { name }: Lock): Promise<number[]> {
  const found = await Promise.all(servers.map((server) => server.command('EXISTS', name)));
  return found.flatMap((exists, place) => (exists === 1 ? [place] : []));
}
