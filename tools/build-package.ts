/**
 * Builds what is published: ES modules and CommonJS from the same sources, each in a few files, with types for both.
 *
 * The compiler writes one file for each source; the bundler joins them, because loading more than a hundred takes most
 * of the time of an import. Names and comments stay, so that stack traces and a look into the package remain useful.
 * The programs that run as separate processes exist once, as ES modules; so does the dashboard's page.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OutputOptions, type Plugin, rollup } from 'rollup';
import { buildPage } from './dashboard-page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** What users import. */
const LIBRARY = ['index', 'dashboard/index', 'testing/index'];
/** What users import beside it. Bundled apart: what it shares with the library would be one more file of every import. */
const SUBSCRIBERS = ['telemetry/otel/index', 'telemetry/prometheus/index'];
const APART = { chunkFileNames: 'telemetry/[name].js' };
/** What runs as a process. */
const PROGRAMS = ['cli/bin', 'cli/demo/worker-child', 'embedded/child'];

/** Compiles the sources into a folder. */
function compile(folder: string): void {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const args = [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', folder];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
}

/** CommonJS knows the path of a file where ES modules know its URL; `src/child-programs.ts` takes both. */
const pathForUrl: Plugin = {
  name: 'path-for-url',
  resolveImportMeta: (property) => (property === 'url' ? '__filename' : null),
};

async function bundle(
  compiled: string,
  entries: readonly string[],
  output: OutputOptions,
  plugins: Plugin[] = [],
): Promise<void> {
  const bundled = await rollup({
    input: Object.fromEntries(entries.map((entry) => [entry, join(compiled, `${entry}.js`)])),
    external: (id) => isBuiltin(id) || /^[@a-z]/.test(id),
    plugins,
    onwarn: ({ code, message }) => {
      // The compiler's helpers look for a `this` that a module does not have.
      if (code !== 'THIS_IS_UNDEFINED') throw new Error(message);
    },
  });
  await bundled.write({
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    ...output,
  });
  await bundled.close();
}

/** The declarations of the library; a program has no users of its types. */
function copyTypes(compiled: string, folder: string): void {
  cpSync(compiled, folder, {
    recursive: true,
    filter: (path) => path !== join(compiled, 'cli') && !path.endsWith('.js'),
  });
}

const compiled = mkdtempSync(join(tmpdir(), 'holdfast-build-'));
try {
  rmSync(dist, { recursive: true, force: true });
  compile(compiled);
  const esm = join(dist, 'esm');
  await bundle(compiled, [...LIBRARY, ...PROGRAMS], { dir: esm, format: 'es' });
  await bundle(compiled, SUBSCRIBERS, { dir: esm, format: 'es', ...APART });
  copyTypes(compiled, esm);

  const cjs = join(dist, 'cjs');
  // Jest runs `import()` only with a flag.
  const commonJs: OutputOptions = {
    dir: cjs,
    format: 'cjs',
    exports: 'named',
    esModule: true,
    interop: 'auto',
    dynamicImportInCjs: false,
  };
  await bundle(compiled, LIBRARY, commonJs, [pathForUrl]);
  await bundle(compiled, SUBSCRIBERS, { ...commonJs, ...APART }, [pathForUrl]);
  copyTypes(compiled, cjs);
  writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');

  await buildPage(join(dist, 'dashboard-ui'));
} finally {
  rmSync(compiled, { recursive: true, force: true });
}
