/** Sentinels make another server the primary: because they are told to, because it died, because it stood still. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestServer } from '../../src/testing/index.ts';
import { cutReplication } from '../../tests/harness/cut-replication.ts';
import { PUBLISH_MS } from '../../tests/harness/sentinels.ts';
import { eventually } from '../../tests/harness/wait.ts';
import type { Fault, Scene } from '../fault.ts';
import { obeys, restoreRights } from '../stages/repair.ts';
import { kill } from '../stages/restart.ts';
import { SentinelStage } from '../stages/sentinel.ts';
import { defineFault, type Undo } from './define.ts';
import { forgetsVisibly } from './exemptions.ts';
import { upPrimaries } from './pick.ts';

const LOSES = forgetsVisibly(
  'Sentinels promote a replica that may lack writes, and the old primary keeps granting locks for a moment.',
);
/** Sentinels demote a second primary after four times this. */
const SLOW_PUBLISH_MS = 10_000;
const REQUESTED_WITHIN_MS = 3_000;

interface Watch {
  readonly stage: SentinelStage;
  readonly primary: TestServer;
  readonly scene: Scene;
}

/** A fault that makes Sentinels change the primary; nothing while another one does. */
function sentinelFault(
  about: Pick<Fault, 'name' | 'rows' | 'lastsMs'>,
  act: (watch: Watch, undo: Undo) => Promise<void>,
): Fault {
  return defineFault({
    ...about,
    stages: ['sentinel'],
    removesHolds: true,
    exempts: LOSES,
    begin: async (scene, undo) => {
      const [primary] = await upPrimaries(scene);
      const { stage } = scene;
      if (primary === undefined || !(stage instanceof SentinelStage)) return;
      const over = stage.beginChange();
      if (over === undefined) return;
      undo(over);
      await act({ stage, primary, scene }, undo);
    },
  });
}

/** Refused while a failover is under way, and while the Sentinel has not heard of a good replica lately. */
async function requestFailover(stage: SentinelStage): Promise<void> {
  const request = async () => {
    const sentinel = await stage.sentinel();
    return sentinel !== undefined && obeys(sentinel, 'SENTINEL', 'FAILOVER', stage.watched.name);
  };
  await eventually(request, { withinMs: REQUESTED_WITHIN_MS, everyMs: 100 }).catch(() => undefined);
}

async function setPublishPeriod({ watched }: SentinelStage, periodMs: number): Promise<void> {
  for (const sentinel of watched.sentinels) {
    await obeys(sentinel, 'SENTINEL', 'DEBUG', 'publish-period', periodMs);
  }
}

export const SENTINEL_FAULTS: readonly Fault[] = [
  sentinelFault({ name: 'sentinel-failover', rows: [24, 37], lastsMs: [2_000, 4_000] }, ({ stage }) =>
    requestFailover(stage),
  ),
  sentinelFault(
    { name: 'sentinel-failover-unreplicated', rows: [23, 24], lastsMs: [2_000, 4_000] },
    async ({ stage, primary }, undo) => {
      undo(() => restoreRights(primary));
      await cutReplication(primary);
      await requestFailover(stage);
    },
  ),
  sentinelFault(
    { name: 'sentinel-old-primary-stays', rows: [40], lastsMs: [4_000, 8_000] },
    async ({ stage }, undo) => {
      undo(() => setPublishPeriod(stage, PUBLISH_MS));
      await setPublishPeriod(stage, SLOW_PUBLISH_MS);
      await requestFailover(stage);
    },
  ),
  sentinelFault(
    { name: 'sentinel-primary-killed', rows: [23, 24, 37], lastsMs: [2_000, 5_000] },
    async ({ stage, primary }, undo) => {
      undo(() => stage.revive(primary));
      await kill(primary);
    },
  ),
  sentinelFault(
    { name: 'sentinel-primary-killed-unreplicated', rows: [23], lastsMs: [2_000, 5_000] },
    async ({ stage, primary, scene: { random } }, undo) => {
      undo(() => stage.revive(primary));
      undo(() => restoreRights(primary));
      await cutReplication(primary);
      await sleep(random.between(300, 1_500));
      await kill(primary);
    },
  ),
  sentinelFault(
    { name: 'sentinel-primary-stopped', rows: [17, 24], lastsMs: [3_000, 6_000] },
    async ({ primary }, undo) => {
      undo(() => primary.resume());
      await primary.pause();
    },
  ),
];
