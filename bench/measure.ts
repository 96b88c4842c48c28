/**
 * Measuring side by side: contestants take turns in short rounds, so that whatever else the machine does
 * meets them all alike. The ratio of two contestants is the median of their rounds' ratios.
 */

export type Contestants = Readonly<Record<string, () => Promise<unknown>>>;

const ROUNDS = 11;
const CALLS = 200;

async function timeRound(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (let i = 0; i < CALLS; i += 1) await call();
  return (performance.now() - startedAt) / CALLS;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Milliseconds a call, for every contestant and round, after one round that does not count. */
export async function compare<C extends Contestants>(contestants: C): Promise<Record<keyof C, number[]>> {
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, call] of Object.entries(contestants)) {
      const took = await timeRound(call);
      if (round > 0) times[name]?.push(took);
    }
  }
  return times as Record<keyof C, number[]>;
}

export function ratio(of: readonly number[], to: readonly number[]): number {
  return median(of.map((took, round) => took / (to[round] ?? Number.NaN)));
}
