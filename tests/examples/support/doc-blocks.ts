/**
 * Finds the code that readers copy: the TSDoc examples in `src/` and the `ts` and `js` blocks of the README and of
 * everything in `docs/`. What becomes of it is left to `block-modules.ts`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** One piece of code and where it stands. */
export interface DocBlock {
  /** From the root of the project. */
  readonly file: string;
  /** The line of the file that the code starts at, counted from 1. */
  readonly line: number;
  /** A `js` block has to run as it is, in every Node.js that the package supports. */
  readonly language: 'ts' | 'js';
  readonly code: string;
}

const FENCE_START = /^```(ts|js)\s*$/;
const FENCE_END = /^```\s*$/;
const COMMENT_MARGIN = /^\s*\* ?/;

/** The fenced blocks in these lines; `null` stands for a line that no block can be in. */
function fencedBlocks(file: string, lines: readonly (string | null)[]): DocBlock[] {
  const blocks: DocBlock[] = [];
  let code: string[] | undefined;
  let language: DocBlock['language'] = 'ts';
  let startsAt = 0;
  for (const [i, line] of lines.entries()) {
    if (code === undefined) {
      const start = line === null ? null : FENCE_START.exec(line);
      if (start !== null) {
        code = [];
        language = start[1] === 'js' ? 'js' : 'ts';
        startsAt = i + 2;
      }
    } else if (line === null) {
      throw new Error(`${file}:${startsAt}: a block that does not end`);
    } else if (FENCE_END.test(line)) {
      blocks.push({ file, line: startsAt, language, code: code.join('\n') });
      code = undefined;
    } else {
      code.push(line);
    }
  }
  return blocks;
}

/** Only what stands behind an `@example`, without the margin of the comment. */
function exampleLines(source: string): (string | null)[] {
  let inComment = false;
  let inExample = false;
  return source.split('\n').map((line) => {
    if (/^\s*\/\*\*/.test(line)) inComment = true;
    if (line.includes('*/')) {
      inComment = false;
      inExample = false;
    }
    if (!inComment) return null;
    const text = line.replace(COMMENT_MARGIN, '');
    if (text.startsWith('@')) inExample = text.startsWith('@example');
    return inExample ? text : null;
  });
}

function filesIn(folder: string, ending: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const found = names.filter((name) => name.endsWith(ending)).sort();
  return found.map((name) => join(folder, name));
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

export function findDocBlocks(): DocBlock[] {
  const pages = ['README.md', ...filesIn('docs', '.md')];
  const sources = filesIn('src', '.ts');
  return [
    ...pages.flatMap((file) => fencedBlocks(file, read(file).split('\n'))),
    ...sources.flatMap((file) => fencedBlocks(file, exampleLines(read(file)))),
  ];
}
