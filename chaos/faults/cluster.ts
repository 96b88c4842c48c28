/** A Cluster: replicas take over, primaries die, slots move while their keys are held and waited for. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestServer } from '../../src/testing/index.ts';
import type { FailoverKind } from '../../tests/harness/cluster.ts';
import { cutReplication } from '../../tests/harness/cut-replication.ts';
import { answerOf } from '../../tests/harness/server-answers.ts';
import { slotOf } from '../../tests/harness/slot.ts';
import type { Fault, Scene } from '../fault.ts';
import { ClusterStage } from '../stages/cluster.ts';
import { restoreRights } from '../stages/repair.ts';
import { isUp, kill, revive } from '../stages/restart.ts';
import { defineFault, type Undo } from './define.ts';
import { forgetsVisibly } from './exemptions.ts';
import { some, upPrimaries } from './pick.ts';

const LOSES = forgetsVisibly(
  'A replica that takes over without its primary lacks the writes that had not reached it.',
);
/** The guard does not notice a slot that moves within a grace after a promotion. No worker has a longer grace. */
const GRACE_MS = 15_000;

interface Shard {
  readonly stage: ClusterStage;
  readonly primary: TestServer;
  readonly scene: Scene;
}

/** A fault that gives slots to another node; nothing while another one does. */
function clusterFault(
  about: Pick<Fault, 'name' | 'rows' | 'lastsMs' | 'removesHolds' | 'exempts'>,
  act: (shard: Shard, undo: Undo) => Promise<void>,
): Fault {
  return defineFault({
    ...about,
    stages: ['cluster'],
    begin: async (scene, undo) => {
      const { stage, random } = scene;
      const [primary] = some(random, await upPrimaries(scene), 1);
      if (primary === undefined || !(stage instanceof ClusterStage)) return;
      const over = stage.beginChange();
      if (over === undefined) return;
      undo(over);
      await act({ stage, primary, scene }, undo);
    },
  });
}

function failover(kind: FailoverKind, promise: Pick<Fault, 'removesHolds' | 'exempts'> = {}): Fault {
  return clusterFault(
    { name: `cluster-failover-${kind}`, rows: [24, 37], lastsMs: [1_500, 4_000], ...promise },
    async ({ stage, primary }) => {
      await stage.failOver(primary, kind);
    },
  );
}

/** The replica that takes over lacks what was granted last, and the old primary is alive. */
const takeoverUnreplicated = clusterFault(
  {
    name: 'cluster-takeover-unreplicated',
    rows: [23, 24],
    lastsMs: [1_500, 4_000],
    removesHolds: true,
    exempts: LOSES,
  },
  async ({ stage, primary, scene: { random } }, undo) => {
    undo(() => restoreRights(primary));
    await cutReplication(primary);
    await sleep(random.between(300, 1_000));
    await stage.failOver(primary, 'takeover');
  },
);

async function die({ stage, primary }: Shard, undo: Undo): Promise<void> {
  undo(() => revive(primary));
  // Sooner, it would come back as a primary that has forgotten everything.
  undo(() => stage.whenReplaced(primary));
  await kill(primary);
}

const killed = clusterFault(
  {
    name: 'cluster-primary-killed',
    rows: [23, 24, 37],
    lastsMs: [3_000, 6_000],
    removesHolds: true,
    exempts: LOSES,
  },
  die,
);

const killedUnreplicated = clusterFault(
  {
    name: 'cluster-primary-killed-unreplicated',
    rows: [23],
    lastsMs: [3_000, 6_000],
    removesHolds: true,
    exempts: LOSES,
  },
  async (shard, undo) => {
    undo(() => restoreRights(shard.primary));
    await cutReplication(shard.primary);
    await sleep(shard.scene.random.between(300, 1_500));
    await die(shard, undo);
  },
);

/** A slot with keys is opened, some of its keys go, and the rest follows at the end. */
const slotMoved = clusterFault(
  { name: 'slot-moved', rows: [28], lastsMs: [500, 3_000] },
  async ({ stage, primary, scene }, undo) => {
    const { random, mode } = scene;
    if (mode.guard && stage.sincePromotionMs < GRACE_MS) return;
    const key = await answerOf(primary, 'RANDOMKEY');
    const others = (await upPrimaries(scene)).filter((other) => other !== primary);
    if (typeof key !== 'string' || others.length === 0) return;
    const slot = slotOf(key);
    const move = await stage.cluster.beginMove(slot, random.pick(others));
    undo(() => move.finish());
    const keys = await answerOf(primary, 'CLUSTER', 'GETKEYSINSLOT', slot, 100);
    if (!Array.isArray(keys)) return;
    const gone = random.shuffle(keys.map(String)).slice(0, Math.ceil(keys.length / 2));
    if (gone.length > 0) await move.migrate(...gone);
  },
);

const replicasFrozen = defineFault({
  name: 'cluster-replicas-frozen',
  rows: [27],
  stages: ['cluster'],
  lastsMs: [800, 1_500],
  begin: async (scene, undo) => {
    const primaries = await upPrimaries(scene);
    const replicas = scene.stage.servers.filter((node) => isUp(node) && !primaries.includes(node));
    for (const replica of some(scene.random, replicas)) {
      undo(() => replica.resume());
      await replica.pause();
    }
  },
});

export const CLUSTER_FAULTS: readonly Fault[] = [
  slotMoved,
  failover('graceful'),
  failover('force', { removesHolds: true, exempts: LOSES }),
  failover('takeover', { removesHolds: true, exempts: LOSES }),
  takeoverUnreplicated,
  killed,
  killedUnreplicated,
  replicasFrozen,
];
