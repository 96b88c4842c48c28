/**
 * Tries mutants, several at a time, and tells which the checker caught. Run alone, it prints a table and fails on any
 * surprise: `tsx chaos/mutants/run.ts [name…]`.
 */
import { pathToFileURL } from 'node:url';
import { MUTANTS } from './index.ts';
import { type Mutant, type Trial, tryMutant } from './mutant.ts';

/** What became of one mutant. */
export interface MutantOutcome extends Trial {
  readonly mutant: Mutant;
  readonly seconds: number;
  /** What broke the scenario, if anything did; it shows nothing then. */
  readonly error?: unknown;
}

export interface RunMutantsOptions {
  /** Told of each mutant as soon as it was tried. */
  readonly onDone?: (outcome: MutantOutcome) => void;
  /** The names of those to try; all unless told. */
  readonly only?: readonly string[];
  /** The server program to try them with. */
  readonly binary?: string;
}

/** Most of the time a scenario waits for a lease or a time-out. */
const AT_A_TIME = 4;

/** Whether the mutant was caught, and its scenario is innocent. */
export function isAsExpected({ caught, innocent }: Trial): boolean {
  return caught && innocent;
}

async function outcomeOf(mutant: Mutant, binary: string | undefined): Promise<MutantOutcome> {
  const from = performance.now();
  const seconds = () => (performance.now() - from) / 1_000;
  try {
    const trial = await tryMutant(mutant, binary);
    return { ...trial, mutant, seconds: seconds() };
  } catch (error) {
    const nothing = { caught: false, innocent: false, violations: [], unexpected: [] };
    return { ...nothing, mutant, seconds: seconds(), error };
  }
}

/** Tries mutants and resolves to what became of them, in the order in which they are listed. */
export async function runMutants({ onDone, only, binary }: RunMutantsOptions = {}): Promise<MutantOutcome[]> {
  const unknown = only?.find((name) => !MUTANTS.some((mutant) => mutant.name === name));
  if (unknown !== undefined) throw new Error(`There is no mutant named ${unknown}`);
  const mutants = MUTANTS.filter(({ name }) => only === undefined || only.includes(name));
  const outcomes: MutantOutcome[] = [];
  let next = 0;
  const tryInTurn = async (): Promise<void> => {
    for (let at = next++; at < mutants.length; at = next++) {
      const outcome = await outcomeOf(mutants[at] as Mutant, binary);
      outcomes[at] = outcome;
      onDone?.(outcome);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, tryInTurn));
  return outcomes;
}

const WIDTHS = [30, 18, 9, 11, 6] as const;

function row(...columns: readonly string[]): string {
  return columns.map((text, at) => text.padEnd(WIDTHS[at] ?? 0)).join('');
}

function linesOf(outcome: MutantOutcome): string {
  const { mutant, caught, innocent, seconds, error, violations, unexpected } = outcome;
  const line = row(
    mutant.name,
    mutant.breaks,
    caught ? 'red' : 'NOT RED',
    innocent ? 'green' : 'NOT GREEN',
    `${seconds.toFixed(1)} s`,
  );
  const surprises = isAsExpected(outcome)
    ? []
    : [...(caught ? [] : violations), ...unexpected].map(({ kind, text }) => `  ${kind}: ${text}`);
  if (error !== undefined) surprises.push(`  ${(error as Error).stack ?? error}`);
  return [line, ...surprises].join('\n');
}

async function main(names: readonly string[]): Promise<void> {
  const from = performance.now();
  console.log(row('mutant', 'must be found', 'with', 'without', 'took'));
  const outcomes = await runMutants({
    onDone: (outcome) => console.log(linesOf(outcome)),
    ...(names.length > 0 && { only: names }),
  });
  const good = outcomes.filter(isAsExpected).length;
  console.log(
    `${good} of ${outcomes.length} as expected, ${((performance.now() - from) / 1_000).toFixed(1)} s`,
  );
  process.exitCode = good === outcomes.length ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));
