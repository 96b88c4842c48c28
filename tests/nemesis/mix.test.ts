/** Faults on top of each other, in every state that others have left: all of them end, and the stage heals. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, inject, it, onTestFinished, vi } from 'vitest';
import type { StageName } from '../../chaos/fault.ts';
import { FAULTS } from '../../chaos/faults/index.ts';
import { startStage } from '../../chaos/stages/index.ts';
import { Random } from '../../src/testing/history/random.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { serves } from './support/serving.ts';
import { SIGHTS } from './support/sights.ts';
import { sceneOn } from './support/strike.ts';

vi.setConfig({ testTimeout: 120_000 });

const STAGES: readonly StageName[] = ['one', 'replicas', 'sentinel', 'cluster', 'masters'];
const STRIKES = 15;
const AT_ONCE = 3;

describeWithProcess('many faults at once', () => {
  describe.each(STAGES)('on %s', (name) => {
    it('the stage serves a lock after them', async () => {
      const stage = await startStage(name, inject('serverBinary') ?? undefined);
      onTestFinished(() => stage.close());
      const random = new Random(1);
      const scene = { ...sceneOn(stage), random };
      const faults = FAULTS.filter((fault) => fault.stages.includes(name) && fault.name in SIGHTS);
      const strike = async () => {
        const fault = random.pick(faults);
        try {
          await fault.start(scene);
        } catch {
          // A fault may fail in the ruins of another one; it has to end all the same.
        }
        await sleep(random.between(100, 800));
        await fault.stop(scene);
      };
      const series = async () => {
        for (let round = 0; round < STRIKES / AT_ONCE; round += 1) await strike();
      };
      await Promise.all(Array.from({ length: AT_ONCE }, series));
      await stage.heal();
      await serves(stage);
    });
  });
});
