/** Where things are: in the repository, on the site, on GitHub. */
import { basename, dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Where the build puts the Markdown that VitePress reads. */
export const STAGE = fileURLToPath(new URL('./pages', import.meta.url));

export const REPOSITORY = 'https://github.com/holdfast-js/holdfast';

/** Where a file of the repository is on the site: what is in `docs/` moves to the top, a README becomes an index. */
export function placeOf(file: string): string {
  const folder = dirname(file).replace(/^docs(\/|$)/, '');
  const name = basename(file);
  if (!name.endsWith('.md')) return join(folder, name);
  return join(folder, name === 'README.md' ? 'index.md' : name.toLowerCase());
}

/** The address of a page of the site, without its base. */
export function addressOf(file: string): string {
  return `/${placeOf(file)
    .replace(/(^|\/)index\.md$/, '$1')
    .replace(/\.md$/, '')}`;
}
