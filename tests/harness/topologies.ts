/**
 * Several servers of a test's own: a primary with replicas, Sentinels, a Cluster, servers with TLS. All are
 * ended with the test; the `start…` functions behind them are for what a file shares, in `beforeAll`. Only
 * inside `describeWithProcess`.
 */
import { inject, onTestFinished } from 'vitest';
import { startCluster, type TestCluster } from './cluster.ts';
import type { ClusterOptions } from './cluster-nodes.ts';
import { type ReplicasOptions, startReplicas, type TestReplicas } from './replicas.ts';
import { type SentinelsOptions, startSentinels, type TestSentinels } from './sentinels.ts';
import { startTlsSentinel, type TlsSentinel, type TlsSentinelOptions } from './tls-sentinel.ts';
import { startTlsServer, type TlsServer, type TlsServerOptions } from './tls-server.ts';

async function owned<Options extends { binary?: string }, Topology extends { close(): Promise<void> }>(
  start: (options: Options) => Promise<Topology>,
  options: Options,
): Promise<Topology> {
  const binary = inject('serverBinary');
  const started = await start(binary === null ? options : { binary, ...options });
  onTestFinished(() => started.close());
  return started;
}

/** A primary and replicas, in sync. */
export function ownReplicas(options: ReplicasOptions = {}): Promise<TestReplicas> {
  return owned(startReplicas, options);
}

/** A Cluster: three primaries with a replica each, unless told otherwise. Takes two to three seconds. */
export function ownCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  return owned(startCluster, options);
}

/** A primary with replicas and the Sentinels that watch over them, all of whom know each other. */
export function ownSentinels(options: SentinelsOptions = {}): Promise<TestSentinels> {
  return owned(startSentinels, options);
}

/** A server that speaks TLS, with a certificate that only its `ca` vouches for. */
export function ownTlsServer(options: TlsServerOptions = {}): Promise<TlsServer> {
  return owned(startTlsServer, options);
}

/** A server that speaks TLS, and a Sentinel that names it by its host name. */
export function ownTlsSentinel(options: TlsSentinelOptions = {}): Promise<TlsSentinel> {
  return owned(startTlsSentinel, options);
}
