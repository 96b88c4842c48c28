/** Wake-ups: the connections that bring them fall silent, break, are dropped, or are never confirmed. */
import type { TestServer } from '../../src/testing/index.ts';
import { answerOf } from '../../tests/harness/server-answers.ts';
import type { Fault } from '../fault.ts';
import { obeys } from '../stages/repair.ts';
import { defineFault, repeatedly } from './define.ts';
import { WITH_LINKS } from './network.ts';
import { upPrimaries } from './pick.ts';

const SUBSCRIBE = /^S?SUBSCRIBE/;
/** More than fits into the buffers of a connection whose reader is slow for a moment. */
const LARGE_MESSAGE = 'x'.repeat(256 * 1024);

const halfOpen = defineFault({
  name: 'subscribers-half-open',
  rows: [11],
  stages: WITH_LINKS,
  lastsMs: [2_000, 6_000],
  begin: async ({ stage: { links } }, undo) => {
    undo(() => Promise.all(links.map((link) => link.heal())));
    for (const link of links) link.blackholeWhere(SUBSCRIBE);
  },
});

/** Subscribers lose their connection, and for a while nothing that they ask for reaches the server again. */
const gap = defineFault({
  name: 'subscribers-away',
  rows: [11],
  stages: WITH_LINKS,
  lastsMs: [1_000, 3_000],
  begin: async (scene, undo) => {
    const requests = scene.stage.links.map((link) => link.holdRequest(SUBSCRIBE));
    undo(() => {
      for (const request of requests) request.release();
    });
    for (const server of await upPrimaries(scene)) await obeys(server, 'CLIENT', 'KILL', 'TYPE', 'pubsub');
  },
});

const unconfirmed = defineFault({
  name: 'subscriptions-unconfirmed',
  rows: [11],
  stages: WITH_LINKS,
  lastsMs: [2_000, 5_000],
  begin: async (scene, undo) => {
    const lifting = new AbortController();
    undo(() => Promise.all(scene.stage.links.map((link) => link.heal())));
    undo(() => lifting.abort());
    for (const link of scene.stage.links) {
      const rule = { after: 'silence', count: 1_000, signal: lifting.signal } as const;
      link.swallowReply(SUBSCRIBE, rule).catch(() => undefined);
    }
    // Those that are confirmed have to ask anew.
    for (const server of await upPrimaries(scene)) await obeys(server, 'CLIENT', 'KILL', 'TYPE', 'pubsub');
  },
});

/** Sends every subscriber more than the server keeps for it. */
async function overflow(server: TestServer): Promise<void> {
  for (const [kind, publish] of [
    ['CHANNELS', 'PUBLISH'],
    ['SHARDCHANNELS', 'SPUBLISH'],
  ] as const) {
    const channels = await answerOf(server, 'PUBSUB', kind);
    // The Sentinels talk to each other on theirs.
    const struck = (Array.isArray(channels) ? channels : [])
      .map(String)
      .filter((name) => !name.startsWith('__'));
    for (const channel of struck) await obeys(server, publish, channel, LARGE_MESSAGE);
  }
}

const dropped = defineFault({
  name: 'subscribers-dropped',
  rows: [15],
  stages: ['one', 'replicas', 'sentinel', 'cluster', 'masters'],
  lastsMs: [1_500, 3_000],
  begin: async (scene, undo) => {
    const servers = await upPrimaries(scene);
    for (const server of servers) {
      undo(() => obeys(server, 'CONFIG', 'SET', 'client-output-buffer-limit', 'pubsub 32mb 8mb 60'));
      await obeys(server, 'CONFIG', 'SET', 'client-output-buffer-limit', 'pubsub 64kb 0 0');
    }
    const random = scene.random.fork('subscribers-dropped');
    repeatedly(
      undo,
      () => random.between(100, 400),
      async () => {
        for (const server of servers) await overflow(server);
      },
    );
  },
});

export const SUBSCRIPTION_FAULTS: readonly Fault[] = [halfOpen, gap, unconfirmed, dropped];
