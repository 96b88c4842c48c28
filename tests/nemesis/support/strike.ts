/** Has a fault strike a stage, sees it, ends it, and sees the stage serve again. */
import { expect } from 'vitest';
import type { Fault, Mode, Scene, Stage, Victim } from '../../../chaos/fault.ts';
import { Random } from '../../../src/testing/history/random.ts';
import { LEASE_MS, serves } from './serving.ts';
import type { Observation } from './sight.ts';

const MODE: Mode = { guard: false, replicas: 0, watchdogMs: LEASE_MS };

export function sceneOn(stage: Stage, victims: readonly Victim[] = []): Scene {
  return { stage, victims, mode: MODE, random: new Random(stage.name) };
}

/** Whatever becomes of the observation, the fault ends once and the stage heals. */
export async function strike(fault: Fault, scene: Scene, observe: Observation | undefined): Promise<void> {
  expect(observe, `what is seen of ${fault.name}`).toBeDefined();
  const { stage } = scene;
  let isOver = false;
  const stop = async () => {
    if (!isOver) await fault.stop(scene);
    isOver = true;
  };
  try {
    await observe?.({ scene, stage, start: () => fault.start(scene), stop });
  } finally {
    await stop();
    await stage.heal();
  }
  await serves(stage);
}
