/**
 * Which servers a test can have: the one that all share, and, where a server program is installed, some of
 * its own. Tests that need the latter say so here, and are skipped by name where there is none.
 */
import { describe, inject, it, onTestFinished } from 'vitest';
import {
  type FaultProxy,
  RawConnection,
  startFaultProxy,
  startServer,
  type TestServer,
  type TestServerOptions,
} from '../../src/testing/index.ts';
import { ClusterConnection, SlotMap } from './cluster-connection.ts';
import { NEEDS_PROCESS } from './skipped.ts';

/** The address of the server that all tests share. Use random names. */
export function sharedServer(): { url: string; host: string; port: number } {
  const url = inject('serverUrl');
  const { hostname, port } = new URL(url);
  return { url, host: hostname, port: port === '' ? 6379 : Number(port) };
}

/**
 * The Cluster that all tests share: three primaries, started when the first test asks. Use random names, and
 * leave its slots where they are. Only inside `describeWithProcess`.
 */
export async function sharedCluster(): Promise<{ addresses: { host: string; port: number }[] }> {
  const desk = inject('clusterDesk');
  if (desk === null) throw new Error(`There is no shared cluster ${NEEDS_PROCESS}`);
  const response = await fetch(desk);
  if (!response.ok) throw new Error(`The shared cluster did not start: ${await response.text()}`);
  return { addresses: (await response.json()) as { host: string; port: number }[] };
}

/** A raw connection to the shared server, closed when the test ends. */
export async function openShared(): Promise<RawConnection> {
  const { host, port } = sharedServer();
  return openRaw(host, port);
}

/** They stay where they are. */
let sharedSlots: Promise<SlotMap> | undefined;

/** What looks at the shared Cluster, closed when the test ends. Only inside `describeWithProcess`. */
export async function openSharedCluster(): Promise<ClusterConnection> {
  sharedSlots ??= sharedCluster().then(({ addresses: [node] }) =>
    SlotMap.seenBy(node as { host: string; port: number }),
  );
  const connection = await ClusterConnection.connect(await sharedSlots);
  onTestFinished(() => connection.close());
  return connection;
}

/** A raw connection, closed when the test ends. */
export async function openRaw(host: string, port: number): Promise<RawConnection> {
  const connection = await RawConnection.connect(host, port);
  onTestFinished(() => connection.close());
  return connection;
}

/** A server process of the test's own, ended with the test. Only inside `describeWithProcess`. */
export async function ownServer(options: TestServerOptions = {}): Promise<TestServer> {
  const binary = inject('serverBinary');
  const server = await startServer(binary === null ? options : { binary, ...options });
  onTestFinished(() => server.close());
  return server;
}

/** A fault proxy, closed when the test ends. */
export async function ownProxy(target: { host: string; port: number }): Promise<FaultProxy> {
  const proxy = await startFaultProxy(target);
  onTestFinished(() => proxy.close());
  return proxy;
}

const hasProcess = () => inject('serverBinary') !== null;

/** `describe` for tests that start server processes. */
export function describeWithProcess(name: string, define: () => void): void {
  if (hasProcess()) describe(name, define);
  else describe.skip(`${name} ${NEEDS_PROCESS}`, define);
}

/** `it` for a test that starts server processes. */
export function itWithProcess(name: string, test: () => Promise<void> | void, timeoutMs?: number): void {
  if (hasProcess()) it(name, test, timeoutMs);
  else it.skip(`${name} ${NEEDS_PROCESS}`, test, timeoutMs);
}
