/** Five servers that a red lock takes a majority of: up to two of them are killed, frozen, cut off, or restart. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, Scene } from '../fault.ts';
import { MastersStage } from '../stages/masters.ts';
import type { ProxiedServer } from '../stages/one.ts';
import { isUp, kill, restart, revive } from '../stages/restart.ts';
import { defineFault, type Undo } from './define.ts';
import { forgets } from './exemptions.ts';
import { SCRIPT } from './network.ts';
import { some } from './pick.ts';

function mastersFault(
  about: Pick<Fault, 'name' | 'rows' | 'lastsMs' | 'removesHolds' | 'exempts'>,
  pick: (stage: MastersStage, scene: Scene) => readonly ProxiedServer[],
  strike: (member: ProxiedServer, undo: Undo, scene: Scene) => Promise<void>,
): Fault {
  return defineFault({
    ...about,
    stages: ['masters'],
    begin: async (scene, undo) => {
      if (!(scene.stage instanceof MastersStage)) return;
      const struck = pick(scene.stage, scene).filter(({ server }) => isUp(server));
      await Promise.all(struck.map((member) => strike(member, undo, scene)));
    },
  });
}

/** Servers that do not forget: any two. */
const minority = (stage: MastersStage, { random }: Scene) => some(random, stage.members, 2);
/** Servers that do: always among the same two, or holds that have a bare majority would lose it bit by bit. */
const forgetful = (stage: MastersStage, { random }: Scene) => some(random, stage.forgetful);
const oneForgetful = (stage: MastersStage, { random }: Scene) => [random.pick(stage.forgetful)];

/** Moves the clock by so many leases. */
function clockMoved(name: string, leases: readonly [number, number]): Fault {
  return mastersFault(
    {
      name,
      rows: [20, 29],
      lastsMs: [1_000, 4_000],
      removesHolds: true,
      exempts: () =>
        forgets('A red lock with a bare majority loses it when the clock of one server jumps ahead.'),
    },
    oneForgetful,
    async ({ clock }, undo, { random, mode }) => {
      undo(() => clock.reset());
      await clock.move(random.between(...leases) * mode.watchdogMs);
    },
  );
}

export const MASTERS_FAULTS: readonly Fault[] = [
  mastersFault(
    { name: 'minority-killed', rows: [29], lastsMs: [1_000, 5_000], removesHolds: true },
    forgetful,
    async ({ server }, undo) => {
      undo(() => revive(server));
      await kill(server);
    },
  ),
  mastersFault(
    { name: 'minority-frozen', rows: [17, 29], lastsMs: [1_000, 5_000] },
    minority,
    async ({ server }, undo) => {
      undo(() => server.resume());
      await server.pause();
    },
  ),
  mastersFault(
    { name: 'minority-cut', rows: [10, 29], lastsMs: [1_000, 5_000] },
    minority,
    async ({ proxy }, undo) => {
      undo(() => proxy.heal());
      proxy.blackhole();
    },
  ),
  mastersFault(
    { name: 'member-restarted-empty', rows: [18, 29], lastsMs: [100, 1_000], removesHolds: true },
    oneForgetful,
    ({ server }) => restart(server),
  ),
  // What was sent before the request is answered by the process that dies, the request by the one that comes after.
  mastersFault(
    { name: 'member-restarted-while-asked', rows: [31], lastsMs: [100, 1_000], removesHolds: true },
    oneForgetful,
    async ({ server, proxy }, undo) => {
      const request = proxy.holdRequest(SCRIPT);
      undo(() => request.release());
      await Promise.race([request.held, sleep(1_000)]);
      await restart(server);
      request.release();
    },
  ),
  clockMoved('member-clock-ahead', [2, 4]),
  clockMoved('member-clock-behind', [-4, -2]),
];
