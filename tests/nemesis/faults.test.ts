/** Each fault that strikes servers and links: it is seen while it lasts, and gone when it was stopped and healed. */
import { afterAll, beforeAll, describe, inject, it, vi } from 'vitest';
import type { Stage, StageName } from '../../chaos/fault.ts';
import { FAULTS } from '../../chaos/faults/index.ts';
import { startStage } from '../../chaos/stages/index.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { SIGHTS } from './support/sights.ts';
import { sceneOn, strike } from './support/strike.ts';

vi.setConfig({ testTimeout: 60_000 });

const STAGES: readonly StageName[] = ['one', 'replicas', 'sentinel', 'cluster', 'masters'];

describeWithProcess('a fault is visible while it lasts, and heals', () => {
  describe.each(STAGES)('on %s', (name) => {
    let stage: Stage;

    beforeAll(async () => {
      stage = await startStage(name, inject('serverBinary') ?? undefined);
    });

    afterAll(() => stage?.close());

    // One place shows what a fault does; the storms take it everywhere.
    const faults = FAULTS.filter(({ stages, name: fault }) => stages[0] === name && fault in SIGHTS);
    it.each(faults)('$name', (fault) => strike(fault, sceneOn(stage), SIGHTS[fault.name]));
  });
});
