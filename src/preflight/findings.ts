/**
 * Judges a server that is to keep locks: why it cannot be used at all, and what limits it. Decides by facts only;
 * `preflight.ts` reports the findings.
 */
import { DriverError } from '../errors.ts';
import type { WarningCode } from '../events.ts';
import { type Capabilities, isOlder, type Requirements } from './capabilities.ts';
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
export function unfitnessOf(
  facts: readonly ServerFacts[],
  { topology }: Requirements,
): Unfitness | undefined {
  for (const one of facts) {
    const unfit = (message: string, isLasting: boolean) => ({ error: new DriverError(message), isLasting });
    const { redisVersion, isCluster, isReplica } = one;
    if (redisVersion !== null && isOlder(redisVersion, OLDEST_VERSION)) {
      return unfit(
        `${nameOf(one)} is Redis ${redisVersion}; holdfast needs ${OLDEST_VERSION} or newer`,
        true,
      );
    }
    if (isCluster && topology !== 'cluster') {
      return unfit(
        `${nameOf(one)} is part of a Cluster, but the client is for a single server and would not find the keys of ` +
          'other nodes. Use { cluster: [{ host, port }] }, or a Cluster client of the library',
        true,
      );
    }
    if (isReplica) {
      return unfit(`${nameOf(one)} is a read-only replica. Connect to its primary`, false);
    }
  }
  return undefined;
}

function aboutOne(one: ServerFacts, { topology }: Requirements, isGuarded: boolean): Finding[] {
  const findings: Finding[] = [];
  const found = (code: WarningCode, message: string) =>
    findings.push({ code, message, ...(topology === 'cluster' && { node: one.node }) });
  const { evictionPolicy, persistence, goodReplicas, replicas, clockSkewMs, publishing } = one;
  if (!one.info) {
    found(
      'HOLDFAST_NO_INFO',
      `${nameOf(one)} does not permit INFO: the client cannot check whether the server evicts locks, ` +
        'persists its data or has replicas',
    );
  }
  if (one.mayEvictLocks) {
    found(
      'HOLDFAST_EVICTION',
      `${nameOf(one)} has the maxmemory-policy ${evictionPolicy}: when its memory is full, the server deletes locks ` +
        'that are held, and another owner can get them. Use noeviction',
    );
  }
  if (persistence?.failing) {
    found(
      'HOLDFAST_DISK',
      `${nameOf(one)} could not write its data to disk, and may refuse to grant locks until it succeeds`,
    );
  }
  if (goodReplicas === 0) {
    found(
      'HOLDFAST_FEW_REPLICAS',
      `${nameOf(one)} has too few replicas in sync (min-replicas-to-write), and refuses to grant locks`,
    );
  }
  if (isGuarded && goodReplicas === null && replicas !== null && replicas > 0) {
    found(
      'HOLDFAST_SPLIT_BRAIN',
      `${nameOf(one)} keeps granting locks while it is cut off from its replicas, even after one of them was ` +
        'promoted. The guard needs min-replicas-to-write 1 and a min-replicas-max-lag shorter than a failover',
    );
  }
  if (Math.abs(clockSkewMs) > TOLERATED_SKEW_MS) {
    const [seconds, side] = [
      Math.round(Math.abs(clockSkewMs) / 1000),
      clockSkewMs > 0 ? 'ahead of' : 'behind',
    ];
    found(
      'HOLDFAST_CLOCK_SKEW',
      `The clock of ${nameOf(one).replace('The', 'the')} is ${seconds} s ${side} the clock of this machine. Locks do not depend on it, ` +
        'but times in logs will not match',
    );
  }
  if (publishing === 'forbidden') {
    found(
      'HOLDFAST_NO_PUBLISH',
      `${nameOf(one)} does not permit PUBLISH: a release cannot wake waiters, so they poll instead`,
    );
  }
  return findings;
}

function aboutAll(
  { replicas, guard }: Capabilities,
  { replicas: requirement }: Requirements,
  isGuarded: boolean,
): Finding[] {
  const findings: Finding[] = [];
  const found = (code: WarningCode, message: string) => findings.push({ code, message });
  if (isGuarded && guard.obstacle !== null) {
    found(
      'HOLDFAST_NO_GUARD',
      `The guard cannot work, so the client grants no guarded lock: ${guard.obstacle}`,
    );
  }
  if (replicas.obstacle !== null) {
    const follows =
      requirement === 'auto'
        ? 'Locks are granted without replica acknowledgements and may be lost in a failover'
        : 'No lock is granted: replica acknowledgements are required, but not available';
    found('HOLDFAST_NO_REPLICAS', `${follows}: ${replicas.obstacle}`);
  } else if (replicas.connected !== null && replicas.connected < replicas.required) {
    found(
      'HOLDFAST_FEW_REPLICAS',
      `No lock is granted: ${replicas.required} replicas must acknowledge it, and only ${replicas.connected} of the ` +
        'connected replicas acknowledge',
    );
  } else if (requirement === 'majority' && replicas.required === 0) {
    found(
      'HOLDFAST_FEW_REPLICAS',
      'The primary has no replica that acknowledges, so the primary alone is the majority, and locks are granted ' +
        'without acknowledgements. Set replicas to a number if there should be replicas',
    );
  }
  return findings;
}

/** The findings to warn of. @param isGuarded whether any lock has the guard */
export function findingsOf(
  facts: readonly ServerFacts[],
  capabilities: Capabilities,
  requirements: Requirements,
  isGuarded: boolean,
): Finding[] {
  return [
    ...facts.flatMap((one) => aboutOne(one, requirements, isGuarded)),
    ...aboutAll(capabilities, requirements, isGuarded),
  ];
}

/** The required feature that the servers cannot provide; undefined if there is none. */
export function unfulfilled(
  { guard, replicas }: Capabilities,
  requirements: Requirements,
): DriverError | undefined {
  if (guard.on && guard.obstacle !== null) {
    return new DriverError(`The guard is on, but cannot work here: ${guard.obstacle}`);
  }
  if (requirements.replicas !== 'auto' && replicas.obstacle !== null) {
    return new DriverError(
      `Replica acknowledgements are required, but not available here: ${replicas.obstacle}`,
    );
  }
  return undefined;
}
