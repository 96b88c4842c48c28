/**
 * The facts about one primary, read from its reply to one round trip. Their consequences belong to `findings.ts`, the
 * choice of servers to `primaries.ts`.
 */
import type { inspectServer } from '../scripts/generated.ts';

/** A server's reply. */
export type ServerReply = Awaited<ReturnType<typeof inspectServer.run>>;

/** When a question was sent and answered, by the wall clock and by the monotonic clock. */
export interface RoundTrip {
  readonly sentAtWallMs: number;
  readonly answeredAtWallMs: number;
  readonly latencyMs: number;
}

/** The command used to try publishing; empty if it was not tried. */
export type Publishing = 'PUBLISH' | 'SPUBLISH' | '';

/** The facts about one primary; null for what it does not report. */
export interface ServerFacts {
  /** The driver's name for it: `host:port` in a Cluster, the empty string where there is only one. */
  readonly node: string;
  /** Whether INFO is permitted. */
  readonly info: boolean;
  readonly server: 'redis' | 'valkey' | null;
  readonly version: string | null;
  /** The Redis version it is compatible with, also if it is not Redis. */
  readonly redisVersion: string | null;
  readonly isCluster: boolean;
  readonly isReplica: boolean;
  readonly evictionPolicy: string | null;
  /** Whether it may evict locks: it has a memory limit and an evicting policy. */
  readonly mayEvictLocks: boolean | null;
  readonly persistence: Persistence | null;
  /** Replicas that acknowledge its writes, see `readReplication`. */
  readonly replicas: number | null;
  /** Every replica that is connected, for people. */
  readonly replicaStates: readonly ReplicaState[];
  /** Replicas that count for `min-replicas-to-write`; null where that is not set. */
  readonly goodReplicas: number | null;
  /** The empty string if not reported. */
  readonly replicationId: string;
  /** How far its clock is ahead of ours, or behind; 0 if the round trip can explain the difference. */
  readonly clockSkewMs: number;
  /** Whether publishing is permitted; `elsewhere`: on other channels only. Undefined if it was not tried. */
  readonly publishing: 'allowed' | 'elsewhere' | 'forbidden' | 'unknown' | undefined;
  readonly latencyMs: number;
}

/** A replica as its primary sees it. */
export interface ReplicaState {
  /** `host:port`, as the replica announces it. */
  readonly node: string;
  /** `online` once it follows; before, what is sent to it. */
  readonly state: string;
  /** How much of what the primary wrote it has not acknowledged; null if that is not reported. */
  readonly lagBytes: number | null;
}

/** How the server persists its data. INFO does not report whether it also takes snapshots. */
export interface Persistence {
  /** Whether it writes every change to an append-only file (AOF). */
  readonly appendOnly: boolean;
  /** Whether the last write to disk, of any kind, failed: such a server refuses writes. */
  readonly failing: boolean;
}

function field(info: string, name: string): string | null {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? null;
}

function numberIn(info: string, name: string): number | null {
  const text = field(info, name);
  return text === null ? null : Number(text);
}

/**
 * A replica that has been silent for longer does not count. This is the primary's own default limit (`repl-timeout`),
 * and longer than Sentinels or a Cluster take by default to promote a replica (30 s, 15 s): until then a primary that
 * is cut off refuses acquisitions, instead of granting locks that its successor does not know.
 */
const SILENT_AFTER_SECONDS = 60;

/**
 * Whether a replica acknowledges the primary's writes, by its line of INFO. A replica that is synchronising or loading
 * has acknowledged nothing yet, and a reader (`redis-cli --replica`) never does.
 */
function doesAcknowledge(line: string, isWritten: boolean): boolean {
  const { state, port, offset, lag } = fieldsOf(line);
  if (state !== 'online' || Number(lag) > SILENT_AFTER_SECONDS) return false;
  // A new primary has no writes to acknowledge. Readers announce no port.
  return isWritten ? Number(offset) > 0 : Number(port) > 0;
}

