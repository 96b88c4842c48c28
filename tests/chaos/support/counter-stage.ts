/**
 * What the faults of semaphores, latches and rate limiters have in common: a counter behind the proxy, calls that are
 * given up or fail while nobody knows their outcome, and messages that are missed.
 */
import { expect } from 'vitest';
import { type ClientOptions, type Holdfast, OutcomeUnknownError } from '../../../src/index.ts';
import type { FaultProxy, TestServer } from '../../../src/testing/index.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import { type Arena, arena, join, past, type Settled, SLACK_MS, scriptCalls, timed } from './arena.ts';
import type { Way } from './ways.ts';

export const COMMAND_TIMEOUT_MS = 400;

export interface CounterStage extends Arena {
  readonly name: string;
  readonly client: Holdfast;
}

/**
 * A counter on a server of its own, and a client that reaches it through the proxy.
 *
 * @param stored the command that stores the counter
 */
export async function counterStage(
  way: Way,
  stored: (name: string) => [command: string, ...args: (string | number)[]],
  options?: ClientOptions,
): Promise<CounterStage> {
  const place = await arena();
  const name = randomName();
  await place.server.command(...stored(name));
  return { ...place, name, client: await join(way, place.proxy, options) };
}

/** Resolves when an attempt is undone for good, which the server remembers by this word. */
export async function undone(server: TestServer, name: string, word: string): Promise<void> {
  await eventually(async () => {
    const keys = (await server.command('KEYS', `redisson_unlock_latch:{${name}}:*`)) as string[];
    const answers = await Promise.all(keys.map((key) => server.command('GET', key)));
    return answers.includes(word);
  });
}

/**
 * A call is given up after its attempt has run and the reply is lost. The network is silent when this resolves.
 *
 * @param meanwhile what the server has before the caller gives up
 */
export async function givenUp(
  proxy: FaultProxy,
  attempt: string,
  call: (signal: AbortSignal) => Promise<unknown>,
  meanwhile?: () => Promise<void>,
): Promise<void> {
  const giveUp = new AbortController();
  const swallowed = proxy.swallowReply(attempt, { after: 'silence' });
  const waiting = timed(call(giveUp.signal));
  await swallowed;
  await meanwhile?.();
  const why = new Error('enough');
  giveUp.abort(why);
  expect((await waiting).error).toBe(why);
}

/** An attempt is reported as failed, and arrives at the server after it was undone. */
export async function arrivesUndone(
  { server, proxy }: Arena,
  attempt: string,
  call: () => Promise<unknown>,
  isUndone: () => Promise<void>,
): Promise<void> {
  const zombie = proxy.holdRequest(attempt);
  const tried = await timed(call());
  expect(tried.error).toBeInstanceOf(OutcomeUnknownError);
  expect(tried.tookMs).toBeLessThan(COMMAND_TIMEOUT_MS + SLACK_MS);

  // The connection with the request in it breaks; the undoing overtakes it on the next one.
  proxy.dropConnections();
  await isUndone();
  const before = await scriptCalls(server);
  zombie.release();
  await eventually(async () => (await scriptCalls(server)) > before);
}

/** Asks a server that does not answer in all ways. Every call fails by its deadline; with what is for the caller to say. */
export async function failedInTime(counter: {
  acquire(): Promise<unknown>;
  tryAcquire(permits: number, options?: { waitMs: number }): Promise<unknown>;
}): Promise<Settled[]> {
  const [unlimited, limited, single] = await Promise.all([
    timed(counter.acquire()),
    timed(() => counter.tryAcquire(2, { waitMs: 700 })),
    timed(counter.tryAcquire(3)),
  ]);
  expect(unlimited.tookMs).toBeLessThan(COMMAND_TIMEOUT_MS + SLACK_MS);
  expect(limited.tookMs).toBeGreaterThan(700);
  expect(limited.tookMs).toBeLessThan(700 + COMMAND_TIMEOUT_MS + SLACK_MS);
  expect(single.tookMs).toBeLessThan(COMMAND_TIMEOUT_MS + SLACK_MS);
  return [unlimited, limited, single];
}

/** Breaks the subscription, and lets another client act before there is a new one. */
export async function unheard(
  { server, proxy }: Arena,
  act: (other: Holdfast) => Promise<void>,
): Promise<void> {
  const again = proxy.holdRequest(/^SUBSCRIBE/);
  expect(await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')).toBe(1);
  await again.held;
  await act(await join('Holdfast.connect', server));
  again.release();
}

/**
 * Many workers of two clients, while all connections break again and again.
 *
 * @param work is repeated until the connections stay
 */
export async function workThroughBreaks(
  proxy: FaultProxy,
  clients: readonly Holdfast[],
  workers: number,
  work: (client: Holdfast, i: number) => Promise<void>,
): Promise<void> {
  let isOver = false;
  const repeat = async (i: number) => {
    while (!isOver) await work(clients[i % clients.length] as Holdfast, i);
  };
  const working = Array.from({ length: workers }, (_, i) => repeat(i));
  const until = performance.now() + 1_500;
  while (performance.now() < until) {
    await past(performance.now() + 30 + Math.random() * 120);
    proxy.dropConnections();
  }
  isOver = true;
  await Promise.all(working);
}
