/**
 * The Cluster that all tests of a run share, started when the first of them asks: they run in processes of
 * their own, so they ask over HTTP. A run that needs no Cluster does not have one.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LOOPBACK } from '../../src/embedded/free-port.ts';
import { startCluster, type TestCluster } from './cluster.ts';

/** Whom to ask for the Cluster. */
export interface ClusterDesk {
  readonly url: string;
  /** Ends the Cluster too. */
  close(): Promise<void>;
}

/** Nobody fails over, so a node that a busy machine keeps waiting is no reason to lose the Cluster. */
const NODE_TIMEOUT_MS = 15_000;

export async function openClusterDesk(binary: string): Promise<ClusterDesk> {
  let cluster: Promise<TestCluster> | undefined;
  const desk = createServer((_, response) => {
    cluster ??= startCluster({ binary, primaries: 3, replicasEach: 0, nodeTimeoutMs: NODE_TIMEOUT_MS });
    cluster.then(
      ({ addresses }) => response.end(JSON.stringify(addresses)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  desk.listen(0, LOOPBACK);
  await once(desk, 'listening');
  desk.unref();
  return {
    url: `http://${LOOPBACK}:${(desk.address() as AddressInfo).port}`,
    close: async () => {
      desk.close();
      desk.closeAllConnections();
      const started = await cluster?.catch(() => undefined);
      await started?.close();
    },
  };
}