/** A primary's replication state; null, and the empty string, for what it does not report. */
export function readReplication(info: string): Pick<ServerFacts, 'replicas' | 'replicationId'> {
  const replicationId = field(info, 'master_replid') ?? '';
  // This number includes replicas that do not acknowledge.
  if (field(info, 'connected_slaves') === null) return { replicas: null, replicationId };
  const isWritten = numberIn(info, 'master_repl_offset') !== 0;
  const replicas = replicaLines(info).filter((line) => doesAcknowledge(line, isWritten)).length;
  return { replicas, replicationId };
}

function fieldsOf(line: string): Record<string, string | undefined> {
  return Object.fromEntries(line.split(',').map((part) => part.split('=')));
}

function replicaLines(info: string): string[] {
  return [...info.matchAll(/^(?:slave|replica)\d+:(.*?)\r?$/gm)].map(([, line = '']) => line);
}

function replicaStatesIn(info: string): ReplicaState[] {
  const written = numberIn(info, 'master_repl_offset');
  return replicaLines(info).map((line) => {
    const { ip = '', port = '', state = '', offset } = fieldsOf(line);
    const isKnown = written !== null && offset !== undefined;
    return { node: `${ip}:${port}`, state, lagBytes: isKnown ? Math.max(0, written - Number(offset)) : null };
  });
}

function persistenceIn(info: string): Persistence | null {
  const appendOnly = field(info, 'aof_enabled');
  if (appendOnly === null) return null;
  const words = ['rdb_last_bgsave_status', 'aof_last_write_status', 'aof_last_bgrewrite_status'];
  return { appendOnly: appendOnly === '1', failing: words.some((word) => field(info, word) === 'err') };
}

function mayEvict(info: string, policy: string | null): boolean | null {
  return policy === null ? null : field(info, 'maxmemory') !== '0' && policy !== 'noeviction';
}

/** The server read its clock between sending and answer: only a difference beyond that interval counts. */
function skewOf(nowMs: number, { sentAtWallMs, answeredAtWallMs }: RoundTrip): number {
  return Math.max(0, nowMs - answeredAtWallMs) + Math.min(0, nowMs - sentAtWallMs);
}

/** Servers before version 7.2 word the refusal differently for the command and for this channel. */
function publishingBy(command: Publishing, refusal: string): ServerFacts['publishing'] {
  if (command === '') return undefined;
  // Only old servers lack sharded channels; a server without PUBLISH had the command removed.
  if (/unknown/i.test(refusal)) return command === 'SPUBLISH' ? 'unknown' : 'forbidden';
  if (refusal === '') return 'allowed';
  return /can't run this|permissions to run/i.test(refusal) ? 'forbidden' : 'elsewhere';
}

export function readFacts(
  node: string,
  { info, nowMs, refusal }: ServerReply,
  trip: RoundTrip,
  tried: Publishing,
): ServerFacts {
  const redisVersion = field(info, 'redis_version');
  const valkeyVersion = field(info, 'valkey_version');
  const version = valkeyVersion ?? redisVersion;
  const evictionPolicy = field(info, 'maxmemory_policy');
  return {
    node,
    info: info !== '',
    server: version === null ? null : valkeyVersion === null ? 'redis' : 'valkey',
    version,
    redisVersion,
    isCluster: field(info, 'cluster_enabled') === '1',
    isReplica: field(info, 'role') === 'slave',
    evictionPolicy,
    mayEvictLocks: mayEvict(info, evictionPolicy),
    persistence: persistenceIn(info),
    ...readReplication(info),
    replicaStates: replicaStatesIn(info),
    goodReplicas: numberIn(info, 'min_slaves_good_slaves'),
    clockSkewMs: skewOf(nowMs, trip),
    publishing: publishingBy(tried, refusal),
    latencyMs: trip.latencyMs,
  };
}
