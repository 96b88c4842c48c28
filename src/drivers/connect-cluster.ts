/**
 * Opens holdfast's own Cluster client, with ioredis.
 *
 * ioredis connects to a node at its first command, and can only queue that command meanwhile. This file connects every
 * primary as soon as it is known, so that a command is either written or fails at once.
 */
import type { Cluster, Redis } from 'ioredis';
import { type ClusterTarget, named, tlsOptions } from './address.ts';
import {
  CLOSE_MS,
  cannotConnect,
  commandSettings,
  listed,
  type OpenOptions,
  reasonAmong,
  reconnectDelayMs,
  shareMs,
  whenServing,
  within,
} from './connect-settings.ts';
import type { Driver } from './driver.ts';
import { ioredisClusterDriver } from './ioredis/cluster.ts';
import { ping } from './ioredis/connection.ts';

const NODE_PORT = 6_379;

/** How often to refresh the slot map. A command that was misdirected refreshes it at once. */
const REFRESH_EVERY_MS = 5_000;

/** Enough for a slot that moves during the redirection; more would only hide an inconsistent slot map. */
const MAX_REDIRECTIONS = 5;

/** The errors of ioredis that say no node could help, without the reason. */
const NO_NODE = /^(?:None of startup nodes is available|Failed to refresh slots cache)/;

function loginOf({ username, password, tls }: ClusterTarget) {
  return { username, password, tls: tlsOptions(tls) };
}

function settings(target: ClusterTarget, options: OpenOptions) {
  return {
    lazyConnect: true,
    // The nodes do not queue, and the driver checks before it sends. With false here, ioredis would report a node that
    // is still connecting as a broken connection.
    enableOfflineQueue: true,
    // A Cluster that is down refuses every command with that reason.
    enableReadyCheck: false,
    // A command in flight when its connection broke may have run: it is not sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 0,
    maxRedirections: MAX_REDIRECTIONS,
    slotsRefreshTimeout: shareMs(options.commandTimeoutMs),
    // The timer of ioredis survives a client that is closed during a refresh; see `refreshRegularly`.
    slotsRefreshInterval: 0,
    clusterRetryStrategy: reconnectDelayMs,
    // Certificates name hosts, so host names are not resolved to addresses.
    dnsLookup: (host: string, callback: (error: null, address: string) => void) => callback(null, host),
    redisOptions: { ...commandSettings(options), ...loginOf(target) },
    ...(target.natMap !== undefined && { natMap: target.natMap }),
  };
}

/** Connects to a Cluster. Resolves when every primary that can be reached within the time is connected. */
export async function openCluster(target: ClusterTarget, options: OpenOptions): Promise<Driver> {
  const { commandTimeoutMs } = options;
  const seeds = target.cluster.map(({ host, port = NODE_PORT }) => ({ host, port }));
  const { Cluster } = await import('ioredis');
  const client = new Cluster([...seeds], settings(target, options));
  const unreachable = new Map<string, Error>();
  const note = (error: Error, node: string) => unreachable.set(node, error);
  client.on('node error', note);
  client.on('+node', connectNode);
  const endsAt = performance.now() + commandTimeoutMs;
  try {
    await within(commandTimeoutMs, client, () => client.connect());
    await settledWithin(endsAt - performance.now(), client.nodes('master').map(whenConnected));
    assertAnyReady(client, unreachable);
  } catch (cause) {
    client.disconnect();
    const reason = NO_NODE.test((cause as Error).message)
      ? await reasonAmong(seeds, loginOf(target), options, async (node) => {
          await node.cluster('SLOTS');
        })
      : undefined;
    throw cannotConnect(
      `the Cluster at ${listed(seeds)}`,
      reason ?? cause,
      tlsOptions(target.tls) !== undefined,
    );
  }
  client.off('node error', note);
  const stopRefreshing = refreshRegularly(client);
  return ioredisClusterDriver(client, () => {
    stopRefreshing();
    return disconnect(client);
  });
}

/** Refreshes the slot map regularly. Returns a function that stops it. */
function refreshRegularly(client: Cluster): () => void {
  const timer = setInterval(() => client.refreshSlotsCache(() => {}), REFRESH_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Configures and connects a node that ioredis has just found. */
function connectNode(node: Redis): void {
  const { host = '', tls, readOnly } = node.options;
  if (tls !== undefined) node.options.tls = named(tls, host);
  // ioredis gives every node of a Cluster an offline queue, whatever its settings say.
  node.options.enableOfflineQueue = false;
  // ASKING precedes a command for a migrating slot. ioredis does not handle its rejection; the command fails as well.
  const asking = node.asking.bind(node);
  node.asking = () => {
    const said = asking();
    said.catch(() => undefined);
    return said;
  };
  // Replicas only answer questions about slots, on other connections. Commands to an unreachable node fail anyway.
  if (readOnly !== true) node.connect().catch(() => undefined);
}

async function whenConnected(node: Redis): Promise<void> {
  if (node.status !== 'ready') {
    await new Promise<void>((resolve, reject) => {
      node.once('ready', resolve);
      node.once('end', () => reject(new Error('The connection was closed')));
    });
  }
  await whenServing(node);
}

function assertAnyReady(client: Cluster, unreachable: ReadonlyMap<string, Error>): void {
  if (client.nodes('master').some(({ status }) => status === 'ready')) return;
  const [[node, error] = []] = unreachable;
  const reason = error?.message ?? 'no answer';
  const why =
    node === undefined
      ? 'the client can reach none of the primaries that the Cluster lists'
      : `the Cluster lists ${node}, which the client cannot reach (${reason}); natMap can translate the addresses`;
  throw new Error(why, { cause: error });
}

/** Waits a limited time for pending replies, then cuts the connections. */
async function disconnect(client: Cluster): Promise<void> {
  const nodes = client.nodes().filter(({ status }) => status !== 'wait' && status !== 'end');
  const ended = nodes.map((node) => new Promise((resolve) => node.once('end', resolve)));
  const endsAt = performance.now() + CLOSE_MS;
  // Replies arrive in order: when the PING is answered, all earlier commands are.
  await settledWithin(CLOSE_MS, nodes.map(ping));
  client.disconnect();
  await settledWithin(endsAt - performance.now(), ended);
}

/** Waits until all have settled, for a limited time. */
async function settledWithin(limitMs: number, promises: readonly Promise<unknown>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([Promise.allSettled(promises), over]);
  clearTimeout(timer);
}
