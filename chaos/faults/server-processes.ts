/** The process of a server stands still, is busy, or dies and comes back with all, some or none of its data. */
import { readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection, type TestServer } from '../../src/testing/index.ts';
import { infoOf } from '../../tests/harness/server-answers.ts';
import { eventually } from '../../tests/harness/wait.ts';
import type { Fault, Scene, StageName } from '../fault.ts';
import { OneStage } from '../stages/one.ts';
import { obeys } from '../stages/repair.ts';
import { isUp, kill, restart, revive } from '../stages/restart.ts';
import { defineFault, type Undo } from './define.ts';
import { forgetsVisibly } from './exemptions.ts';
import { some, upPrimaries } from './pick.ts';

/** Stops one primary. */
function stopped(about: Pick<Fault, 'name' | 'stages' | 'lastsMs'>): Fault {
  return defineFault({
    ...about,
    rows: [17],
    begin: async (scene, undo) => {
      for (const server of some(scene.random, await upPrimaries(scene), 1)) {
        undo(() => server.resume());
        await server.pause();
      }
    },
  });
}

/** It only reads, so the server can end it. */
const BUSY_SCRIPT = 'while true do end';

const busy = defineFault({
  name: 'server-busy',
  rows: [17],
  // Elsewhere it may be taken for dead: a failover is another fault.
  stages: ['one', 'replicas', 'masters'],
  lastsMs: [300, 800],
  begin: async (scene, undo) => {
    for (const server of some(scene.random, await upPrimaries(scene), 1)) {
      const connection = await RawConnection.connect(server.host, server.port);
      undo(() => connection.close());
      undo(() => obeys(server, 'CONFIG', 'SET', 'busy-reply-threshold', 5_000));
      undo(() => obeys(server, 'SCRIPT', 'KILL'));
      // From then on the server answers, and says that it is busy.
      if (!(await obeys(server, 'CONFIG', 'SET', 'busy-reply-threshold', 200))) continue;
      connection.command('EVAL', BUSY_SCRIPT, 0).catch(() => undefined);
    }
  },
});

/** The server that a fault may make forget: the primary, unless tokens could fall by it. */
export async function mayForget(scene: Scene): Promise<TestServer[]> {
  const { stage, random } = scene;
  const servers = some(random, await upPrimaries(scene), 1);
  if (stage instanceof OneStage && servers.length > 0 && !stage.clock.forget()) return [];
  return servers;
}

/** A primary forgets everything by a restart. */
const forgets = defineFault({
  name: 'server-restarted-empty',
  rows: [18],
  stages: ['one', 'replicas', 'sentinel', 'cluster'],
  lastsMs: [100, 500],
  removesHolds: true,
  exempts: forgetsVisibly('A server without persistence has forgotten every hold when it restarts.'),
  begin: async (scene) => {
    for (const server of await mayForget(scene)) await restart(server);
  },
});

const ONLY_ONE: readonly StageName[] = ['one'];

/** What was granted after the snapshot is forgotten, what was released after it comes back. */
const snapshot = defineFault({
  name: 'server-restarted-from-snapshot',
  rows: [18],
  stages: ONLY_ONE,
  lastsMs: [800, 2_500],
  removesHolds: true,
  exempts: forgetsVisibly('A snapshot lacks the holds that were granted after it.'),
  begin: async (scene, undo) => {
    for (const server of await mayForget(scene)) {
      if (!(await obeys(server, 'SAVE'))) continue;
      undo(() => restart(server, 'snapshot'));
    }
  },
});

/** Has the server log every write before it answers; resolves when the log is complete. */
async function keepLog(server: TestServer, undo: Undo): Promise<void> {
  undo(() => obeys(server, 'CONFIG', 'SET', 'appendonly', 'no'));
  await server.command('CONFIG', 'SET', 'appendfsync', 'always', 'appendonly', 'yes');
  await eventually(async () => {
    const info = await infoOf(server, 'persistence');
    return info?.get('aof_rewrite_in_progress') === '0' && info.get('aof_rewrite_scheduled') === '0';
  });
}

/** The file that grows with every write. */
async function logOf(server: TestServer): Promise<string> {
  const dir = join(server.dir, 'appendonlydir');
  const name = (await readdir(dir))
    .filter((entry) => entry.endsWith('.incr.aof'))
    .sort()
    .at(-1);
  if (name === undefined) throw new Error(`There is no log in ${dir}`);
  return join(dir, name);
}

const logCut = defineFault({
  name: 'server-restarted-from-cut-log',
  rows: [18],
  stages: ONLY_ONE,
  lastsMs: [800, 2_500],
  removesHolds: true,
  exempts: forgetsVisibly('An append-only file without its end lacks the last grants.'),
  begin: async (scene, undo) => {
    for (const server of await mayForget(scene)) {
      await keepLog(server, undo);
      const file = await logOf(server);
      const bytes = (await stat(file)).size;
      undo(async () => {
        await kill(server);
        // A few bytes of the next write are left, as after a crash of the machine.
        if ((await stat(file)).size > bytes + 10) await truncate(file, bytes + 10);
        await restart(server, 'log');
      });
    }
  },
});

/** The server is away for a while, and comes back with all that it has ever acknowledged. */
const awayWithData = defineFault({
  name: 'server-away-with-data',
  rows: [14],
  stages: ONLY_ONE,
  lastsMs: [500, 4_000],
  begin: async (scene, undo) => {
    for (const server of await upPrimaries(scene)) {
      await keepLog(server, undo);
      undo(() => revive(server, 'log'));
      await sleep(scene.random.between(100, 1_000));
      if (isUp(server)) await kill(server);
    }
  },
});

export const SERVER_PROCESS_FAULTS: readonly Fault[] = [
  stopped({ name: 'server-stopped', stages: ['one', 'replicas', 'masters'], lastsMs: [500, 4_000] }),
  // Shorter than it takes until the others make another server the primary.
  stopped({ name: 'server-stopped-briefly', stages: ['sentinel', 'cluster'], lastsMs: [200, 700] }),
  busy,
  forgets,
  snapshot,
  logCut,
  awayWithData,
];
