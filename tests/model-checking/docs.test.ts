/** docs/model.md: every file that it names is there, and its tables say what is searched. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONFIGURATIONS, MISTAKES, PROPERTIES, SITUATIONS } from '../../chaos/model/configurations.ts';
import { ROWS, type Row, text } from './support/page.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The rows whose first cell is one of these. */
function rowsOf(firstCells: readonly string[]): readonly Row[] {
  return ROWS.filter(([first = '']) => firstCells.includes(first));
}

function asCode({ name }: { readonly name: string }): string {
  return `\`${name}\``;
}

describe('docs/model.md', () => {
  const files = [...new Set(text.match(/(?:chaos|lua|src|tests)\/[\w/.-]+\.(?:lua|ts|pml)/g))];

  it.each(files)('names an existing file: %s', (file) => {
    expect(existsSync(join(ROOT, file))).toBe(true);
  });

  it('names every script and source that the model says it follows', () => {
    const model = ['server', 'client', 'link', 'copies', 'faults', 'clock'];
    const sources = model.map((name) => readFileSync(join(ROOT, `chaos/model/${name}.pml`), 'utf8'));
    const followed = sources.join('\n').match(/(?:lua|src)\/[\w/.-]+\.(?:lua|ts)/g) ?? [];
    expect(followed.length).toBeGreaterThan(10);
    expect(followed.filter((file) => !files.includes(file))).toEqual([]);
  });

  it('names steps that exist in the file beside them', () => {
    for (const [step = '', file = ''] of ROWS.filter((row) => row[1]?.includes('.pml'))) {
      const sources = file
        .match(/chaos[\w/.-]+/g)
        ?.map((each) => readFileSync(join(ROOT, each), 'utf8'))
        .join('\n');
      for (const [, name = ''] of step.matchAll(/`(\w+)`/g)) expect(sources).toContain(`inline ${name}(`);
    }
  });

  it('has a row for every configuration, with its states and its bound', () => {
    const rows = rowsOf(CONFIGURATIONS.map(asCode)).map(([name, , states, within]) => [name, states, within]);
    expect(rows).toEqual(
      CONFIGURATIONS.map((each) => [asCode(each), each.states.toLocaleString('en'), String(each.within)]),
    );
  });

  it('has a row for every mistake, with what it breaks', () => {
    const rows = rowsOf(MISTAKES.map(asCode)).map(([name, , breaks]) => [name, breaks]);
    expect(rows).toEqual(MISTAKES.map((each) => [asCode(each), each.breaks]));
  });

  it('has a row for every promise', () => {
    expect(rowsOf(Object.keys(PROPERTIES)).map(([name]) => name)).toEqual(Object.keys(PROPERTIES));
  });

  it.each(SITUATIONS)('names the situation $name', ({ name }) => {
    expect(text).toContain(`(\`${name}\`)`);
  });
});
