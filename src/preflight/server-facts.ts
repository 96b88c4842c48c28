/**
 * One primary as it presents itself: asked in one round trip, read from its own words. What follows from that is
 * left to `findings.ts`, whom to ask to `primaries.ts`.
 */
import type { inspectServer } from '../scripts/generated.ts';

/** What a server answered. */
export type ServerReply = Awaited<ReturnType<typeof inspectServer.run>>;

/** When a question was sent and its answer came, by the wall clock and by the monotonic one. */
export interface RoundTrip {
  readonly sentAtWallMs: number;
  readonly answeredAtWallMs: number;
  readonly latencyMs: number;
}

/** The command by which it was tried whether messages are taken; empty where that was not tried. */
export type Publishing = 'PUBLISH' | 'SPUBLISH' | '';

/** What is known of one primary; null stands for what it does not tell. */
export interface ServerFacts {
  /** As the driver calls it: `host:port` in a Cluster, the empty string where there is only one. */
  readonly node: string;
  /** Whether it tells of itself at all: INFO may be forbidden. */
  readonly info: boolean;
  readonly server: 'redis' | 'valkey' | null;
  readonly version: string | null;
  /** The version of Redis whose commands it has, also where it is something else. */
  readonly redisVersion: string | null;
  readonly isCluster: boolean;
  readonly isReplica: boolean;
  readonly evictionPolicy: string | null;
  /** Whether it may drop locks to make room: a memory limit together with an evicting policy. */
  readonly mayEvictLocks: boolean | null;
  readonly persistence: Persistence | null;
  /** Replicas that acknowledge what it writes, see `readReplication`. */
  readonly replicas: number | null;
  /** Replicas that are close enough for `min-replicas-to-write`; null where that is not set. */
  readonly goodReplicas: number | null;
  /** The empty string where it is not told. */
  readonly replicationId: string;
  /** How far its clock is ahead of ours, or behind; 0 when the difference can be the time that the answer took. */
  readonly clockSkewMs: number;
  /** Whether the command is there for us; `elsewhere`: though not for every channel. Undefined where it was not tried. */
  readonly publishing: 'allowed' | 'elsewhere' | 'forbidden' | 'unknown' | undefined;
  readonly latencyMs: number;
}

/** How the server keeps its data. Whether it also takes snapshots is not told. */
export interface Persistence {
  /** Whether every change is written to a file (AOF). */
  readonly appendOnly: boolean;
  /** Whether the last attempt to write to disk, of whatever kind, failed: such a server refuses writes. */
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
 * A replica that has been silent for longer is not asked. As long as the primary itself waits by default
 * (`repl-timeout`), and longer than Sentinels or a Cluster take by default to promote a replica (30 s, 15 s): a primary
 * that is cut off refuses until then, rather than grant what its successor does not know.
 */
const SILENT_AFTER_SECONDS = 60;

/**
 * Whether a replica acknowledges what the primary writes, by its line of INFO. A replica that is being synchronised, or
 * loads what it was sent, has acknowledged nothing yet, and a reader (`redis-cli --replica`) never does.
 */
function doesAcknowledge(line: string, isWritten: boolean): boolean {
  const { state, port, offset, lag } = Object.fromEntries(line.split(',').map((part) => part.split('=')));
  if (state !== 'online' || Number(lag) > SILENT_AFTER_SECONDS) return false;
  // A new primary has written nothing that could be acknowledged. Readers announce no port.
  return isWritten ? Number(offset) > 0 : Number(port) > 0;
}

/** What a primary tells of its replication; null, and the empty string, stand for what it does not tell. */
export function readReplication(info: string): Pick<ServerFacts, 'replicas' | 'replicationId'> {
  const replicationId = field(info, 'master_replid') ?? '';
  // This number includes those that do not acknowledge.
  if (field(info, 'connected_slaves') === null) return { replicas: null, replicationId };
  const isWritten = numberIn(info, 'master_repl_offset') !== 0;
  const lines = [...info.matchAll(/^(?:slave|replica)\d+:(.*?)\r?$/gm)];
  const replicas = lines.filter(([, line = '']) => doesAcknowledge(line, isWritten)).length;
  return { replicas, replicationId };
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

/** The server read its clock somewhere between the two moments: only what is outside of them is a difference. */
function skewOf(nowMs: number, { sentAtWallMs, answeredAtWallMs }: RoundTrip): number {
  return Math.max(0, nowMs - answeredAtWallMs) + Math.min(0, nowMs - sentAtWallMs);
}

/** Servers before version 7.2 word it in their own way: the command, or only this channel. */
function publishingBy(command: Publishing, refusal: string): ServerFacts['publishing'] {
  if (command === '') return undefined;
  // Only old servers lack sharded channels; one without any had the command taken away.
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
    goodReplicas: numberIn(info, 'min_slaves_good_slaves'),
    clockSkewMs: skewOf(nowMs, trip),
    publishing: publishingBy(tried, refusal),
    latencyMs: trip.latencyMs,
  };
}
