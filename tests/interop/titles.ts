/**
 * The tests of this folder by name, without running any: the files are loaded with a `vitest` that only takes down
 * what it is told. So whatever depends on the version of Redisson or on the servers is as in a real run.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'node:util';
import { vi } from 'vitest';

/** The titles of a test and of what it stands in, outermost first. */
export type Path = readonly string[];

type Body = (...row: unknown[]) => unknown;
type Named = (title: string, body: Body) => void;

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const SUITES = /^((?:locks|synchronizers|time|cluster|layout)-.+|storm(?:-cluster)?)\.test\.ts$/;

/** The form for tables: one call for each row, with the first values of the row in the title. */
function each(one: Named) {
  return (table: readonly unknown[]): Named =>
    (title, body) => {
      const places = title.split('%s').length - 1;
      for (const row of table) {
        const values: unknown[] = Array.isArray(row) ? row : [row];
        one(format(title, ...values.slice(0, places)), () => body(...values));
      }
    };
}

/** Every test of the suites that Java takes part in. */
export async function collectTitles(): Promise<Path[]> {
  const found: Path[] = [];
  const around: string[] = [];
  const describe: Named = (title, body) => {
    around.push(title);
    body();
    around.pop();
  };
  const it: Named = (title) => void found.push([...around, title]);
  const actual = await vi.importActual<typeof import('vitest')>('vitest');
  vi.doMock('vitest', () => ({
    ...actual,
    describe: Object.assign(describe, { each: each(describe), skip: describe }),
    it: Object.assign(it, { each: each(it) }),
    beforeAll: () => {},
    afterAll: () => {},
    vi: { setConfig: () => {} },
  }));
  // The tests have the same names with and without Java, and looking for it takes a while.
  vi.doMock('./java-build.ts', () => ({ BUILT_WITHIN_MS: 0, hasJava: () => true, javaClassPath: () => '' }));
  try {
    for (const file of readdirSync(FOLDER)) {
      const [, suites] = SUITES.exec(file) ?? [];
      if (suites !== undefined) await import(`./${suites}.test.ts`);
    }
  } finally {
    vi.doUnmock('vitest');
    vi.doUnmock('./java-build.ts');
  }
  return found;
}
