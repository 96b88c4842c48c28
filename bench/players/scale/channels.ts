/**
 * What the diagnostics channels cost: cycles of a lock while nobody listens, beside those of the same code without any
 * channel, by turns and in one process; then with subscribers.
 *
 * Both are bundles of the sources, made here in the same way. In one of them, `src/channels.ts` is replaced by what says
 * at once that nobody listens.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Lock } from '../../../src/index.ts';
import { connectIoredis } from '../../contestants/clients.ts';
import { BENCH } from '../../folders.ts';
import { median } from '../../statistics.ts';

/** Short rounds, and many: both sides of a round then meet the same conditions. */
const CYCLES = 25;

export interface ChannelsAnswer {
  readonly withoutUs: number;
  readonly idleUs: number;
  /** The median of all rounds: whatever else the machine does meets both sides of a round alike. */
  readonly channelsRatio: number;
  readonly subscribedUs: number;
}

const NOBODY_LISTENS = `
  export const acquireChannel = { hasSubscribers: false };
  export const holdChannel = acquireChannel;
  export const [renewChannel, releaseChannel, wakeChannel, eventChannels] = [];
  export const tracesAcquisitions = () => false;
  export const tracesReleases = () => false;
  export const tracesRenewals = () => false;
  export const tellWake = () => {};
  export const tellEvent = () => {};
`;

async function load(name: string, channels?: string): Promise<typeof import('../../../src/index.ts')> {
  const outfile = join(BENCH, 'build/channels', `${name}.mjs`);
  await build({
    entryPoints: [join(BENCH, '../src/index.ts')],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [
      {
        name: 'channels',
        setup: ({ onLoad }) => {
          onLoad({ filter: /src\/channels\.ts$/ }, () =>
            channels === undefined ? undefined : { contents: channels },
          );
        },
      },
    ],
  });
  return import(pathToFileURL(outfile).href);
}

/** Milliseconds for some cycles, one after the other. */
async function timeCycles(lock: Lock): Promise<number> {
  const startedAt = performance.now();
  for (let i = 0; i < CYCLES; i += 1) await (await lock.lock()).unlock();
  return performance.now() - startedAt;
}

const perCycleUs = (all: readonly number[]) => (median(all) / CYCLES) * 1_000;

const STEPS = ['acquire', 'hold', 'release'].flatMap((channel) =>
  ['start', 'asyncEnd'].map((step) => `tracing:holdfast:${channel}:${step}`),
);

async function whileSubscribed(act: () => Promise<void>): Promise<void> {
  let heard = 0;
  const count = () => {
    heard += 1;
  };
  for (const step of STEPS) subscribe(step, count);
  await act();
  for (const step of STEPS) unsubscribe(step, count);
  if (heard === 0) throw new Error('The subscribers heard nothing');
}

export async function cyclesWithChannels(url: string, rounds: number): Promise<ChannelsAnswer> {
  const variants = await Promise.all([load('with'), load('without', NOBODY_LISTENS)]);
  const clients = await Promise.all(
    variants.map(async ({ Holdfast }) => Holdfast.from(await connectIoredis(url))),
  );
  const [present, absent] = clients.map((client, i) => client.getLock(`channels:${i}`)) as [Lock, Lock];
  const times = { idle: [] as number[], without: [] as number[], subscribed: [] as number[] };
  const ratios: number[] = [];
  // The first rounds warm up the code.
  const uncounted = Math.ceil(rounds / 4);
  for (let round = -uncounted; round < rounds; round += 1) {
    // Who comes first has the garbage of who came last: they take turns.
    const isFirst = round % 2 === 0;
    const before = isFirst ? await timeCycles(present) : undefined;
    const without = await timeCycles(absent);
    const idle = before ?? (await timeCycles(present));
    if (round < 0) continue;
    times.idle.push(idle);
    times.without.push(without);
    ratios.push(idle / without);
  }
  await whileSubscribed(async () => {
    for (let round = 0; round < Math.ceil(rounds / 4); round += 1)
      times.subscribed.push(await timeCycles(present));
  });
  await Promise.all(clients.map((client) => client.close()));
  return {
    withoutUs: perCycleUs(times.without),
    idleUs: perCycleUs(times.idle),
    channelsRatio: median(ratios),
    subscribedUs: perCycleUs(times.subscribed),
  };
}
