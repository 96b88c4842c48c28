/**
 * A mutant is a client that is wrong on purpose in one point, and the scenario in which that shows.
 *
 * The scenario plays twice, with the mutation and without, and the checker judges both histories. A mutant is caught when
 * the checker finds the violation that was named beforehand; its scenario is innocent when the checker finds nothing
 * without the mutation. Only both together show that the checker can tell right from wrong.
 */
import { checkHistory } from '../../src/testing/history/check.ts';
import type { HistoryEvent } from '../../src/testing/history/event.ts';
import type { CheckBounds, Verdict, Violation, ViolationKind } from '../../src/testing/history/verdict.ts';
import { Rig } from './rig.ts';

export interface Mutant {
  /** Short and lower case: `unlock-without-owner-check`. */
  readonly name: string;
  /** The row of the fault matrix that it gets wrong; left out for mistakes that show without a fault of the matrix. */
  readonly row?: number;
  /** What is wrong with the client, in one sentence. */
  readonly wrong: string;
  /** What the checker has to find. */
  readonly breaks: ViolationKind;
  /** What the scenario promises, where that differs from the checker's own bounds. */
  readonly bounds?: Partial<CheckBounds>;
  /** Plays the scenario and resolves to what was recorded. */
  run(isMutant: boolean, binary?: string): Promise<HistoryEvent[]>;
}

/** A mutant whose scenario plays on a rig, which is closed when the scenario is over. */
export function mutant({ play, ...about }: Omit<Mutant, 'run'> & { play(rig: Rig): Promise<void> }): Mutant {
  return {
    ...about,
    async run(isMutant, binary) {
      const rig = new Rig(isMutant, binary);
      try {
        await play(rig);
        return rig.events;
      } finally {
        await rig.close();
      }
    },
  };
}

export interface Trial {
  /** The violation that was named beforehand is found with the mutation. */
  readonly caught: boolean;
  /** Nothing is found without the mutation. */
  readonly innocent: boolean;
  /** What is found with the mutation. */
  readonly violations: readonly Violation[];
  /** What is found without it: nothing, or the scenario is wrong. */
  readonly unexpected: readonly Violation[];
}

/** How often a scenario plays that the machine was too busy for. */
const MOST_PLAYS = 3;

/** Plays one side of a mutant's scenario. A stall of this process may hide what is wrong, or be it: then it plays again. */
async function judge(mutant: Mutant, isMutant: boolean, binary: string | undefined): Promise<Verdict> {
  for (let plays = 1; ; plays += 1) {
    const events = await mutant.run(isMutant, binary);
    const verdict = checkHistory(events, mutant.bounds);
    const isExpected = isMutant ? isCaught(mutant, verdict) : verdict.verdict === 'valid';
    const isDisturbed = events.some(({ op }) => op === 'stalled');
    if (isExpected || !isDisturbed || plays === MOST_PLAYS) return verdict;
  }
}

function isCaught({ breaks }: Mutant, { violations }: Verdict): boolean {
  return violations.some(({ kind }) => kind === breaks);
}

/** Plays a mutant's scenario with the mutation and without, and judges both. */
export async function tryMutant(mutant: Mutant, binary?: string): Promise<Trial> {
  const wrong = await judge(mutant, true, binary);
  const right = await judge(mutant, false, binary);
  return {
    caught: isCaught(mutant, wrong),
    innocent: right.verdict === 'valid',
    violations: wrong.violations,
    unexpected: right.violations,
  };
}
