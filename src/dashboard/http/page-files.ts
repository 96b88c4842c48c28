/**
 * The built page and what belongs to it, in memory: a few files.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { packageFolder } from '../../child-programs.ts';
import { answer } from './responses.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

const INDEX = 'index.html';

/** The names of built files change with their content. */
const FOR_EVER = 'private, max-age=31536000, immutable';

interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/** Where the build puts the page. */
function builtFolder(): string {
  return join(packageFolder(), 'dist', 'dashboard-ui');
}

export class PageFiles {
  readonly #index: PageFile;
  /** By their path below the page. */
  readonly #files = new Map<string, PageFile>();

  /** @throws Error when the page is not there */
  constructor(folder = builtFolder()) {
    for (const file of filesIn(folder)) {
      const name = relative(folder, file).split(sep).join('/');
      const type = TYPES[extname(file)] ?? 'application/octet-stream';
      this.#files.set(name, { body: new Uint8Array(readFileSync(file)), type });
    }
    const index = this.#files.get(INDEX);
    if (index === undefined) {
      throw new Error(
        `The page of the dashboard is not in ${folder}. A published package has it; in a checkout of the sources, ` +
          'run: npm run build:dashboard',
      );
    }
    this.#index = index;
    this.#files.delete(INDEX);
  }

  index(): Response {
    const { body, type } = this.#index;
    return answer(200, body, { 'content-type': type });
  }

  /** The file that a path ends in; undefined if there is none. */
  file(pathname: string): Response | undefined {
    for (const [name, { body, type }] of this.#files) {
      if (!pathname.endsWith(`/${name}`)) continue;
      return answer(200, body, { 'content-type': type, 'cache-control': FOR_EVER });
    }
    return undefined;
  }
}

function filesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}
