/**
 * What most faults need: a server, a proxy before it, clients on either side, and the time things take.
 */
import { onTestFinished } from 'vitest';
import type { ClientEvents, ClientOptions, Holdfast } from '../../../src/index.ts';
import type { FaultProxy, RequestMatch, TestServer, TestServerOptions } from '../../../src/testing/index.ts';
import { ownProxy, ownServer } from '../../harness/servers.ts';
import { eventually } from '../../harness/wait.ts';
import { loadScripts } from './kinds.ts';
import { openWay, type Place, type Way } from './ways.ts';

/** What a busy machine may add to a time. */
export const SLACK_MS = 600;

/** No poll comes sooner or later than this after an attempt: 5 s and a fifth of noise. */
export const SOONEST_POLL_MS = 4_000;
export const LATEST_POLL_MS = 6_000;

export interface Arena {
  readonly server: TestServer;
  readonly proxy: FaultProxy;
}

export async function arena(options?: TestServerOptions): Promise<Arena> {
  const server = await ownServer(options);
  await loadScripts(server);
  return { server, proxy: await ownProxy(server) };
}

/** A client, closed when the test ends. */
export async function join(way: Way, place: Place, options?: ClientOptions): Promise<Holdfast> {
  const opened = await openWay(way, place, options);
  onTestFinished(() => opened.close());
  return opened.client;
}

/** Keeps every event of a client, by name, in order. */
export function listenTo(client: Holdfast): { [Name in keyof ClientEvents]: ClientEvents[Name][] } {
  const heard = { lost: [], atRisk: [], stalled: [], warning: [], error: [] } as ReturnType<typeof listenTo>;
  client.on('lost', (payload) => heard.lost.push(payload));
  client.on('atRisk', (payload) => heard.atRisk.push(payload));
  client.on('stalled', (payload) => heard.stalled.push(payload));
  client.on('warning', (payload) => heard.warning.push(payload));
  client.on('error', (payload) => heard.error.push(payload));
  return heard;
}

export interface Settled {
  readonly tookMs: number;
  /** By the wall clock, which a server on this machine shares. */
  readonly atWallMs: number;
  readonly value?: unknown;
  readonly error?: unknown;
}

/**
 * How a call settles, and how long that took. What must not be faster than a limit is given as a function: the limit
 * counts from inside the call, and the machine may stop this process between there and here.
 */
export function timed(call: Promise<unknown> | (() => Promise<unknown>)): Promise<Settled> {
  const from = performance.now();
  const promise = typeof call === 'function' ? call() : call;
  const now = () => ({ tookMs: performance.now() - from, atWallMs: Date.now() });
  return promise.then(
    (value) => ({ ...now(), value }),
    (error: unknown) => ({ ...now(), error }),
  );
}

/**
 * Resolves when the signal aborts, with its reason and the time. What a machine too busy to run this process
 * held up the event loop at that moment is taken off the time: it is not the client that was late.
 */
export async function aborted(signal: AbortSignal): Promise<Settled> {
  const everyMs = 10;
  let [tickAt, gapMs] = [performance.now(), 0];
  const ticking = setInterval(() => {
    const now = performance.now();
    [tickAt, gapMs] = [now, now - tickAt];
  }, everyMs);
  let heldUpMs = 0;
  const settled = await timed(
    new Promise((resolve) => {
      const onAbort = () => {
        heldUpMs = Math.max(0, Math.max(gapMs, performance.now() - tickAt) - everyMs);
        resolve(signal.reason);
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    }),
  );
  clearInterval(ticking);
  return { ...settled, tookMs: settled.tookMs - heldUpMs, atWallMs: settled.atWallMs - heldUpMs };
}

/** Resolves when the next matching request comes by, and lets it pass. */
export async function seen(proxy: FaultProxy, match: RequestMatch): Promise<void> {
  const request = proxy.holdRequest(match);
  await request.held;
  request.release();
}

/** When the server will drop the key, by the wall clock of this machine. */
export async function expiryOf(server: TestServer, name: string): Promise<number> {
  return Number(await server.command('PEXPIRETIME', name));
}

/** How many scripts the server has been asked to run. */
export async function scriptCalls(server: TestServer): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'));
  const calls = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

export async function subscribersOf(server: TestServer, channel: string): Promise<number> {
  return Number(((await server.command('PUBSUB', 'NUMSUB', channel)) as unknown[])[1]);
}

/** Every key of a primitive with its time to live: what a test left behind. Who clients are is none of them. */
export async function leftovers(server: TestServer): Promise<Map<string, number>> {
  const all = (await server.command('KEYS', '*')) as string[];
  const keys = all.filter((key) => !key.startsWith('holdfast_client:'));
  const entries = keys.map(async (key) => [key, Number(await server.command('PTTL', key))] as const);
  // What expired between the two questions is not left.
  return new Map((await Promise.all(entries)).filter(([, ttl]) => ttl !== -2));
}

/** Waits until the monotonic clock is past the given reading. */
export async function past(at: number): Promise<void> {
  await eventually(() => performance.now() > at, { withinMs: at - performance.now() + 5_000, everyMs: 20 });
}
