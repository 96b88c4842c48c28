/**
 * Scenes that repeat: what one cycle costs, as the total of many cycles divided by their number.
 */
import { Redis } from 'ioredis';
import { type ClientOptions, Holdfast } from '../../../src/index.ts';
import type { Figures } from './compare.ts';
import { bytesOf, commandsOf, type Meter } from './meter.ts';

const CYCLES = 100;

/**
 * Code that never ran makes caches and connections. So many cycles also give the owners of all measured cycles numbers
 * of four digits, which travel as text.
 */
const WARM_UP_CYCLES = 1_000;

/** Whatever happens once a second, or when the machine stalls, falls into some of the rounds only. */
const ROUNDS = 11;

/** A client of ioredis, and holdfast on it. */
export interface Seat {
  readonly redis: Redis;
  readonly client: Holdfast;
}

export interface Scene {
  readonly seats: readonly Seat[];
  /** One cycle. It is awaited, and the promises of its own awaits are counted as well: a caller has them too. */
  cycle(): Promise<void>;
  /** Ends what goes on between cycles. */
  finish?(): Promise<void>;
}

export function openSeat(url: string, options: ClientOptions = {}): Seat {
  const redis = new Redis(url);
  return { redis, client: Holdfast.from(redis, options) };
}

export async function leaveSeat({ client, redis }: Seat): Promise<void> {
  await client.close();
  redis.disconnect();
}

function difference(after: Figures, before: Figures): Figures {
  return Object.fromEntries(
    Object.entries(after).map(([title, count]) => [title, count - (before[title] ?? 0)]),
  );
}

/**
 * What a cycle cost in the cheapest round, to one decimal: what a stalled machine adds does not fall into every round, and
 * what a change adds does.
 */
function typical(title: string, rounds: readonly Figures[]): number {
  const cheapest = Math.min(...rounds.map((round) => round[title] ?? 0));
  return Math.round((cheapest / CYCLES) * 10) / 10;
}

async function repeat(scene: Scene, times: number, meter?: Meter): Promise<Figures> {
  // The caller's own await of this function is over when the count begins.
  await Promise.resolve();
  meter?.start();
  for (let i = 0; i < times; i += 1) await scene.cycle();
  return meter?.stop() ?? {};
}

/** What one cycle costs, after which the scene is closed; figures that are 0 are left out. */
export async function costOfCycle(scene: Scene, server: Redis, meter: Meter): Promise<Figures> {
  const { seats } = scene;
  const clients = seats.map(({ redis }) => redis);
  await repeat(scene, WARM_UP_CYCLES);
  const rounds: Figures[] = [];
  for (let i = 0; i < ROUNDS; i += 1) {
    const commands = await commandsOf(server);
    const bytes = bytesOf(clients);
    const made = await repeat(scene, CYCLES, meter);
    rounds.push({
      ...difference(await commandsOf(server), commands),
      ...difference(bytesOf(clients), bytes),
      ...made,
    });
  }
  await scene.finish?.();
  for (const seat of seats) await leaveSeat(seat);
  const titles = [...new Set(rounds.flatMap((round) => Object.keys(round)))];
  const costs = titles.map((title) => [title, typical(title, rounds)] as const);
  return Object.fromEntries(costs.filter(([, cost]) => cost !== 0));
}
