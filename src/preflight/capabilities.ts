/**
 * What the servers offer and what was chosen accordingly, in one object for people and programs. Of several
 * primaries the weakest counts.
 */
import type { ChannelKind, Topology } from '../drivers/driver.ts';
import type { ReplicaCounts, ReplicaWish } from '../requests/replica-counts.ts';
import type { Persistence, ServerFacts } from './server-facts.ts';

/** What was found out about the server, and what follows from it; null stands for what it does not tell. */
export interface Capabilities {
  /** The client library in use: `ioredis`, `node-redis` or `valkey-glide`. */
  readonly library: string;
  readonly topology: Topology;
  /** How many primaries have been looked at: all of a Cluster, one elsewhere. */
  readonly primaries: number;
  /** Whether the server may be asked what it is (INFO). If not, most of the following is unknown. */
  readonly info: boolean;
  readonly server: 'redis' | 'valkey' | null;
  /** The oldest, where there are several. */
  readonly version: string | null;
  /** What the server does when its memory is full. */
  readonly evictionPolicy: string | null;
  /** Whether the server may drop locks to make room: a memory limit together with an evicting policy. */
  readonly mayEvictLocks: boolean | null;
  readonly persistence: Persistence | null;
  readonly replicas: {
    /** Replicas that are online and acknowledge what the primary writes; those of the primary that is worst off. */
    readonly connected: number | null;
    /** How many of them have to acknowledge an acquisition. */
    readonly required: number;
    /** Why acknowledgements cannot be had here; null when they can. */
    readonly obstacle: string | null;
    /** Whether a primary that has lost its replicas stops granting (`min-replicas-to-write`). */
    readonly stopsAlone: boolean | null;
  };
  readonly guard: {
    /** Whether locks have it unless they are told otherwise. */
    readonly on: boolean;
    readonly graceMs: number;
    /** Why it cannot work here; null when it can. */
    readonly obstacle: string | null;
  };
  /** How waiters are woken: by channels of the slot or of the server, or not at all, so that they ask again. */
  readonly pubSub: 'sharded' | 'plain' | 'polling';
  /** How far the clock of the server is ahead of ours, or behind. Nothing is decided by it. */
  readonly clockSkewMs: number;
}

/** What the client was told to do. */
export interface Wishes {
  readonly library: string;
  readonly topology: Topology;
  readonly replicas: ReplicaWish;
  readonly guard: { readonly on: boolean; readonly graceMs: number };
}

/** What was found out besides the facts of single servers. */
export interface Experience {
  readonly replicaCounts: Pick<ReplicaCounts, 'refusal' | 'required'>;
  /** How wake-ups travel. */
  readonly channels: ChannelKind;
  /** Whether the server refused to let us subscribe. */
  readonly isDeaf: boolean;
}

const NO_INFO = 'the server does not tell what it is (no permission for INFO)';

function guardObstacle(facts: readonly ServerFacts[]): string | null {
  if (facts.some(({ info }) => !info)) return NO_INFO;
  return facts.some(({ replicationId }) => replicationId === '')
    ? 'the server tells no replication id (master_replid of INFO)'
    : null;
}

function replicaObstacle(wish: ReplicaWish, refusal: string | null, isTold: boolean): string | null {
  if (wish === 0) return null;
  if (refusal !== null) return `the server does not let us wait for replicas (WAIT): ${refusal}`;
  return isTold || typeof wish === 'number'
    ? null
    : 'the server does not tell how many replicas it has (no permission for INFO)';
}

/** The one that is furthest to one side; null when one of them does not tell. */
function extreme<T>(values: readonly (T | null)[], isBeyond: (one: T, other: T) => boolean): T | null {
  let found: T | null = null;
  for (const value of values) {
    if (value === null) return null;
    if (found === null || isBeyond(value, found)) found = value;
  }
  return found;
}

interface Standing {
  readonly connected: number | null;
  readonly required: number;
}

/** How the primary stands that does not tell, or else lacks the most replicas, or has the fewest. */
function worstStanding(
  facts: readonly ServerFacts[],
  replicaCounts: Experience['replicaCounts'],
): Standing | undefined {
  const spare = ({ connected, required }: Standing) => (connected ?? Number.NEGATIVE_INFINITY) - required;
  return facts
    .map(({ node, replicas }) => ({
      connected: replicas,
      required: replicaCounts.required(node, replicas ?? 0),
    }))
    .sort((one, other) => spare(one) - spare(other) || (one.connected ?? 0) - (other.connected ?? 0))[0];
}

/** Whether one version comes before another, number by number. */
export function isOlder(one: string, other: string): boolean {
  const [left, right] = [one, other].map((version) =>
    version.split('.').map((part) => Number.parseInt(part, 10)),
  );
  for (const [i, number] of (right ?? []).entries()) {
    const difference = (left?.[i] || 0) - (number || 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** @param facts of one server at least */
export function summarize(
  facts: readonly ServerFacts[],
  wishes: Wishes,
  experience: Experience,
): Capabilities {
  const { library, topology, replicas, guard } = wishes;
  const { replicaCounts, channels, isDeaf } = experience;
  const weakest = facts.find(({ mayEvictLocks }) => mayEvictLocks) ?? facts[0];
  const standing = worstStanding(facts, replicaCounts) ?? { connected: null, required: 0 };
  const isInfoAllowed = facts.every(({ info }) => info);
  return {
    library,
    topology,
    primaries: facts.length,
    info: isInfoAllowed,
    server: weakest?.server ?? null,
    version: extreme(
      facts.map(({ version }) => version),
      isOlder,
    ),
    evictionPolicy: weakest?.evictionPolicy ?? null,
    mayEvictLocks: weakest?.mayEvictLocks ?? null,
    persistence: extreme(
      facts.map(({ persistence }) => persistence),
      (one, other) => one.failing || (!one.appendOnly && !other.failing),
    ),
    replicas: {
      ...standing,
      obstacle: replicaObstacle(replicas, replicaCounts.refusal, standing.connected !== null),
      stopsAlone: isInfoAllowed ? facts.every(({ goodReplicas }) => goodReplicas !== null) : null,
    },
    guard: { ...guard, obstacle: guardObstacle(facts) },
    pubSub: isDeaf ? 'polling' : channels,
    clockSkewMs:
      extreme(
        facts.map((one) => one.clockSkewMs),
        (one, other) => Math.abs(one) > Math.abs(other),
      ) ?? 0,
  };
}
