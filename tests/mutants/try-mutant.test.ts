/** What counts as caught, and what does not. */
import { describe, expect, it } from 'vitest';
import { type Mutant, tryMutant } from '../../chaos/mutants/mutant.ts';
import { runMutants } from '../../chaos/mutants/run.ts';
import type { HistoryEvent } from '../../src/testing/history/event.ts';

const LEAK: HistoryEvent = {
  proc: 'witness',
  worker: 'w',
  key: 'lock',
  op: 'left',
  type: 'info',
  atNs: 1,
  what: 'a lock without an expiry',
};

function mutantWith(
  breaks: Mutant['breaks'],
  history: (isMutant: boolean) => readonly HistoryEvent[],
): Mutant {
  return {
    name: 'made-up',
    wrong: 'It is made up.',
    breaks,
    run: async (isMutant) => [...history(isMutant)],
  };
}

describe('a mutant', () => {
  it('whose history breaks the named promise, and only with the mutation, is caught', async () => {
    const trial = await tryMutant(mutantWith('leak', (isMutant) => (isMutant ? [LEAK] : [])));
    expect(trial).toMatchObject({ caught: true, innocent: true, violations: [{ kind: 'leak' }] });
  });

  it('that fails for another reason than the named one is not caught', async () => {
    const trial = await tryMutant(mutantWith('overlap', (isMutant) => (isMutant ? [LEAK] : [])));
    expect(trial).toMatchObject({ caught: false, innocent: true, violations: [{ kind: 'leak' }] });
  });

  it('whose scenario fails without the mutation does not count', async () => {
    const trial = await tryMutant(mutantWith('leak', () => [LEAK]));
    expect(trial).toMatchObject({ caught: true, innocent: false, unexpected: [{ kind: 'leak' }] });
  });

  it('in which the checker finds no violation is not caught', async () => {
    const trial = await tryMutant(mutantWith('leak', () => []));
    expect(trial).toMatchObject({ caught: false, innocent: true, violations: [] });
  });

  it('cannot be selected by an unknown name', async () => {
    await expect(runMutants({ only: ['nonesuch'] })).rejects.toThrow('nonesuch');
  });
});
