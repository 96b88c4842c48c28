/**
 * What docs/guarantees.md says is tested: every cell of its table names a test, which is there and runs in the mode of
 * that column, or in another where the page says so.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/doc-blocks.ts';

const [text = '', list = ''] = readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8').split('## The tests');

/** How the columns are headed, and what the list of the tests calls them. */
const COLUMNS = {
  "`'auto'`, the default": 'auto',
  '`replicas: 0`': '0',
  '`replicas: n`': 'n',
  '`guard`': 'guard',
};
const MODES: readonly string[] = Object.values(COLUMNS);

const NAMED = /^(\d+)\. `([^`]+)`: "(.+)" \[(.+)\]$/gm;
const named = [...list.matchAll(NAMED)].map(([, number = '', file = '', title = '', modes = '']) => ({
  number,
  file,
  title,
  modes: modes.split(', '),
}));
const byNumber = new Map(named.map((test) => [test.number, test]));

interface Cell {
  readonly failure: string;
  readonly mode: string;
  readonly says: string;
}

const [header = [], , ...rows] = text
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

const cells = rows.flatMap(([failure = '', ...says]) =>
  says.map((one, index): Cell => ({ failure, mode: MODES[index] ?? '', says: one })),
);

function numbersIn(part: string): string[] {
  return [...part.matchAll(/\((\d+(?:, \d+)*)\)/g)].flatMap(([, group = '']) => group.split(', '));
}

/** What a title tells of the modes its test runs in, the first that fits. */
const TOLD: readonly (readonly [title: RegExp, modes: readonly string[]])[] = [
  [/^auto\b|^by default\b/, ['auto']],
  [/^a number\b/, ['n']],
  [/in every mode, with the guard and without/, MODES],
  [/without the guard.*\bwith it\b/, ['auto', '0', 'guard']],
  [
    /(?:\$mode|in every mode|whatever is asked).*without|without.*(?:in every mode|whatever is asked)/,
    ['auto', '0', 'n'],
  ],
  [/^without the guard/, ['0']],
  [/with the guard/, ['guard']],
  [/replicas: %s/, ['auto', 'n']],
];

describe('docs/guarantees.md', () => {
  it.each(named)('names a test that is there: $number', ({ file, title }) => {
    // A title may be put together from a table; the file contains the quoted text unchanged.
    const source = readFileSync(join(ROOT, file), 'utf8');
    expect(source).toContain(title.includes("'") ? `"${title}"` : `'${title}'`);
  });

  it.each(named)('says of a test in which modes it runs, as its title does: $number', ({ title, modes }) => {
    const told = TOLD.find(([pattern]) => pattern.test(title))?.[1];
    expect(MODES).toEqual(expect.arrayContaining(modes));
    if (told !== undefined) expect([...modes].sort()).toEqual([...told].sort());
  });

  it('has a column for every mode, and a row for every failure', () => {
    expect(header.slice(1)).toEqual(Object.keys(COLUMNS));
    expect(rows.length).toBeGreaterThan(20);
    for (const row of rows) expect(row, row[0]).toHaveLength(header.length);
  });

  it.each(cells)('names tests of that mode: $failure, $mode', ({ failure, mode, says }) => {
    const tests = numbersIn(says).map((number) => byNumber.get(number));
    expect(tests).not.toEqual([]);
    expect(tests).not.toContain(undefined);
    const runsHere = tests.map((test) => test?.modes.includes(mode));
    const isElsewhere = says.startsWith('the same ');
    expect(runsHere).toEqual(tests.map(() => !isElsewhere));
    if (!isElsewhere) return;
    // Whoever reads it finds in the same row what is the same.
    const others = cells.filter((cell) => cell.failure === failure && !cell.says.startsWith('the same '));
    expect(others.flatMap((cell) => numbersIn(cell.says))).toEqual(expect.arrayContaining(numbersIn(says)));
  });

  it('has a use for every test', () => {
    const used = [...new Set(numbersIn(text))].sort((one, other) => Number(one) - Number(other));
    expect(used).toEqual(named.map(({ number }) => number));
  });
});
