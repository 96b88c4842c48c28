/**
 * The clocks of worker processes: their wall clock is wrong, or their machine has slept. Both need workers that were
 * started with the environment of a movable clock; others are left alone.
 */
import type { Fault, StageName } from '../fault.ts';
import { defineFault } from './define.ts';
import { someVictims } from './pick.ts';

const EVERYWHERE: readonly StageName[] = ['one', 'replicas', 'sentinel', 'cluster', 'masters'];
const HOUR_MS = 3_600_000;

function wallClock(name: string, byMs: number): Fault {
  return defineFault({
    name,
    rows: [4],
    stages: EVERYWHERE,
    lastsMs: [1_000, 3_000],
    begin: async (scene, undo) => {
      for (const { clock } of someVictims(scene)) {
        undo(() => clock?.shift(0));
        await clock?.shift(byMs);
      }
    },
  });
}

/** To the process its machine slept for longer than any lease, and it cannot know that the server did not go on. */
const suspended = defineFault({
  name: 'machine-suspended',
  rows: [4],
  stages: EVERYWHERE,
  lastsMs: [500, 2_000],
  removesHolds: true,
  begin: async (scene) => {
    const sleptMs = scene.random.between(1.5, 3) * scene.mode.watchdogMs;
    for (const { clock } of someVictims(scene)) await clock?.suspend(sleptMs);
  },
});

export const CLIENT_CLOCK_FAULTS: readonly Fault[] = [
  wallClock('client-clock-ahead', HOUR_MS),
  wallClock('client-clock-behind', -HOUR_MS),
  suspended,
];
