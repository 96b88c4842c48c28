/**
 * Single requests: their answers are lost, or they arrive late, when their caller has given up or has sent them again.
 *
 * Which call a request belongs to is left to chance: acquisitions, releases, renewals and forced releases alike, as far
 * as the workers make them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import { defineFault, repeatedly } from './define.ts';
import { SCRIPT, usedLinks, WITH_LINKS } from './network.ts';

/** The server runs a script, and the worker does not hear of it. */
const repliesLost = defineFault({
  name: 'replies-lost',
  rows: [8],
  stages: WITH_LINKS,
  lastsMs: [2_000, 5_000],
  begin: async (scene, undo) => {
    const { random } = scene;
    const links = await usedLinks(scene);
    if (links.length === 0) return;
    const lifting = new AbortController();
    const { signal } = lifting;
    const own = random.fork('replies-lost');
    undo(() => Promise.all(links.map((link) => link.heal())));
    repeatedly(
      undo,
      () => own.between(30, 200),
      () => own.pick(links).swallowReply(SCRIPT, { after: own.chance(0.8) ? 'reset' : 'silence', signal }),
    );
    undo(() => lifting.abort());
  },
});

/** The answers of all that is under way are lost, and the server cannot be reached until long after. */
const outage = defineFault({
  name: 'outage-after-lost-replies',
  rows: [14, 35],
  stages: ['one', 'replicas', 'cluster'],
  lastsMs: [4_000, 8_000],
  begin: async (scene, undo) => {
    const links = await usedLinks(scene);
    const lifting = new AbortController();
    undo(() => Promise.all(links.map((link) => link.heal())));
    undo(() => lifting.abort());
    const rule = { after: 'silence', count: 1_000, signal: lifting.signal } as const;
    for (const link of links) link.swallowReply(SCRIPT, rule).catch(() => undefined);
    await sleep(300);
    await Promise.all(links.map((link) => link.refuse()));
  },
});

/** Scripts stay under way while their connection breaks, or while the worker waits, and run at last. */
function requestsLate(
  about: Pick<Fault, 'name' | 'rows' | 'lastsMs'>,
  {
    breaks,
    heldMs,
  }: { readonly breaks: boolean; readonly heldMs: (leaseMs: number) => readonly [number, number] },
): Fault {
  return defineFault({
    ...about,
    stages: WITH_LINKS,
    begin: async (scene, undo) => {
      const { random, mode } = scene;
      const links = await usedLinks(scene);
      if (links.length === 0) return;
      const own = random.fork(about.name);
      repeatedly(
        undo,
        () => own.between(50, 300),
        async () => {
          const link = own.pick(links);
          const request = link.holdRequest(SCRIPT);
          const heldForMs = own.between(...heldMs(mode.watchdogMs));
          const isBroken = breaks && own.chance(0.8);
          await Promise.race([request.held, sleep(500)]);
          // The worker sends it again, or something behind it, on another connection.
          if (isBroken) link.dropConnections();
          await sleep(heldForMs);
          request.release();
        },
      );
    },
  });
}

export const REQUEST_FAULTS: readonly Fault[] = [
  repliesLost,
  outage,
  requestsLate(
    { name: 'requests-overtaken', rows: [9, 34, 36], lastsMs: [3_000, 6_000] },
    { breaks: true, heldMs: () => [50, 1_500] },
  ),
  requestsLate(
    { name: 'requests-past-lease', rows: [9, 32, 34], lastsMs: [4_000, 6_000] },
    { breaks: false, heldMs: (leaseMs) => [leaseMs, 1.5 * leaseMs] },
  ),
];
