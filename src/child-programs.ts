/**
 * Finds the files of this package that are not modules: programs that run as separate processes, and the built page of
 * the dashboard.
 *
 * Both builds, the sources and a bundled application use the same files: they are found through the package, because a
 * file that was moved into a bundle has nothing beside it.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A URL in an ES module, a path in the CommonJS build, undefined if a bundler dropped it. */
const here: string | undefined = typeof import.meta.url === 'string' ? import.meta.url : undefined;

/** The folder of this package, as seen from this file or, in a bundle without its own address, from the program. */
export function packageFolder(): string {
  for (const base of [here, process.argv[1], join(process.cwd(), 'any')]) {
    if (base === undefined) continue;
    try {
      return dirname(createRequire(base).resolve('holdfast/package.json'));
    } catch {
      // The next place may know the package.
    }
  }
  throw new Error(
    'The package "holdfast" is not installed where this program can find it. What it starts as a separate process, ' +
      'and the page of the dashboard, are not part of a bundle: npm install holdfast beside the bundled application',
  );
}

/**
 * The arguments with which Node.js runs a program of this package.
 *
 * @param program its file below `src/`, without an ending
 */
export function programArguments(program: string): string[] {
  const root = packageFolder();
  if (here?.endsWith('.ts') !== true) return [join(root, `dist/esm/${program}.js`)];
  // Run from source, the program needs the same TypeScript loader as this process.
  const tsx = pathToFileURL(createRequire(here).resolve('tsx')).href;
  return ['--import', tsx, join(root, `src/${program}.ts`)];
}
