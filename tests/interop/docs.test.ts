/** What docs/redisson.md says is tested: the tests are there, with the versions it names and with no others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../examples/support/doc-blocks.ts';
import { collectTitles, type Path } from './support/titles.ts';

/** The columns of the page, and what every test of theirs stands in. */
const PLACES: Readonly<Record<string, string>> = {
  '4.7.0': 'with Redisson 4.7.0 at one server',
  Cluster: 'with Redisson 4.7.0 at a Cluster',
  '3.52.0': 'with Redisson 3.52.0 at one server',
  '3.17.7': 'with Redisson 3.17.7 at one server',
  '3.52.0 at a Cluster': 'with Redisson 3.52.0 at a Cluster',
  '3.17.7 at a Cluster': 'with Redisson 3.17.7 at a Cluster',
  '3.16.8': 'with Redisson 3.16.8 at one server',
};

/** The columns that claim nothing which a test could show. All others of a table with versions do. */
const UNTESTED_COLUMNS = ['lock', 'what', 'what to do'];

/** Everything that the suites import comes along. */
const LOADED_WITHIN_MS = 120_000;

/** Titles, alone or behind what they stand in: "the fair queue > who gives up …". */
const QUOTED = /"([^"]+)"/g;
const KIND = /\{(reentrant )?kind\}/;

interface Row {
  readonly text: string;
  readonly titles: readonly string[];
  /** What stands in the columns of the versions, those that the table has. */
  readonly marks: ReadonlyMap<string, string>;
  /** What stands in the columns that tell what happens. */
  readonly claims: readonly string[];
}

const page = readFileSync(join(ROOT, 'docs/redisson.md'), 'utf8').replace(/^```[\s\S]*?^```/gm, '');

function titlesIn(text: string): string[] {
  const prose = text.replace(/`[^`]*`/g, '');
  return [...prose.matchAll(QUOTED)].map(([, title]) => title ?? '');
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** The rows of all tables that have columns for versions. */
function rowsOf(text: string): Row[] {
  const tables = text.match(/(?:^\|.*\n)+/gm) ?? [];
  return tables.flatMap((table) => {
    const [header = '', , ...lines] = table.trim().split('\n');
    const columns = cellsOf(header);
    if (!columns.some((column) => column in PLACES)) return [];
    return lines.map((line) => {
      const cells = cellsOf(line).map((cell, index) => [columns[index] ?? '', cell] as const);
      const claims = cells.filter(([column]) => !(column in PLACES) && !UNTESTED_COLUMNS.includes(column));
      return {
        text: line,
        titles: titlesIn(line),
        marks: new Map(cells.filter(([column]) => column in PLACES)),
        claims: claims.map(([, cell]) => cell),
      };
    });
  });
}

const rows = rowsOf(page);

/** The kinds of locks, each with the versions that have it. */
const kinds = rows.flatMap(({ text, marks }) => {
  const [, kind] = /^\| `(\w+)` \|.*> Java holds the lock: /.exec(text) ?? [];
  return kind === undefined ? [] : [{ kind, marks }];
});

/** The titles that one with a placeholder stands for, in that column. */
function spelledOut(title: string, column: string): string[] {
  const [placeholder, isReentrant] = KIND.exec(title) ?? [];
  if (placeholder === undefined) return [title];
  const [version = ''] = column.split(' at ');
  return kinds
    .filter(({ marks }) => marks.get(version) === 'yes')
    .filter(({ kind }) => isReentrant === undefined || !kind.startsWith('getNonReentrant'))
    .map(({ kind }) => title.replace(placeholder, kind));
}

/** Whether the title is that test's, alone or with some of what it stands in. `{…}` stands for any text. */
function isOf(title: string, path: Path): boolean {
  const parts = title.split(' > ').map((part) => {
    const texts = part.split(/\{[^}]+\}/).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${texts.join('.+')}$`);
  });
  if (parts.at(-1)?.test(path.at(-1) ?? '') !== true) return false;
  let from = 0;
  return parts.every((part) => {
    const at = path.findIndex((each, index) => index >= from && part.test(each));
    from = at + 1;
    return at >= 0;
  });
}

describe('the page on Redisson', () => {
  let tests: Path[];

  beforeAll(async () => {
    tests = await collectTitles();
  }, LOADED_WITHIN_MS);

  const isTested = (title: string, place = '') =>
    tests.some((path) => path[0]?.startsWith(place) === true && isOf(title, path));

  it('has its tables', () => {
    expect(kinds).toHaveLength(7);
    expect(rows.length).toBeGreaterThan(40);
    for (const { text, titles, marks } of rows) {
      expect(titles.length, text).toBeGreaterThan(0);
      for (const mark of marks.values()) expect(['yes', '–'], text).toContain(mark);
    }
  });

  it('names a test for every claim', () => {
    const bare = rows.flatMap(({ text, claims }) =>
      claims
        .filter((claim, index) => {
          // Of two directions that one test shows, the first has its name.
          const isShownBefore = claim === 'both' && titlesIn(claims[index - 1] ?? '').length > 0;
          return titlesIn(claim).length === 0 && !isShownBefore;
        })
        .map((claim) => `"${claim}" in ${text}`),
    );
    expect(bare).toEqual([]);
  });

  it('covers every version', () => {
    for (const place of Object.values(PLACES)) {
      expect(tests.filter(([outermost]) => outermost?.startsWith(place)).length, place).toBeGreaterThan(5);
    }
  });

  it('quotes existing tests', () => {
    const titles = titlesIn(page).flatMap((title) => spelledOut(title, '4.7.0'));
    expect(titles.length).toBeGreaterThan(100);
    expect(titles.filter((title) => !isTested(title))).toEqual([]);
  });

  for (const [version, place] of Object.entries(PLACES)) {
    it(`is right about ${version}`, () => {
      const wrong = rows.flatMap(({ titles, marks }) => {
        if (!marks.has(version)) return [];
        const isMarked = marks.get(version) === 'yes';
        const all = titles.flatMap((title) => spelledOut(title, isMarked ? version : '4.7.0'));
        return all
          .filter((title) => isTested(title, place) !== isMarked)
          .map((title) => `${title}: ${isMarked ? 'not tested' : 'tested, though not marked'}`);
      });
      expect(wrong).toEqual([]);
    });
  }
});
