/** A primary with replicas: it dies, is cut off, is demoted; its replicas stall, or only look like replicas. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/testing/history/random.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { answerOf, infoOf } from '../../tests/harness/server-answers.ts';
import { eventually } from '../../tests/harness/wait.ts';
import type { Fault, Scene } from '../fault.ts';
import { obeys } from '../stages/repair.ts';
import { type Member, ReplicasStage } from '../stages/replicas.ts';
import { offsetOf } from '../stages/replication.ts';
import { isUp, kill, revive } from '../stages/restart.ts';
import { defineFault, type Undo } from './define.ts';
import { forgetsVisibly } from './exemptions.ts';
import { some } from './pick.ts';

const LOSES = forgetsVisibly('A promoted replica lacks the writes that had not reached it.');

/** Replicas that are linked to their primary: none in the middle of a synchronisation may be promoted. */
async function inLine({ replicas }: ReplicasStage): Promise<Member[]> {
  const linked = await Promise.all(
    replicas.map(async ({ server }) => {
      const info = isUp(server) ? await infoOf(server, 'replication') : undefined;
      return info?.get('master_link_status') === 'up';
    }),
  );
  return replicas.filter((_, index) => linked[index]);
}

interface Change {
  readonly stage: ReplicasStage;
  readonly random: Random;
  readonly old: Member;
  readonly next: Member;
}

/** A fault that makes a replica the primary. Where there is none to promote, nothing happens. */
function changeOfPrimary(
  about: Pick<Fault, 'name' | 'rows' | 'lastsMs' | 'removesHolds' | 'exempts'>,
  act: (change: Change, undo: Undo) => Promise<void>,
): Fault {
  return defineFault({
    ...about,
    stages: ['replicas'],
    begin: async ({ stage, random }: Scene, undo) => {
      if (!(stage instanceof ReplicasStage) || !isUp(stage.primary.server)) return;
      const [next] = some(random, await inLine(stage), 1);
      if (next !== undefined) await act({ stage, random, old: stage.primary, next }, undo);
    },
  });
}

async function healLinks(stage: ReplicasStage): Promise<void> {
  await Promise.all(stage.members.map(({ link }) => link.proxy.heal()));
}

/** The primary dies, and the other one takes its place. */
async function failOver({ stage, old, next }: Change, undo: Undo): Promise<void> {
  undo(async () => {
    await revive(old.server);
    if (stage.primary !== old) await stage.follow(old);
  });
  await kill(old.server);
  await healLinks(stage);
  await stage.promote(next);
  stage.lead('all');
}

const killed = changeOfPrimary(
  { name: 'primary-killed', rows: [23, 37], lastsMs: [500, 3_000], removesHolds: true, exempts: LOSES },
  failOver,
);

const killedUnreplicated = changeOfPrimary(
  {
    name: 'primary-killed-unreplicated',
    rows: [23, 37],
    lastsMs: [500, 3_000],
    removesHolds: true,
    exempts: LOSES,
  },
  async (change, undo) => {
    const { stage, random, next } = change;
    undo(() => healLinks(stage));
    for (const { link } of random.chance(0.5) ? [next] : stage.replicas) link.proxy.blackhole();
    await sleep(random.between(300, 1_500));
    await failOver(change, undo);
  },
);

async function whenRefusing(primary: TestServer): Promise<void> {
  const check = async () => !(await obeys(primary, 'SET', 'nemesis:alone', '', 'PX', 10));
  await eventually(check, { withinMs: 5_000, everyMs: 50 });
}

/** Some of the connections break, and lead to the new primary from then on. */
async function breakSome(random: Random, server: TestServer): Promise<void> {
  const own = await answerOf(server, 'CLIENT', 'ID');
  const list = String(await answerOf(server, 'CLIENT', 'LIST', 'TYPE', 'normal'));
  const ids = [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => Number(id)).filter((id) => id !== own);
  for (const id of ids.filter(() => random.chance(0.5))) await obeys(server, 'CLIENT', 'KILL', 'ID', id);
}

/** A primary is cut off and refuses to write; a part of the workers stays with it, the others follow its successor. */
const splitBrain = changeOfPrimary(
  { name: 'split-brain', rows: [25], lastsMs: [2_000, 4_000], removesHolds: true, exempts: LOSES },
  async ({ stage, random, old, next }, undo) => {
    undo(() => stage.lead('all'));
    undo(async () => {
      if (stage.primary !== old) await stage.follow(old);
    });
    undo(() => obeys(old.server, 'CONFIG', 'SET', 'min-replicas-to-write', 0, 'min-replicas-max-lag', 10));
    undo(() => healLinks(stage));
    await obeys(old.server, 'CONFIG', 'SET', 'min-replicas-max-lag', 1, 'min-replicas-to-write', 1);
    for (const { link } of stage.replicas) link.proxy.blackhole();
    await whenRefusing(old.server);
    for (const { link } of stage.replicas) await link.proxy.heal();
    await stage.promote(next);
    stage.lead('new');
    await breakSome(random, old.server);
  },
);

/** Nothing is lost: the old primary stands still until the new one has everything. Connections stay where they are. */
const demoted = changeOfPrimary(
  { name: 'primary-demoted', rows: [26, 37], lastsMs: [1_000, 3_000] },
  async ({ stage, old, next }, undo) => {
    undo(() => stage.lead('all'));
    undo(() => obeys(old.server, 'CLIENT', 'UNPAUSE'));
    if (!(await obeys(old.server, 'CLIENT', 'PAUSE', 10_000, 'WRITE'))) return;
    const written = await offsetOf(old.server);
    await eventually(async () => (await offsetOf(next.server)) >= written);
    await stage.promote(next);
    stage.lead('new');
    await stage.follow(old);
  },
);

const frozen = defineFault({
  name: 'replicas-frozen',
  rows: [27],
  stages: ['replicas'],
  lastsMs: [1_500, 4_000],
  begin: async ({ stage }, undo) => {
    if (!(stage instanceof ReplicasStage)) return;
    for (const { server } of stage.replicas.filter(({ server }) => isUp(server))) {
      undo(() => server.resume());
      await server.pause();
    }
  },
});

/** Replicas have to be synchronised anew, and the primary keeps them waiting. */
const syncing = defineFault({
  name: 'replicas-syncing',
  rows: [33],
  stages: ['replicas'],
  lastsMs: [2_000, 4_000],
  begin: async ({ stage, random }, undo) => {
    if (!(stage instanceof ReplicasStage) || !isUp(stage.primary.server)) return;
    const { server } = stage.primary;
    undo(() => obeys(server, 'CONFIG', 'SET', 'repl-diskless-sync-delay', 0));
    await obeys(server, 'CONFIG', 'SET', 'repl-diskless-sync-delay', 3_600);
    for (const replica of some(random, await inLine(stage))) {
      // With writes that the primary never made, the replica cannot just go on where it was.
      await obeys(replica.server, 'REPLICAOF', 'NO', 'ONE');
      await obeys(replica.server, 'SET', 'nemesis:another-history', '', 'PX', 10);
      await stage.follow(replica);
    }
  },
});

export const REPLICA_FAULTS: readonly Fault[] = [
  killed,
  killedUnreplicated,
  splitBrain,
  demoted,
  frozen,
  syncing,
];
