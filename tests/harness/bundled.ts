/**
 * A TypeScript program as one file of JavaScript. Node.js starts it in a fifth of the time that it needs to load the
 * sources one by one, and tests start hundreds of children.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

const CACHE = join(import.meta.dirname, '../../.cache/children');

const known = new Map<string, string>();

/** The path of the bundle. It is named by its content, so one that was built before and still fits is used again. */
export function bundled(program: string): string {
  let path = known.get(program);
  if (path !== undefined) return path;
  const [output] = buildSync({
    entryPoints: [program],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Sources that look for files beside them look in the same package.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(program).href) },
    write: false,
  }).outputFiles;
  if (output === undefined) throw new Error(`esbuild made nothing of ${program}`);
  const hash = createHash('sha1').update(output.contents).digest('hex').slice(0, 12);
  path = join(CACHE, `${basename(program, '.ts')}-${hash}.mjs`);
  if (!existsSync(path)) {
    mkdirSync(CACHE, { recursive: true });
    // Another process that builds the same must not be seen half-way.
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, output.contents);
    renameSync(draft, path);
  }
  known.set(program, path);
  return path;
}
