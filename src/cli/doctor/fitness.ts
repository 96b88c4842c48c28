/**
 * What the library found out about the server: its findings with remedies, and what is well.
 */
import type { Holdfast } from '../../client.ts';
import type { Capabilities } from '../../preflight/capabilities.ts';
import type { Problem } from '../../preflight/health.ts';
import { remedyOf } from '../../preflight/remedies.ts';
import { lasting } from '../render/time.ts';
import type { Check } from './check.ts';

/** Locks are granted and kept in spite of these. */
const ONLY_WORSE =
  /^HOLDFAST_(?:NO_INFO|NO_PUBLISH|NO_SUBSCRIBE|CLOCK_SKEW|NO_LABEL|SPLIT_BRAIN|STALE_PRIMARY)$/;

function problemCheck({ code, message, node }: Problem): Check {
  const status = ONLY_WORSE.test(code) ? 'warning' : 'error';
  return { about: node ?? 'finding', status, message, code, remedy: remedyOf(code) };
}

const known = (check: Check, isKnown: boolean): Check[] => (isKnown ? [check] : []);

function evictionCheck({ evictionPolicy, mayEvictLocks }: Capabilities): Check[] {
  const message = `maxmemory-policy is ${evictionPolicy}, and no lock is evicted`;
  // A server that evicts has a finding.
  return known({ about: 'eviction', status: 'ok', message }, mayEvictLocks === false);
}

function persistenceCheck({ persistence, guard }: Capabilities): Check[] {
  if (persistence === null || persistence.failing) return [];
  if (persistence.appendOnly)
    return [{ about: 'persistence', status: 'ok', message: 'every change is written (AOF)' }];
  const check: Check = {
    about: 'persistence',
    status: 'warning',
    message:
      'there is no append-only file: after a restart the server may have forgotten locks that are held',
    remedy: 'CONFIG SET appendonly yes, or use the guard of the clients',
  };
  return guard.on ? [] : [check];
}

function replicationCheck({ replicas }: Capabilities): Check[] {
  if (replicas.connected === null) return [];
  if (replicas.connected === 0) {
    return [
      { about: 'replication', status: 'ok', message: 'no replica is connected: no failover can lose locks' },
    ];
  }
  const acknowledge =
    replicas.connected === 1 ? '1 replica acknowledges' : `${replicas.connected} replicas acknowledge`;
  const message = `${acknowledge} writes, ${replicas.required} must acknowledge a lock`;
  if (replicas.stopsAlone) return [{ about: 'replication', status: 'ok', message }];
  return [
    {
      about: 'replication',
      status: 'warning',
      message: `${message}; a primary that is cut off from its replicas goes on granting locks`,
      remedy: 'CONFIG SET min-replicas-to-write 1, and min-replicas-max-lag 10',
    },
  ];
}

function clockCheck({ clockSkewMs }: Capabilities): Check {
  const side = clockSkewMs > 0 ? 'ahead of' : 'behind';
  const message =
    clockSkewMs === 0
      ? 'the clocks agree as far as a round trip can tell'
      : `the server is ${lasting(Math.abs(clockSkewMs))} ${side} this machine; locks do not depend on it`;
  return { about: 'clock', status: 'ok', message };
}

function wakingCheck({ pubSub }: Capabilities, problems: readonly Problem[]): Check[] {
  const isMute = problems.some(({ code }) => code === 'HOLDFAST_NO_PUBLISH');
  const message = `waiters are woken by ${pubSub === 'sharded' ? 'sharded messages' : 'messages'}`;
  return known({ about: 'waking', status: 'ok', message }, pubSub !== 'polling' && !isMute);
}

/** @param client connected, so that the server can keep locks at all */
export async function checkFitness(client: Holdfast): Promise<Check[]> {
  const { problems, latencyMs } = await client.health();
  const found = await client.capabilities();
  const { server, version, topology, primaries } = found;
  const what = `${server ?? 'unknown server'} ${version ?? ''}`.trim();
  const nodes = primaries === 1 ? '' : `, ${primaries} primaries`;
  const trip = latencyMs === null ? '' : `, answers within ${latencyMs.toFixed(1)} ms`;
  const isSkewed = problems.some(({ code }) => code === 'HOLDFAST_CLOCK_SKEW');
  return [
    { about: 'server', status: 'ok', message: `${what}, ${topology}${nodes}${trip}` },
    ...problems.map(problemCheck),
    ...evictionCheck(found),
    ...persistenceCheck(found),
    ...replicationCheck(found),
    ...(isSkewed ? [] : [clockCheck(found)]),
    ...wakingCheck(found, problems),
  ];
}
