/**
 * The tests with Redisson by name, without running any: the suites of every project are loaded with a `vitest` that
 * only takes down what it is told. So whatever depends on the version of Redisson or on the servers is as in a real
 * run.
 */
import { basename } from 'node:path';
import { format } from 'node:util';
import { type ProvidedContext, vi } from 'vitest';
import { PROJECTS } from '../../projects.ts';

/** The titles of a test and of what it stands in, outermost first. */
export type Path = readonly string[];

type Body = (...row: unknown[]) => unknown;
type Named = (title: string, body: Body) => void;

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
  let provided: Partial<ProvidedContext> = {};
  const actual = await vi.importActual<typeof import('vitest')>('vitest');
  vi.doMock('vitest', () => ({
    ...actual,
    describe: Object.assign(describe, { each: each(describe), skip: describe }),
    it: Object.assign(it, { each: each(it) }),
    beforeAll: () => {},
    afterAll: () => {},
    vi: { setConfig: () => {} },
    inject: (key: keyof ProvidedContext) => provided[key],
  }));
  // The tests have the same names with and without Java, and looking for it takes a while.
  vi.doMock('./java-build.ts', () => ({ BUILT_WITHIN_MS: 0, hasJava: () => true, javaClassPath: () => '' }));
  try {
    for (const { files, provide = {} } of PROJECTS) {
      if (provide.redisson === undefined) continue;
      provided = provide;
      for (const file of files) {
        vi.resetModules();
        await import(`../${basename(file, '.suite.ts')}.suite.ts`);
      }
    }
  } finally {
    vi.doUnmock('vitest');
    vi.doUnmock('./java-build.ts');
    // The worker runs other files after this one, which must not get modules that imported the mock.
    vi.resetModules();
  }
  return found;
}
