/** How the workers' clients are set up: what is promised differs by it. */
import type { ClientOptions } from '../src/index.ts';
import type { AnyStageName, Mode } from './fault.ts';

/** Short, so that leases end and graces pass many times in a storm. */
const WATCHDOG_MS = 1_500;

/** No lease in a storm is longer. */
const GRACE_MS = 2_000;

/** Sentinels demote a replaced primary after about three seconds; until then it grants what a client asks of it. */
const GRACE_WITH_SENTINELS_MS = 5_000;

export function graceMs(stage: AnyStageName): number {
  return stage === 'sentinel' ? GRACE_WITH_SENTINELS_MS : GRACE_MS;
}

export const MODES = {
  /** Everything that is promised. */
  guarded: { guard: true, replicas: 'auto', watchdogMs: WATCHDOG_MS },
  /** The defaults: replicas acknowledge, and a failover or a restart may grant twice. */
  plain: { guard: false, replicas: 'auto', watchdogMs: WATCHDOG_MS },
} as const satisfies Record<string, Mode>;

export type ModeName = keyof typeof MODES;

export function clientOptions({ guard, replicas, watchdogMs }: Mode, stage: AnyStageName): ClientOptions {
  return {
    watchdogMs,
    commandTimeoutMs: 600,
    replicaTimeoutMs: 250,
    fairWaitMs: 1_500,
    closeOnSignals: true,
    replicas,
    guard: guard ? { graceMs: graceMs(stage) } : false,
  };
}
