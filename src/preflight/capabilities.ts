/**
 * Summarises the servers' facts and the settings chosen from them in one object. With several primaries, the weakest
 * one counts.
 */
import type { ChannelKind, Topology } from '../drivers/driver.ts';
import type { ReplicaCounts, ReplicaRequirement } from '../requests/replica-counts.ts';
import type { Persistence, ServerFacts } from './server-facts.ts';

/** The server's properties and the settings that follow from them; null for what the server does not report. */
export interface Capabilities {
  /** The client library in use: `ioredis`, `node-redis` or `valkey-glide`. */
  readonly library: string;
  readonly topology: Topology;
  /** How many primaries were inspected: all of a Cluster, otherwise one. */
  readonly primaries: number;
  /** Whether INFO is permitted. If not, most of the following is unknown. */
  readonly info: boolean;
  readonly server: 'redis' | 'valkey' | null;
  /** The oldest, if there are several. */
  readonly version: string | null;
  /** The server's `maxmemory-policy`. */
  readonly evictionPolicy: string | null;
  /** Whether the server may evict locks: it has a memory limit and an evicting policy. */
  readonly mayEvictLocks: boolean | null;
  readonly persistence: Persistence | null;
  readonly replicas: {
    /** Online replicas that acknowledge the primary's writes; the number of the primary with the worst state. */
    readonly connected: number | null;
    /** How many replicas must acknowledge an acquisition. */
    readonly required: number;
    /** Why acknowledgements are impossible here; null when they are possible. */
    readonly obstacle: string | null;
    /** Whether a primary that has lost its replicas stops granting (`min-replicas-to-write`). */
    readonly stopsAlone: boolean | null;
  };
  readonly guard: {
    /** Whether locks have the guard by default. */
    readonly on: boolean;
    readonly graceMs: number;
    /** Why the guard cannot work here; null when it can. */
    readonly obstacle: string | null;
  };
  /** How waiters are woken: by channels of the slot, by channels of the server, or not at all, so that they poll. */
  readonly pubSub: 'sharded' | 'plain' | 'polling';
  /** How far the server's clock is ahead of ours, or behind. No decision depends on it. */
  readonly clockSkewMs: number;
}

/** What the client's settings require of its servers. */
export interface Requirements {
  readonly library: string;
  readonly topology: Topology;
  readonly replicas: ReplicaRequirement;
  readonly guard: { readonly on: boolean; readonly graceMs: number };
}

/** What was learned beyond the facts of single servers. */
export interface Experience {
  readonly replicaCounts: Pick<ReplicaCounts, 'refusal' | 'required'>;
  /** The channels of wake-ups. */
  readonly channels: ChannelKind;
  /** Whether the server refused subscriptions. */
  readonly isDeaf: boolean;
}

const NO_INFO = 'the server does not permit INFO';

function guardObstacle(facts: readonly ServerFacts[]): string | null {
  if (facts.some(({ info }) => !info)) return NO_INFO;
  return facts.some(({ replicationId }) => replicationId === '')
    ? 'the server does not report a replication id (master_replid of INFO)'
    : null;
}

function replicaObstacle(
  requirement: ReplicaRequirement,
  refusal: string | null,
  isTold: boolean,
): string | null {
  if (requirement === 0) return null;
  if (refusal !== null) return `the server does not permit waiting for replicas (WAIT): ${refusal}`;
  return isTold || typeof requirement === 'number'
    ? null
    : 'the server does not report how many replicas it has (INFO)';
}

/** The most extreme value; null when one of them is unknown. */
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

/** The replica state of the weakest primary: unknown, or else the most replicas short, or else the fewest replicas. */
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

/** Whether one version precedes another, compared number by number. */
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

/** @param facts of at least one server */
export function summarize(
  facts: readonly ServerFacts[],
  requirements: Requirements,
  experience: Experience,
): Capabilities {
  const { library, topology, replicas, guard } = requirements;
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
