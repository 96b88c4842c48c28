/**
 * Finds the code that readers copy: the TSDoc examples in `src/`, and the `ts` and `js` blocks of the README and of
 * everything in `docs/`. What becomes of it is left to `block-modules.ts`.
 *
 * A block that needs packages which are not installed here names them on the line above its fence, in a comment that
 * readers do not see: `<!-- not run: needs bullmq -->`. Such a block is compiled, and not run. A program that several
 * processes run names the test that starts them in the same place: `<!-- run by tests/examples/one-leader.test.ts -->`.
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
  readonly code: string;
  readonly language: 'ts' | 'js';
  /** The packages without which it cannot run; most blocks need none. */
  readonly needs: readonly string[];
  /** The test that runs it, from the root of the project; null for most blocks, which `docs.test.ts` runs. */
  readonly runBy: string | null;
}

const FENCE_START = /^```(ts|js)\s*$/;
const NOT_RUN = /^<!-- not run: needs (.+) -->$/;
const RUN_BY = /^<!-- run by (\S+) -->$/;
const FENCE_END = /^```\s*$/;
const COMMENT_MARGIN = /^\s*\* ?/;

/** The fenced blocks in these lines; `null` stands for a line that no block can be in. */
function fencedBlocks(file: string, lines: readonly (string | null)[]): DocBlock[] {
  const blocks: DocBlock[] = [];
  let code: string[] | undefined;
  let startsAt = 0;
  let language: DocBlock['language'] = 'ts';
  for (const [i, line] of lines.entries()) {
    if (code === undefined) {
      const [, found] = line?.match(FENCE_START) ?? [];
      if (found === 'ts' || found === 'js') {
        code = [];
        startsAt = i + 2;
        language = found;
      }
    } else if (line === null) {
      throw new Error(`${file}:${startsAt}: a block that does not end`);
    } else if (FENCE_END.test(line)) {
      const above = lines[startsAt - 3] ?? '';
      const needs = above.match(NOT_RUN)?.[1]?.split(', ') ?? [];
      const runBy = above.match(RUN_BY)?.[1] ?? null;
      blocks.push({ file, line: startsAt, code: code.join('\n'), language, needs, runBy });
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
