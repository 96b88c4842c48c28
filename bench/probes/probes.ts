/**
 * What happens to a hold, and to who waits for it, when things go wrong: one function for each column of the table.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { FaultProxy } from '../../src/testing/index.ts';
import type { Held, Library, Taker } from './libraries.ts';

/** What a probe has: the way to the server, which a proxy can cut, and a client that goes around it. */
export interface Scene {
  readonly library: Library;
  readonly proxy: FaultProxy;
  /** Straight to the server. */
  readonly redis: Redis;
  /** Another client of the library, another owner. */
  open(): Promise<Taker>;
}

export interface Probe {
  readonly title: string;
  run(scene: Scene): Promise<string>;
}

export const LEASE_MS = 3_000;
const NAME = 'probe';

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** The first of the two; the name of what was too late. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | 'too late'> {
  return await Promise.race([promise, sleep(ms, 'too late' as const)]);
}

function toldOf(held: Held): Promise<number> {
  return new Promise((resolve) => held.onLoss?.(() => resolve(performance.now())));
}

/** When the key has gone from the server, as seen every few milliseconds. */
async function goneAt({ redis, library }: Scene): Promise<number> {
  while ((await redis.exists(library.key(NAME))) === 1) await sleep(5);
  return performance.now();
}

const reentry: Probe = {
  title: 'the owner takes it again',
  run: async ({ open }) => {
    const taker = await open();
    await taker.take(NAME);
    const again = await within(
      LEASE_MS / 2,
      taker.take(NAME).catch((error: Error) => error.message),
    );
    if (again === 'too late') return 'waits for itself';
    return typeof again === 'string' ? again : 'enters again';
  },
};

const renewal: Probe = {
  title: 'held for two leases',
  run: async ({ open, redis, library }) => {
    await (await open()).take(NAME);
    await sleep(2 * LEASE_MS + 100);
    return (await redis.exists(library.key(NAME))) === 1 ? 'renewed' : 'expired';
  },
};

const deleted: Probe = {
  title: 'the key is deleted: told after',
  run: async ({ open, redis, library }) => {
    const held = await (await open()).take(NAME);
    const told = toldOf(held);
    const from = performance.now();
    await redis.del(library.key(NAME));
    const at = await within(3 * LEASE_MS, told);
    return at === 'too late' ? 'never' : seconds(at - from);
  },
};

const silence: Probe = {
  title: 'the network is silent: told',
  run: async (scene) => {
    const held = await (await scene.open()).take(NAME);
    const told = toldOf(held);
    scene.proxy.blackhole();
    const gone = await goneAt(scene);
    const at = await within(3 * LEASE_MS, told);
    if (at === 'too late') return 'never';
    const late = at - gone;
    return `${seconds(Math.abs(late))} ${late < 0 ? 'before' : 'after'} the lease ends`;
  },
};

const blocked: Probe = {
  title: 'the event loop is blocked past the lease: the next line sees',
  run: async ({ open }) => {
    const held = await (await open()).take(NAME);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1.5 * LEASE_MS);
    if (held.isHeld === undefined) return 'nothing to ask';
    return held.isHeld() ? 'held' : 'lost';
  },
};

async function afterLostReply(call: () => Promise<unknown>): Promise<string> {
  const from = performance.now();
  const outcome = await within(
    4 * LEASE_MS,
    call().then(
      () => 'resolves',
      (error: Error) => `rejects (${error.message.replace(/\s+/g, ' ').slice(0, 60)})`,
    ),
  );
  return outcome === 'too late' ? 'does not settle' : `${outcome} after ${seconds(performance.now() - from)}`;
}

const lostGrant: Probe = {
  title: 'the reply of the acquisition is lost',
  run: async (scene) => {
    const taker = await scene.open();
    // Scripts are loaded and connections made by a first round.
    await (await taker.take('warm-up')).release();
    const swallowed = scene.proxy.swallowReply(new RegExp(`${scene.library.takes}.*${NAME}`, 'i'));
    let held: Held | undefined;
    const told = await afterLostReply(async () => {
      held = await taker.take(NAME);
    });
    await within(100, swallowed);
    if (held === undefined) return told;
    await held.release();
    const left = await scene.redis.exists(scene.library.key(NAME));
    return left === 0 ? told : `${told}, and stays locked after the release`;
  },
};

const lostRelease: Probe = {
  title: 'the reply of the release is lost',
  run: async (scene) => {
    const taker = await scene.open();
    await (await taker.take('warm-up')).release();
    const held = await taker.take(NAME);
    const swallowed = scene.proxy.swallowReply(new RegExp(`${scene.library.releases}.*${NAME}`, 'i'));
    const told = await afterLostReply(() => held.release());
    await within(100, swallowed);
    const left = await scene.redis.exists(scene.library.key(NAME));
    return left === 0 ? `${told}, and it is free` : `${told}, and it stays locked`;
  },
};

/** Shorter than the time after which some libraries give up by default. */
const WAITING_MS = 1_500;

/** How often the server was asked for a lock, or to renew one. */
async function requestsOf(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats');
  const calls = [...stats.matchAll(/^cmdstat_(?:eval|evalsha|set):calls=(\d+)/gm)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

const waiting: Probe = {
  title: `one waiter asks in ${WAITING_MS / 1_000} s`,
  run: async ({ open, redis }) => {
    const held = await (await open()).take(NAME);
    const waiter = await open();
    const idleFrom = await requestsOf(redis);
    await sleep(WAITING_MS);
    const idle = (await requestsOf(redis)) - idleFrom;
    waiter.take(NAME).catch(() => undefined);
    const from = await requestsOf(redis);
    await sleep(WAITING_MS);
    const asked = (await requestsOf(redis)) - from - idle;
    await held.release().catch(() => undefined);
    return `${asked} times`;
  },
};

export const PROBES: readonly Probe[] = [
  reentry,
  renewal,
  deleted,
  silence,
  blocked,
  lostGrant,
  lostRelease,
  waiting,
];
