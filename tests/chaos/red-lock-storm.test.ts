/**
 * Red locks in a storm: three parties fight over one lock on five servers, while at any time up to two of these are
 * frozen, restarted or cut off. Nobody is ever inside with another, every call settles, nothing is left behind.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it, vi } from 'vitest';
import type { Lock } from '../../src/index.ts';
import type { Recorder, TestServer } from '../../src/testing/index.ts';
import { LEASE_MS, serversForAll } from '../behaviour/support/red-lock-servers.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { Journal } from './support/journal.ts';
import { loadScripts } from './support/kinds.ts';
import { freeEverywhere, type Party, party } from './support/red-arena.ts';
import { WAYS } from './support/ways.ts';

vi.setConfig({ testTimeout: 90_000 });

const STORM_MS = 8_000;

async function work(worker: number, lock: Lock, recorder: Recorder, endsAt: number): Promise<number> {
  const request = { worker: `${worker}`, key: lock.name, kind: 'lock', waitMs: 1_500 } as const;
  let entries = 0;
  while (performance.now() < endsAt) {
    const held = await recorder.acquire(request, () => lock.tryLock({ waitMs: 1_500 })).catch(() => null);
    if (held === null) continue;
    entries += 1;
    await sleep(Math.random() * 150);
    await held.release(() => held.hold.unlock()).catch(() => false);
  }
  return entries;
}

/** One blow to one server, and its end. */
async function strike(server: TestServer, place: number, parties: readonly Party[]): Promise<void> {
  const lastsMs = 100 + Math.random() * 400;
  const victim = parties[Math.floor(Math.random() * parties.length)];
  const proxy = victim?.proxies[place];
  switch (Math.floor(Math.random() * 4)) {
    case 0:
      await server.pause();
      await sleep(lastsMs);
      return server.resume();
    case 1:
      proxy?.blackhole();
      await sleep(lastsMs);
      return proxy?.heal();
    case 2:
      await proxy?.refuse();
      await sleep(lastsMs);
      return proxy?.heal();
    default:
      proxy?.dropConnections();
      await sleep(lastsMs / 2);
  }
}

describeWithProcess('red locks in a storm', () => {
  const servers = serversForAll(5);
  beforeAll(() => Promise.all(servers.map(loadScripts)));

  it('are never held by two owners, all settle, and leave nothing behind', async () => {
    const options = { watchdogMs: LEASE_MS, commandTimeoutMs: 1_000 };
    const parties = await Promise.all(WAYS.map((way) => party(servers, options, way)));
    const journal = new Journal();
    const name = randomName();
    const endsAt = performance.now() + STORM_MS;
    const workers = parties.map((each, worker) =>
      work(worker, each.lock(name), journal.recorder(`party ${worker}`), endsAt),
    );
    // One restarts and has forgotten everything: it abstains from here on.
    await servers[4]?.restart();
    const nemesis = async (places: readonly number[]) => {
      while (performance.now() < endsAt) {
        const place = places[Math.floor(Math.random() * places.length)] as number;
        await strike(servers[place] as TestServer, place, parties);
      }
    };
    await Promise.all([nemesis([0, 1]), nemesis([2, 3])]);
    const entries = await Promise.all(workers);
    expect(journal.violations()).toEqual([]);
    expect(entries.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(10);
    await freeEverywhere(servers, name);
  });
});
