/**
 * What the servers offer and what was chosen accordingly, in one object for people and programs. Of several
 * primaries the weakest counts.
 */
import type { Topology } from '../drivers/driver.ts';
import { neededOf, type ReplicaWish } from '../runtime/acknowledgement.ts';
import type { Persistence, ServerFacts } from './server.ts';

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
    /** Those of the primary that has the fewest. */
    readonly connected: number | null;
    /** How many have to acknowledge an acquisition. */
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
  /** How many there are, where that was said. */
  readonly expectedReplicas: number;
  readonly guard: { readonly on: boolean; readonly graceMs: number };
  readonly isSharded: boolean;
}

/** What was found out besides the facts of single servers. */
export interface Experience {
  /** How the server refused to wait for replicas; null when it did not. */
  readonly waitRefusal: string | null;
  /** Whether it refused to let us subscribe. */
  readonly isDeaf: boolean;
}

const NO_INFO = 'the server does not tell what it is (no permission for INFO)';

function guardObstacle(facts: readonly ServerFacts[]): string | null {
  if (facts.some(({ info }) => !info)) return NO_INFO;
  return facts.some(({ replicationId }) => replicationId === '')
    ? 'the server tells no replication id (master_replid of INFO)'
    : null;
}

function replicaObstacle(
  wish: ReplicaWish,
  connected: number | null,
  { waitRefusal }: Experience,
): string | null {
  if (wish === 0) return null;
  if (waitRefusal !== null) return `the server does not let us wait for replicas (WAIT): ${waitRefusal}`;
  return connected === null && typeof wish !== 'number'
    ? 'the server does not tell how many replicas it has (no permission for INFO)'
    : null;
}

/** For what is connected now; where they are optional, none are asked for that cannot be had. */
function requiredOf({ replicas, expectedReplicas }: Wishes, connected: number, isPossible: boolean): number {
  if (replicas === 'auto') return isPossible ? neededOf(replicas, connected) : 0;
  return neededOf(replicas, Math.max(expectedReplicas, connected));
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
  const { library, topology, guard, isSharded } = wishes;
  const weakest = facts.find(({ mayEvictLocks }) => mayEvictLocks) ?? facts[0];
  const connected = extreme(
    facts.map(({ replicas }) => replicas),
    (one, other) => one < other,
  );
  const obstacle = replicaObstacle(wishes.replicas, connected, experience);
  const isInfoAllowed = facts.every(({ info }) => info);
  const knowsSharded = facts.every(({ publishing }) => publishing !== 'unknown');
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
      connected,
      required: requiredOf(wishes, connected ?? 0, obstacle === null),
      obstacle,
      stopsAlone: isInfoAllowed ? facts.every(({ goodReplicas }) => goodReplicas !== null) : null,
    },
    guard: { ...guard, obstacle: guardObstacle(facts) },
    pubSub: experience.isDeaf ? 'polling' : isSharded && knowsSharded ? 'sharded' : 'plain',
    clockSkewMs:
      extreme(
        facts.map((one) => one.clockSkewMs),
        (one, other) => Math.abs(one) > Math.abs(other),
      ) ?? 0,
  };
}
