/**
 * Judges a server that is to keep locks: why it cannot be used at all, and what limits it. Decides by facts only;
 * `preflight.ts` reports the findings.
 */
import { DriverError } from '../errors.ts';
import type { WarningCode } from '../events.ts';
import { type Capabilities, isOlder, type Wishes } from './capabilities.ts';
import type { ServerFacts } from './server-facts.ts';

/** A limitation of the server or its configuration. */
export interface Finding {
  readonly code: WarningCode;
  readonly message: string;
  /** The server concerned; omitted where there is only one, or where it concerns all. */
  readonly node?: string;
}

/** Why a server cannot be used. */
export interface Unfitness {
  readonly error: DriverError;
  /** Whether only another server or client can change that. False for a replica: it may be promoted at any moment. */
  readonly isLasting: boolean;
}

/** The fair lock needs LPOS; all other commands are older. */
const OLDEST_VERSION = '6.0.6';

/** Clocks of synchronised machines differ by less. */
const TOLERATED_SKEW_MS = 10_000;

function nameOf({ node }: ServerFacts): string {
  return node === '' ? 'The server' : `The server ${node}`;
}

/** Undefined when all of them can be used. */
export function unfitnessOf(facts: readonly ServerFacts[], { topology }: Wishes): Unfitness | undefined {
  for (const one of facts) {
    const unfit = (message: string, isLasting: boolean) => ({ error: new DriverError(message), isLasting });
    const { redisVersion, isCluster, isReplica } = one;
    if (redisVersion !== null && isOlder(redisVersion, OLDEST_VERSION)) {
      return unfit(
        `${nameOf(one)} is Redis ${redisVersion}; ${OLDEST_VERSION} is the oldest that will do`,
        true,
      );
    }
    if (isCluster && topology !== 'cluster') {
      return unfit(
        `${nameOf(one)} is part of a Cluster, and the client is for a single server: it would miss every key that ` +
          'another node has. Give { cluster: [{ host, port }] }, or a Cluster client of the library',
        true,
      );
    }
    if (isReplica) {
      return unfit(
        `${nameOf(one)} is a read-only replica: locks are kept by its primary. Connect to that one`,
        false,
      );
    }
  }
  return undefined;
}

function aboutOne(one: ServerFacts, { topology }: Wishes, isGuarded: boolean): Finding[] {
  const findings: Finding[] = [];
  const found = (code: WarningCode, message: string) =>
    findings.push({ code, message, ...(topology === 'cluster' && { node: one.node }) });
  const { evictionPolicy, persistence, goodReplicas, replicas, clockSkewMs, publishing } = one;
  if (!one.info) {
    found(
      'HOLDFAST_NO_INFO',
      `${nameOf(one)} does not tell what it is (no permission for INFO): whether it evicts locks, keeps its data or ` +
        'has replicas stays unknown',
    );
  }
  if (one.mayEvictLocks) {
    found(
      'HOLDFAST_EVICTION',
      `${nameOf(one)} has a maxmemory-policy of ${evictionPolicy}: when its memory is full it drops locks that are ` +
        'held, and somebody else gets in. Use noeviction for a server that keeps locks',
    );
  }
  if (persistence?.failing) {
    found(
      'HOLDFAST_DISK',
      `${nameOf(one)} could not write its data to disk, and may refuse to grant locks until it can`,
    );
  }
  if (goodReplicas === 0) {
    found(
      'HOLDFAST_FEW_REPLICAS',
      `${nameOf(one)} has no replica that is close enough (min-replicas-to-write), and refuses to grant locks`,
    );
  }
  if (isGuarded && goodReplicas === null && replicas !== null && replicas > 0) {
    found(
      'HOLDFAST_SPLIT_BRAIN',
      `${nameOf(one)} goes on granting locks when it is cut off from its replicas, also after one of them was ` +
        'promoted. The guard needs min-replicas-to-write 1 with a min-replicas-max-lag shorter than a failover takes',
    );
  }
  if (Math.abs(clockSkewMs) > TOLERATED_SKEW_MS) {
    const [seconds, side] = [
      Math.round(Math.abs(clockSkewMs) / 1000),
      clockSkewMs > 0 ? 'ahead of' : 'behind',
    ];
    found(
      'HOLDFAST_CLOCK_SKEW',
      `The clock of ${nameOf(one).replace('The', 'the')} is ${seconds} s ${side} ours. No lock depends on it, but ` +
        'people who compare times will be misled',
    );
  }
  if (publishing === 'forbidden') {
    found(
      'HOLDFAST_NO_PUBLISH',
      `${nameOf(one)} does not let us publish: releases wake nobody, and waiters fall back on polling`,
    );
  }
  return findings;
}

function aboutAll(
  { replicas, guard }: Capabilities,
  { replicas: wish }: Wishes,
  isGuarded: boolean,
): Finding[] {
  const findings: Finding[] = [];
  const found = (code: WarningCode, message: string) => findings.push({ code, message });
  if (isGuarded && guard.obstacle !== null) {
    found(
      'HOLDFAST_NO_GUARD',
      `The guard cannot work, so that no lock with it is granted: ${guard.obstacle}`,
    );
  }
  if (replicas.obstacle !== null) {
    const follows =
      wish === 'auto'
        ? 'No replica is asked to acknowledge a lock, which may be lost with the primary that granted it'
        : 'No lock is granted without the acknowledgements that were asked for, and they cannot be had';
    found('HOLDFAST_NO_REPLICAS', `${follows}: ${replicas.obstacle}`);
  } else if (replicas.connected !== null && replicas.connected < replicas.required) {
    found(
      'HOLDFAST_FEW_REPLICAS',
      `${replicas.required} replicas have to acknowledge a lock and ${replicas.connected} are connected and do: ` +
        'none is granted until there are more',
    );
  } else if (wish === 'majority' && replicas.required === 0) {
    found(
      'HOLDFAST_FEW_REPLICAS',
      'No replica acknowledges, nor was one seen that did: the primary alone is the majority, and locks are granted ' +
        'that nobody acknowledges. Ask for a number where there should be replicas',
    );
  }
  return findings;
}

/** The findings to warn of. @param isGuarded whether any lock has the guard */
export function findingsOf(
  facts: readonly ServerFacts[],
  capabilities: Capabilities,
  wishes: Wishes,
  isGuarded: boolean,
): Finding[] {
  return [
    ...facts.flatMap((one) => aboutOne(one, wishes, isGuarded)),
    ...aboutAll(capabilities, wishes, isGuarded),
  ];
}

/** The required feature that the servers cannot provide; undefined if there is none. */
export function unfulfilled({ guard, replicas }: Capabilities, wishes: Wishes): DriverError | undefined {
  if (guard.on && guard.obstacle !== null) {
    return new DriverError(`The guard was asked for and cannot work here: ${guard.obstacle}`);
  }
  if (wishes.replicas !== 'auto' && replicas.obstacle !== null) {
    return new DriverError(
      `Acknowledgements of replicas were asked for and cannot be had here: ${replicas.obstacle}`,
    );
  }
  return undefined;
}
