/**
 * What the server is, and whether it can be trusted with locks.
 */
import type { Driver } from '../drivers/driver.ts';
import type { Report } from '../runtime/events.ts';
import { inspectServer } from '../scripts/generated.ts';

/** What was found out about the server, and what follows from it. */
export interface Capabilities {
  /** The client library in use: `ioredis` or `node-redis`. */
  readonly library: string;
  readonly server: 'redis' | 'valkey' | null;
  /** null when the user may not ask (INFO). */
  readonly version: string | null;
  /** What the server does when its memory is full; null when the user may not ask. */
  readonly evictionPolicy: string | null;
  /** Whether the server may drop locks to make room: a memory limit together with an evicting policy. */
  readonly mayEvictLocks: boolean | null;
  /** Replica acknowledgements that an acquisition waits for. */
  readonly replicas: 0;
  readonly guard: false;
  readonly shardedPubSub: false;
}

function field(info: string, name: string): string | null {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? null;
}

export async function probe(driver: Driver): Promise<Capabilities> {
  const { general, memory } = await inspectServer.run(driver, {}, {});
  const valkeyVersion = field(general, 'valkey_version');
  const version = valkeyVersion ?? field(general, 'redis_version');
  const evictionPolicy = field(memory, 'maxmemory_policy');
  const limit = field(memory, 'maxmemory');
  return {
    library: driver.library,
    server: version === null ? null : valkeyVersion === null ? 'redis' : 'valkey',
    version,
    evictionPolicy,
    mayEvictLocks: evictionPolicy === null ? null : limit !== '0' && evictionPolicy !== 'noeviction',
    replicas: 0,
    guard: false,
    shardedPubSub: false,
  };
}

export function warnOfEviction({ mayEvictLocks, evictionPolicy }: Capabilities, report: Report): void {
  if (!mayEvictLocks) return;
  report('warning', {
    code: 'HOLDFAST_EVICTION',
    message:
      `The server's maxmemory-policy is ${evictionPolicy}: when its memory is full it drops locks that are held, ` +
      'and somebody else gets in. Use noeviction for a server that keeps locks',
  });
}
