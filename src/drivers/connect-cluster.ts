/**
 * Opens a Cluster client of ours, with ioredis and settings of our choice.
 *
 * ioredis connects to a node when it gets its first command, and has no other way to wait than to queue it. Here
 * every primary is connected as soon as it is known, so that a command either can be written or fails at once.
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

/** How often to ask who has which slots. Commands that went wrong have it asked at once. */
const REFRESH_EVERY_MS = 5_000;

/** Enough for a slot that moves on while it is followed; more only hides a Cluster that does not know itself. */
const MAX_REDIRECTIONS = 5;

/** How ioredis says that no node could help, without saying why. */
const NO_NODE = /^(?:None of startup nodes is available|Failed to refresh slots cache)/;

function loginOf({ username, password, tls }: ClusterTarget) {
  return { username, password, tls: tlsOptions(tls) };
}

function settings(target: ClusterTarget, commandTimeoutMs: number) {
  return {
    lazyConnect: true,
    // The nodes do not queue, and the driver looks before it sends. Told here, ioredis would answer for a node
    // that is still connecting as if the connection had broken.
    enableOfflineQueue: true,
    // A Cluster that is not in order says so to every command.
    enableReadyCheck: false,
    // What was in flight when a connection broke may have run: it is not sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 0,
    maxRedirections: MAX_REDIRECTIONS,
    slotsRefreshTimeout: shareMs(commandTimeoutMs),
    // The timer of ioredis goes on after a client that is closed during a refresh; see `refreshRegularly`.
    slotsRefreshInterval: 0,
    clusterRetryStrategy: reconnectDelayMs,
    // Certificates are made out to names: they are not turned into addresses.
    dnsLookup: (host: string, callback: (error: null, address: string) => void) => callback(null, host),
    redisOptions: { ...commandSettings(commandTimeoutMs), ...loginOf(target) },
    ...(target.natMap !== undefined && { natMap: target.natMap }),
  };
}

/** Connects to a Cluster; resolves when every primary that can be reached within the time is. */
export async function openCluster(target: ClusterTarget, { commandTimeoutMs }: OpenOptions): Promise<Driver> {
  const seeds = target.cluster.map(({ host, port = NODE_PORT }) => ({ host, port }));
  const { Cluster } = await import('ioredis');
  const client = new Cluster([...seeds], settings(target, commandTimeoutMs));
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
      ? await reasonAmong(seeds, loginOf(target), commandTimeoutMs, async (node) => {
          await node.cluster('SLOTS');
        })
      : undefined;
    throw cannotConnect(`the Cluster at ${listed(seeds)}`, reason ?? cause);
  }
  client.off('node error', note);
  const stopRefreshing = refreshRegularly(client);
  return ioredisClusterDriver(client, () => {
    stopRefreshing();
    return disconnect(client);
  });
}

/** Has it asked again and again who has which slots. Answers how to stop that. */
function refreshRegularly(client: Cluster): () => void {
  const timer = setInterval(() => client.refreshSlotsCache(() => {}), REFRESH_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Makes a node of ours of one that ioredis has just learned of. */
function connectNode(node: Redis): void {
  const { host = '', tls, readOnly } = node.options;
  if (tls !== undefined) node.options.tls = named(tls, host);
  // ioredis gives every node of a Cluster a queue, whatever it was told.
  node.options.enableOfflineQueue = false;
  // The word before a command for a slot on the move; nobody handles its failure, which the command shares.
  const asking = node.asking.bind(node);
  node.asking = () => {
    const said = asking();
    said.catch(() => undefined);
    return said;
  };
  // Replicas are there to be asked who has which slots, on other connections.
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
  throw new Error(
    `it names ${node ?? 'no node'}, which cannot be reached (${error?.message ?? 'no answer'}); natMap says where the nodes are`,
    { cause: error },
  );
}

/** Lets replies that are under way arrive, within a bound, then cuts the connections. */
async function disconnect(client: Cluster): Promise<void> {
  const nodes = client.nodes().filter(({ status }) => status !== 'wait' && status !== 'end');
  const ended = nodes.map((node) => new Promise((resolve) => node.once('end', resolve)));
  const endsAt = performance.now() + CLOSE_MS;
  // Answers come in order: what was sent before has been answered when this has.
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
