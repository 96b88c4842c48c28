/**
 * The claims of docs/redisson.md are tested: docs/proofs.md names the tests, which exist and run with the versions that
 * the page marks, and with no others.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { ROOT } from '../examples/support/doc-blocks.ts';
import { linkedProofs, readProofs } from '../examples/support/proofs.ts';
import { collectTitles, type Path } from './support/titles.ts';

/** The columns of the page, and the outermost group of their tests. */
const PLACES: Readonly<Record<string, string>> = {
  '4.7.0': 'with Redisson 4.7.0 at one server',
  Cluster: 'with Redisson 4.7.0 at a Cluster',
  '3.52.0': 'with Redisson 3.52.0 at one server',
  '3.17.7': 'with Redisson 3.17.7 at one server',
  '3.52.0 at a Cluster': 'with Redisson 3.52.0 at a Cluster',
  '3.17.7 at a Cluster': 'with Redisson 3.17.7 at a Cluster',
  '3.16.8': 'with Redisson 3.16.8 at one server',
};

/** Everything that the suites import comes along. */
const LOADED_WITHIN_MS = 120_000;

/** Titles, alone or behind the groups they are in: "the fair queue > a waiter that gives up …". */
const QUOTED = /"([^"]+)"/g;
const KIND = /\{(reentrant )?kind\}/;

interface Row {
  readonly text: string;
  /** The first cell: what the row is about. */
  readonly what: string;
  readonly proofs: readonly string[];
  /** The cells of the columns of versions, as far as the table has them. */
  readonly marks: ReadonlyMap<string, string>;
  /** Whether the row describes a limitation, and not something that works in both directions. */
  readonly isLimitation: boolean;
}

const page = readFileSync(join(ROOT, 'docs/redisson.md'), 'utf8').replace(/^```[\s\S]*?^```/gm, '');
const proofs = readProofs('Redisson');

function titlesIn(text: string): string[] {
  return [...text.matchAll(QUOTED)].map(([, title]) => title ?? '');
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
      return {
        text: line,
        what: cells[0]?.[1] ?? '',
        proofs: linkedProofs(line, 'Redisson'),
        marks: new Map(cells.filter(([column]) => column in PLACES)),
        isLimitation: columns.includes('what happens'),
      };
    });
  });
}

const rows = rowsOf(page);

function proofOf({ proofs: [number] }: Row) {
  return proofs.find((proof) => proof.number === number);
}

function titlesOf(row: Row): string[] {
  return titlesIn(proofOf(row)?.list ?? '');
}

/** The kinds of locks, each with the versions that have it. */
const kinds = rows.flatMap((row) => {
  const [, kind] = /^`(\w+)`$/.exec(row.what) ?? [];
  return kind === undefined ? [] : [{ kind, marks: row.marks }];
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

/** Whether the title is that of the test, alone or with some of its groups. `{…}` stands for any text. */
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

  it('is read without a trace: what later files of this worker import runs on the real vitest', async () => {
    const { sharedServer } = await import('../harness/servers.ts');
    expect(sharedServer().url).toBe(inject('serverUrl'));
  });

  it('has its tables', () => {
    expect(kinds).toHaveLength(7);
    expect(rows.length).toBeGreaterThan(40);
    for (const row of rows) {
      expect(row.proofs, row.text).toHaveLength(1);
      expect(titlesOf(row).length, row.text).toBeGreaterThan(0);
      for (const mark of row.marks.values()) expect(['yes', '–'], row.text).toContain(mark);
    }
  });

  it('names a test for every claim, in both directions', () => {
    for (const row of rows) {
      const { statement = '', list = '' } = proofOf(row) ?? {};
      expect(statement).toBe(row.what);
      const shown = list.split(/^- /m).slice(1);
      const directions = shown.map((part) => part.slice(0, part.indexOf(':')));
      const expected = row.isLimitation
        ? [['shown by']]
        : [['both directions'], ['Java acts, Node sees it', 'Node acts, Java sees it']];
      expect(expected, row.text).toContainEqual(directions);
      for (const part of shown) expect(titlesIn(part).length, part).toBeGreaterThan(0);
    }
  });

  it('uses every proof', () => {
    const used = new Set(linkedProofs(page, 'Redisson'));
    expect(proofs.map(({ number }) => number)).toEqual(proofs.map((_, index) => String(index + 1)));
    expect(proofs.filter(({ number }) => !used.has(number))).toEqual([]);
    expect(used.size).toBe(proofs.length);
  });

  it('covers every version', () => {
    for (const place of Object.values(PLACES)) {
      expect(tests.filter(([outermost]) => outermost?.startsWith(place)).length, place).toBeGreaterThan(5);
    }
  });

  it('quotes existing tests', () => {
    const titles = proofs
      .flatMap(({ list }) => titlesIn(list))
      .flatMap((title) => spelledOut(title, '4.7.0'));
    expect(titles.length).toBeGreaterThan(100);
    expect(titles.filter((title) => !isTested(title))).toEqual([]);
  });

  for (const [version, place] of Object.entries(PLACES)) {
    it(`is right about ${version}`, () => {
      const wrong = rows.flatMap((row) => {
        if (!row.marks.has(version)) return [];
        const isMarked = row.marks.get(version) === 'yes';
        const all = titlesOf(row).flatMap((title) => spelledOut(title, isMarked ? version : '4.7.0'));
        return all
          .filter((title) => isTested(title, place) !== isMarked)
          .map((title) => `${title}: ${isMarked ? 'not tested' : 'tested, though not marked'}`);
      });
      expect(wrong).toEqual([]);
    });
  }
});
