/** The checker can fail: it finds in each mutant's history what is wrong with it, and nothing without the mutation. */
import { describe, expect, inject, it } from 'vitest';
import { MUTANTS } from '../../chaos/mutants/index.ts';
import { tryMutant } from '../../chaos/mutants/mutant.ts';
import { describeWithProcess } from '../harness/servers.ts';

/** Both sides of the longest scenario take six seconds on an idle machine. */
const TEST_MS = 60_000;

describeWithProcess('a mutant', () => {
  describe.concurrent('is red with its mutation, and green without', () => {
    it.each(MUTANTS)(
      '$name: $breaks',
      async (mutant) => {
        const trial = await tryMutant(mutant, inject('serverBinary') ?? undefined);
        expect(trial.unexpected).toEqual([]);
        expect(trial.violations.map(({ kind }) => kind)).toContain(mutant.breaks);
        expect(trial).toMatchObject({ caught: true, innocent: true });
      },
      TEST_MS,
    );
  });

  it('has a name that no other has, and says what is wrong with it in a sentence', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    for (const { name, wrong } of MUTANTS) expect(wrong, name).toMatch(/^[A-Z].*\.$/);
  });

  it('is there for every schedule that once broke a promise', () => {
    const rows = MUTANTS.flatMap(({ row }) => row ?? []);
    for (let row = 31; row <= 40; row += 1) expect(rows).toContain(row);
  });
});
