/** What docs/guarantees.md says is tested: every test it names is there, and every number leads to one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './doc-blocks.ts';

const [tables = '', list = ''] = readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8').split('## The tests');

const NAMED = /^(\d+)\. `([^`]+)`: "(.+)"$/gm;
const named = [...list.matchAll(NAMED)].map(([, number = '', file = '', title = '']) => ({
  number,
  file,
  title,
}));

/** The numbers in the cells of the table, and those in the text. */
function numbersUsed(): string[] {
  const groups = [...tables.matchAll(/\((\d+(?:, \d+)*)\)/g)].flatMap(([, group = '']) => group.split(', '));
  return [...new Set(groups)];
}

describe('docs/guarantees.md', () => {
  it.each(named)('names a test that is there: $number', ({ file, title }) => {
    // A title may be put together from a table; what is quoted stands in the file as it is.
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(title);
  });

  it('has a test for every failure in every mode, and a use for every test', () => {
    const rows = tables.split('\n').filter((line) => line.startsWith('| '));
    const [header = '', ...failures] = rows.map((row) => row.split('|').slice(1, -1));
    expect(header.length).toBe(4);
    expect(failures.length).toBeGreaterThan(15);
    for (const [, ...modes] of failures) {
      for (const mode of modes) expect(mode).toMatch(/\(\d+(?:, \d+)*\)|^ the same $/);
      expect(modes[0]).not.toContain('the same');
    }
    const byNumber = (a: string, b: string) => Number(a) - Number(b);
    expect(numbersUsed().sort(byNumber)).toEqual(named.map(({ number }) => number));
  });
});
