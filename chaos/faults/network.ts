/** The network between workers and servers: silent, refusing, slow, in pieces, with connections that break. */

import type { Random } from '../../src/testing/history/random.ts';
import type { FaultProxy, TestServer } from '../../src/testing/index.ts';
import { answerOf } from '../../tests/harness/server-answers.ts';
import type { Fault, Scene, StageName } from '../fault.ts';
import { defineFault, repeatedly } from './define.ts';
import { some, upPrimaries } from './pick.ts';

/** Where workers and servers are connected through proxies. */
export const WITH_LINKS: readonly StageName[] = ['one', 'replicas', 'cluster', 'masters'];

/** A request that runs a script, as every change is. */
export const SCRIPT = /^(EVAL|FCALL)/;

/** The links to primaries. Where each server has its link, others lead to replicas, and clients do not use them. */
export async function usedLinks(scene: Scene): Promise<readonly FaultProxy[]> {
  const { links, servers } = scene.stage;
  if (links.length < servers.length) return links;
  const primaries = await upPrimaries(scene);
  return links.filter((_, index) => primaries.includes(servers[index] as TestServer));
}

/** Every link that is used; of five masters no more than two, so that the others can go on. */
async function struckLinks(scene: Scene): Promise<readonly FaultProxy[]> {
  const links = await usedLinks(scene);
  return scene.stage.name === 'masters' ? some(scene.random, links, 2) : links;
}

/** Something that is wrong with links until they are healed. */
function brokenLinks(
  about: Pick<Fault, 'name' | 'rows' | 'lastsMs'>,
  breakLink: (link: FaultProxy, scene: Scene) => unknown,
): Fault {
  return defineFault({
    ...about,
    stages: WITH_LINKS,
    begin: async (scene, undo) => {
      for (const link of await struckLinks(scene)) {
        undo(() => link.heal());
        await breakLink(link, scene);
      }
    },
  });
}

const silent = brokenLinks({ name: 'network-silent', rows: [10], lastsMs: [1_500, 5_000] }, (link) =>
  link.blackhole(),
);

/** The connection that carries the scripts is silent, the others and new ones are not. */
const silentCommands = brokenLinks({ name: 'commands-silent', rows: [10], lastsMs: [1_500, 4_000] }, (link) =>
  link.blackholeWhere(SCRIPT),
);

const refused = brokenLinks(
  { name: 'connections-refused', rows: [14], lastsMs: [2_000, 6_000] },
  async (link) => link.refuse(),
);

const slow = brokenLinks(
  { name: 'network-slow', rows: [13], lastsMs: [2_000, 4_000] },
  (link, { random }) => {
    link.delay(random.integer(20, 200));
    link.fragment(random.integer(1, 7));
  },
);

/** Answers are under way for longer than the lease that they grant. */
const late = brokenLinks(
  { name: 'grants-late', rows: [32], lastsMs: [3_000, 5_000] },
  (link, { random, mode }) => link.delay(random.between(0.6, 1.2) * mode.watchdogMs),
);

async function killAConnection(random: Random, server: TestServer): Promise<void> {
  const own = await answerOf(server, 'CLIENT', 'ID');
  const type = random.chance(0.8) ? 'normal' : 'pubsub';
  const list = String(await answerOf(server, 'CLIENT', 'LIST', 'TYPE', type));
  const ids = [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => Number(id)).filter((id) => id !== own);
  if (ids.length > 0) await answerOf(server, 'CLIENT', 'KILL', 'ID', random.pick(ids));
}

const killed = defineFault({
  name: 'connections-killed',
  rows: [12],
  stages: ['one', 'replicas', 'sentinel', 'cluster', 'masters'],
  lastsMs: [2_000, 5_000],
  begin: async (scene, undo) => {
    const random = scene.random.fork('connections-killed');
    repeatedly(
      undo,
      () => random.between(20, 80),
      async () => {
        for (const server of some(random, await upPrimaries(scene), 1)) await killAConnection(random, server);
      },
    );
  },
});

export const NETWORK_FAULTS: readonly Fault[] = [silent, silentCommands, refused, slow, late, killed];
