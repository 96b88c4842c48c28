/** What the faults of red locks need: parties with a client for each server, each client behind a proxy of its own. */
import { expect } from 'vitest';
import type { ClientOptions, Hold, Holdfast, Lock } from '../../../src/index.ts';
import type { FaultProxy, TestServer } from '../../../src/testing/index.ts';
import { randomName } from '../../harness/names.ts';
import { ownProxy } from '../../harness/servers.ts';
import { eventually } from '../../harness/wait.ts';
import { join, past, timed } from './arena.ts';
import type { Way } from './ways.ts';

/** One process that takes part. */
export class Party {
  readonly clients: readonly Holdfast[];
  readonly proxies: readonly FaultProxy[];

  constructor(clients: readonly Holdfast[], proxies: readonly FaultProxy[]) {
    this.clients = clients;
    this.proxies = proxies;
  }

  /** The red lock of that name on all servers. */
  lock(name: string): Lock {
    const [first] = this.clients as [Holdfast, ...Holdfast[]];
    return first.getRedLock(...this.clients.map((client) => client.getLock(name)));
  }

  /** Makes each server tell once who it is, as in a process that has run for a while. */
  async meet(): Promise<this> {
    await this.lock('meeting').withLock(() => undefined);
    return this;
  }
}

export async function party(
  servers: readonly TestServer[],
  options: ClientOptions,
  way: Way = 'Holdfast.connect',
): Promise<Party> {
  const proxies = await Promise.all(servers.map((server) => ownProxy(server)));
  // So many at once may take longer than the short time-outs of some tests allow.
  const clients = await Promise.all(
    proxies.map((proxy) => eventually(() => join(way, proxy, options), { withinMs: 20_000 })),
  );
  return new Party(clients, proxies);
}

/** The owner fields that the servers have under the name; null where there is none. */
export function holdersOn(servers: readonly TestServer[], name: string): Promise<(string | null)[]> {
  return Promise.all(
    servers.map(async (server) => ((await server.command('HKEYS', name)) as string[])[0] ?? null),
  );
}

/** Waits until nobody holds it anywhere. */
export async function freeEverywhere(servers: readonly TestServer[], name: string): Promise<void> {
  const nobody = servers.map(() => null);
  await eventually(async () => expect(await holdersOn(servers, name)).toEqual(nobody), {
    withinMs: 15_000,
  });
}

/** Held through the fault and taken in it, by one at a time; given back without waiting for who does not answer. */
export async function expectService(
  ours: Party,
  theirs: Party,
  leaseMs: number,
  begin: () => Promise<unknown>,
  end: () => Promise<unknown>,
): Promise<void> {
  const mine = ours.lock(randomName());
  const rival = theirs.lock(mine.name);
  const hold = await mine.lock();
  await begin();
  try {
    await past(performance.now() + leaseMs + 500);
    hold.assertHeld();
    expect(await rival.tryLock({ waitMs: 300 })).toBeNull();
    const waiting = rival.lock();
    const { value, tookMs } = await timed(hold.unlock());
    expect(value).toBe(true);
    expect(tookMs).toBeLessThan(1_500);
    const next = await timed(waiting);
    expect(next.tookMs).toBeLessThan(5_000);
    expect(await mine.tryLock({ waitMs: 300 })).toBeNull();
    (next.value as Hold).assertHeld();
    expect(await (next.value as Hold).unlock()).toBe(true);
  } finally {
    await end();
  }
}
