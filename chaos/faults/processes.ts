/** Worker processes die, stand still, or end while they hold. No promise ends here. */
import type { Fault, StageName } from '../fault.ts';
import { defineFault, notBefore } from './define.ts';
import { someVictims } from './pick.ts';

const EVERYWHERE: readonly StageName[] = ['one', 'replicas', 'sentinel', 'cluster', 'masters'];

const killed = defineFault({
  name: 'worker-killed',
  rows: [1],
  stages: EVERYWHERE,
  lastsMs: [100, 500],
  begin: async (scene) => {
    await Promise.all(someVictims(scene).map((victim) => victim.kill()));
  },
});

const stopped = defineFault({
  name: 'worker-stopped',
  rows: [2],
  stages: EVERYWHERE,
  lastsMs: [1_500, 4_000],
  begin: async (scene, undo) => {
    for (const victim of someVictims(scene)) {
      victim.stop();
      undo(() => victim.resume());
    }
    // Past the lease of whatever they hold.
    notBefore(undo, performance.now() + 1.2 * scene.mode.watchdogMs);
  },
});

/** Event loops are blocked for a part of the lease, or for more than all of it. */
function blocked(name: string, partOfLease: readonly [number, number]): Fault {
  return defineFault({
    name,
    rows: [3],
    stages: EVERYWHERE,
    lastsMs: [500, 1_000],
    begin: async (scene, undo) => {
      const ms = scene.random.between(...partOfLease) * scene.mode.watchdogMs;
      for (const victim of someVictims(scene)) victim.block(ms);
      notBefore(undo, performance.now() + ms);
    },
  });
}

function ends(name: string, how: 'sigterm' | 'exit' | 'uncaught'): Fault {
  return defineFault({
    name,
    rows: [5],
    stages: EVERYWHERE,
    lastsMs: [100, 500],
    begin: async (scene) => {
      await Promise.all(someVictims(scene).map((victim) => victim.end(how)));
    },
  });
}

export const PROCESS_FAULTS: readonly Fault[] = [
  killed,
  stopped,
  blocked('loop-blocked-past-lease', [1.2, 2]),
  blocked('loop-blocked-within-lease', [0.5, 0.9]),
  ends('worker-terminated', 'sigterm'),
  ends('worker-exits', 'exit'),
  ends('worker-throws', 'uncaught'),
];
