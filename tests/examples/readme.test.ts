/**
 * The README in its two languages says the same: the same headings, code, tables and links. Its links work on a package
 * page too, where no file of the repository is at hand: they are addresses of the repository, of files that exist.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/doc-blocks.ts';

const PAGES = 'https://github.com/holdfast-js/holdfast/(?:blob|tree)/main/';
const FILES = 'https://raw.githubusercontent.com/holdfast-js/holdfast/main/';
const IN_REPOSITORY = new RegExp(`^(?:${PAGES}|${FILES})([^#]+)(?:#(.+))?$`);

const FENCED = /^```[^\n]*\n.*?^```$/gms;
const DEFINITION = /^\[([^\]]+)\]: (\S+)$/gm;
const LINK = /\]\[([^\]]+)\]/g;
const INLINE_LINK = /\]\(([^)]+)\)/g;
/** Written with other numbers in each language. */
const DATE = /\d+ [A-Z][a-z]+ \d{4}|\d{4} 年 \d+ 月 \d+ 日/g;

interface Page {
  /** Whole blocks of code, their languages and comments included. */
  readonly code: readonly string[];
  /** The level of each heading, in order. */
  readonly levels: readonly number[];
  /** The number of rows of each table, in order. */
  readonly tables: readonly number[];
  /** The numbers in each table, in order: figures do not change with the language. */
  readonly figures: readonly (readonly string[])[];
  /** The target of each link and image, in order of the definitions' labels. */
  readonly targets: readonly string[];
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Runs of lines that start with a bar. */
function tablesIn(text: string): string[][] {
  const tables = text.split(/^(?!\|).*$/m).map((part) => part.split('\n').filter((line) => line !== ''));
  return tables.filter((rows) => rows.length > 0);
}

function numbersIn(rows: readonly string[]): string[] {
  const text = rows.join('\n').replace(DATE, '');
  return [...text.matchAll(/\d[\d,.]*\d|\d/g)].map(([number]) => number).sort();
}

function parse(file: string): Page {
  const whole = read(file);
  const code = [...whole.matchAll(FENCED)].map(([block]) => block);
  const text = whole.replace(FENCED, '');
  const targetOf = new Map([...text.matchAll(DEFINITION)].map(([, label, target]) => [label, target]));
  const labels = [...text.matchAll(LINK)].map(([, label]) => label ?? '');
  const targets = labels.map((label) => targetOf.get(label) ?? `nothing defines ${label}`);
  targets.push(...[...text.matchAll(INLINE_LINK)].map(([, target]) => target ?? ''));
  const unused = [...targetOf.keys()].filter((label) => !labels.includes(label ?? ''));
  if (unused.length > 0) throw new Error(`${file} defines links it does not use: ${unused.join(', ')}`);
  const tables = tablesIn(text);
  return {
    code,
    levels: [...text.matchAll(/^(#+) /gm)].map(([, marks]) => marks?.length ?? 0),
    tables: tables.map((rows) => rows.length),
    figures: tables.map(numbersIn),
    targets: targets.sort(),
  };
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(file: string): string[] {
  const text = read(file).replace(FENCED, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the README', () => {
  const english = parse('README.md');
  const chinese = parse('README.zh-CN.md');

  it('has the same headings, code, tables and links in both languages', () => {
    expect(english.code.length).toBeGreaterThan(0);
    expect(english.tables.length).toBeGreaterThan(0);
    expect(chinese.code).toEqual(english.code);
    expect(chinese.levels).toEqual(english.levels);
    expect(chinese.tables).toEqual(english.tables);
    expect(chinese.targets).toEqual(english.targets);
  });

  it('has the same figures in both languages', () => {
    expect(chinese.figures).toEqual(english.figures);
  });

  it('links to files and headings of the repository that exist, by whole addresses', () => {
    expect(english.targets.length).toBeGreaterThan(0);
    for (const target of english.targets) {
      const [, path = '', anchor] = IN_REPOSITORY.exec(target) ?? [];
      expect(target).toMatch(IN_REPOSITORY);
      expect(existsSync(join(ROOT, path)), target).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(path)).toContain(anchor);
    }
  });

  it('is published in both languages', () => {
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    // npm adds README.md by itself.
    expect(files).toContain('README.zh-CN.md');
  });
});
