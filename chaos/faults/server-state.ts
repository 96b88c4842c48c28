/** What a server keeps, and the memory and clock by which it does: wiped, full, evicted, moved. */
import type { TestServer } from '../../src/testing/index.ts';
import { infoOf } from '../../tests/harness/server-answers.ts';
import type { Fault } from '../fault.ts';
import { OneStage } from '../stages/one.ts';
import { obeys } from '../stages/repair.ts';
import { defineFault, repeatedly } from './define.ts';
import { forgets } from './exemptions.ts';
import { some, upPrimaries } from './pick.ts';
import { mayForget } from './server-processes.ts';

const flushed = defineFault({
  name: 'data-flushed',
  rows: [19],
  stages: ['one', 'replicas', 'sentinel', 'cluster'],
  lastsMs: [100, 500],
  removesHolds: true,
  exempts: () => forgets('FLUSHALL removes holds, and their holders learn of it only at the next renewal.'),
  begin: async (scene) => {
    for (const server of await mayForget(scene)) await obeys(server, 'FLUSHALL');
  },
});

const scriptsFlushed = defineFault({
  name: 'scripts-flushed',
  rows: [19],
  stages: ['one', 'replicas', 'sentinel', 'cluster', 'masters'],
  lastsMs: [1_500, 4_000],
  begin: async (scene, undo) => {
    const random = scene.random.fork('scripts-flushed');
    repeatedly(
      undo,
      () => random.between(5, 100),
      async () => {
        for (const server of await upPrimaries(scene)) await obeys(server, 'SCRIPT', 'FLUSH');
      },
    );
  },
});

const full = defineFault({
  name: 'memory-full',
  rows: [21],
  stages: ['one', 'replicas', 'sentinel', 'cluster', 'masters'],
  lastsMs: [1_000, 3_000],
  begin: async (scene, undo) => {
    for (const server of some(scene.random, await upPrimaries(scene), 1)) {
      undo(() => obeys(server, 'CONFIG', 'SET', 'maxmemory', 0));
      await obeys(server, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction', 'maxmemory', 1);
    }
  },
});

const POLICIES = ['volatile-lru', 'volatile-ttl', 'volatile-random', 'allkeys-lru', 'allkeys-random'];

const STEP_BYTES = 2_048;
const STEPS = 40;

async function evictedKeys(server: TestServer): Promise<number> {
  return Number((await infoOf(server, 'stats'))?.get('evicted_keys'));
}

/** Leaves the server less and less memory, until it gives a key up. */
async function squeeze(server: TestServer): Promise<void> {
  const before = await evictedKeys(server);
  const memory = await infoOf(server, 'memory');
  let bytes = Number(memory?.get('used_memory')) - Number(memory?.get('mem_not_counted_for_evict'));
  for (let step = 0; step < STEPS && (await evictedKeys(server)) === before; step += 1) {
    bytes -= STEP_BYTES;
    if (!(await obeys(server, 'CONFIG', 'SET', 'maxmemory', bytes))) return;
  }
}

const evicted = defineFault({
  name: 'locks-evicted',
  rows: [21],
  stages: ['one', 'replicas', 'sentinel', 'cluster'],
  lastsMs: [1_000, 3_000],
  removesHolds: true,
  exempts: () =>
    forgets('A server that evicts keys removes holds without notice; clients warn of the setting.'),
  begin: async (scene, undo) => {
    const random = scene.random.fork('locks-evicted');
    for (const server of await mayForget(scene)) {
      undo(() => obeys(server, 'CONFIG', 'SET', 'maxmemory', 0, 'maxmemory-policy', 'noeviction'));
      await obeys(server, 'CONFIG', 'SET', 'maxmemory-policy', random.pick(POLICIES));
      repeatedly(
        undo,
        () => random.between(100, 400),
        () => squeeze(server),
      );
    }
  },
});

/** Moves the clock by so many leases. When the clock is put right, that is a jump as well. */
function clockMoved(name: string, leases: readonly [number, number]): Fault {
  return defineFault({
    name,
    rows: [20],
    stages: ['one'],
    lastsMs: [1_000, 4_000],
    removesHolds: true,
    exempts: () => forgets('Leases end by the wall clock of the server: a jump forward ends them too early.'),
    begin: async ({ stage, random, mode }, undo) => {
      if (!(stage instanceof OneStage)) return;
      undo(() => stage.clock.reset());
      await stage.clock.move(random.between(...leases) * mode.watchdogMs);
    },
  });
}

export const SERVER_STATE_FAULTS: readonly Fault[] = [
  flushed,
  scriptsFlushed,
  full,
  evicted,
  clockMoved('server-clock-ahead', [2, 4]),
  clockMoved('server-clock-behind', [-4, -2]),
];
