/** The list of mutants is whole. That each is found is shown by `npm run chaos -- --quick`. */
import { describe, expect, it } from 'vitest';
import { MUTANTS } from '../../chaos/mutants/index.ts';

describe('a mutant', () => {
  it('has a unique name, and describes its fault in a sentence', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    for (const { name, wrong } of MUTANTS) expect(wrong, name).toMatch(/^[A-Z].*\.$/);
  });

  it('exists for every schedule that once broke a promise', () => {
    const rows = MUTANTS.flatMap(({ row }) => row ?? []);
    for (let row = 31; row <= 40; row += 1) expect(rows).toContain(row);
  });
});
