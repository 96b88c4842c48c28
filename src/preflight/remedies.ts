/**
 * What to do about a problem, by its code: for people who look at a server's fitness with the command line or a
 * dashboard. The messages of findings say what is wrong; this says how to change it.
 */
import type { WarningCode } from '../events.ts';
import type { Problem } from './health.ts';

const OF_WARNINGS: Record<WarningCode, string> = {
  HOLDFAST_EVICTION: 'CONFIG SET maxmemory-policy noeviction, or keep locks on a server that is not a cache',
  HOLDFAST_NO_INFO: 'allow +info to the user of the locks',
  HOLDFAST_NO_PUBLISH: 'allow +publish (in a Cluster +spublish) and channels &redisson_*',
  HOLDFAST_NO_SUBSCRIBE:
    'allow +subscribe +unsubscribe (in a Cluster +ssubscribe +sunsubscribe) and &redisson_*',
  HOLDFAST_NO_REPLICAS: 'allow +wait and +info, or set replicas to 0 where a failover may lose locks',
  HOLDFAST_FEW_REPLICAS: 'bring the replicas back, or lower replicas or min-replicas-to-write',
  HOLDFAST_NO_GUARD: 'allow +info and keys that start with holdfast_guard, or switch the guard off',
  HOLDFAST_SPLIT_BRAIN: 'CONFIG SET min-replicas-to-write 1, and min-replicas-max-lag 10',
  HOLDFAST_STALE_PRIMARY: 'nothing, if it lasts for seconds; otherwise check that clients ask the Sentinels',
  HOLDFAST_DISK:
    'free disk space, check the log of the server; CONFIG SET stop-writes-on-bgsave-error no only if locks may be lost',
  HOLDFAST_CLOCK_SKEW: 'synchronise the clocks of both machines (NTP)',
  HOLDFAST_UNFIT: 'connect to the primary of a supported version; to a Cluster with --cluster',
  HOLDFAST_NO_LABEL: 'allow +set +del +get and keys that start with holdfast_client',
  HOLDFAST_HELD_LONG: 'look at the stack of the warning: who holds it, and for what',
  HOLDFAST_WAIT_LONG: 'look at the stack of the warning, and at the holder',
  HOLDFAST_SELF_WAIT: 'take the lock as the owner of the section, or outside of it',
  HOLDFAST_NOT_SET_UP: 'create the semaphore with trySetPermits, or with the option permits',
  HOLDFAST_PERMITS_DIFFER: 'use one number everywhere, or change it with setPermits or addPermits',
};

const OTHERWISE = 'check that the server runs, the address and the password, and what lies between';

/** How to get rid of a problem. */
export function remedyOf(code: Problem['code']): string {
  return OF_WARNINGS[code as WarningCode] ?? OTHERWISE;
}
