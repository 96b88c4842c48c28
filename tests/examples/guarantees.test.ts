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

/** The numbers in the last column of the tables, and those in the text. */
function numbersUsed(): string[] {
  const cells = [...tables.matchAll(/^\|.*\|\s*([\d, ]+)\s*\|$/gm)].flatMap(([, cell = '']) =>
    cell.split(','),
  );
  const inText = [...tables.matchAll(/\((\d+)\)/g)].map(([, number = '']) => number);
  return [...new Set([...cells, ...inText].map((number) => number.trim()))];
}

describe('docs/guarantees.md', () => {
  it.each(named)('names a test that is there: $number', ({ file, title }) => {
    // A title may be put together from a table; what is quoted stands in the file as it is.
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(title);
  });

  it('has a test for every failure, and a use for every test', () => {
    const failures = tables
      .split('\n')
      .filter((line) => /^\| (?!failure|---)/.test(line) && !line.startsWith('|---'));
    expect(failures.length).toBeGreaterThan(15);
    for (const failure of failures) expect(failure).toMatch(/\| [\d, ]+ \|$/);
    const byNumber = (a: string, b: string) => Number(a) - Number(b);
    expect(numbersUsed().sort(byNumber)).toEqual(named.map(({ number }) => number));
  });
});
