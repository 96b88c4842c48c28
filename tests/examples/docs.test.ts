/** Every piece of code in the documentation compiles, runs, and prints what it says it prints. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { NEEDS_PROCESS } from '../harness/skipped.ts';
import { type BlockModule, writeModules } from './support/block-modules.ts';
import { checkTypes, hasUsing } from './support/check-types.ts';
import { type DocBlock, findDocBlocks, ROOT } from './support/doc-blocks.ts';
import { type PrivateServer, startPrivateServer } from './support/private-server.ts';
import type { BlockRun } from './support/run-blocks.ts';
import { runScript } from './support/run-script.ts';

const ALL_WITHIN_MS = 90_000;

const blocks = findDocBlocks();
const hasProcess = inject('serverBinary') !== null;

function needsProcess({ code }: DocBlock): boolean {
  return code.includes('startServer(');
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

function wherePrinted(printed: readonly string[], expected: RegExp, from: number): number {
  return printed.findIndex((line, at) => at >= from && expected.test(line));
}

describe('documentation', () => {
  let server: PrivateServer;
  let folder: string;
  let modules: BlockModule[];
  let wrong: Map<string, string[]>;
  const runs = new Map<string, BlockRun>();

  beforeAll(async () => {
    server = await startPrivateServer();
    // Inside the project, where imports of packages are found.
    mkdirSync(join(ROOT, '.cache'), { recursive: true });
    folder = mkdtempSync(join(ROOT, '.cache', 'doc-blocks-'));
    modules = writeModules(blocks, folder, server);
    const runnable = modules.filter(
      ({ block }) => block.needs.length === 0 && block.runBy === null && (hasProcess || !needsProcess(block)),
    );
    const running = runScript(fileURLToPath(new URL('./support/run-blocks.ts', import.meta.url)), {
      args: runnable.map(({ path }) => path),
      withinMs: ALL_WITHIN_MS,
    });
    wrong = checkTypes(modules, folder);
    const { stdout, stderr } = await running;
    // A native library logs to the same stream.
    for (const line of stdout.split('\n').filter((text) => text.startsWith('{'))) {
      const run = JSON.parse(line) as BlockRun;
      runs.set(run.path, run);
    }
    if (runs.size < runnable.length) throw new Error(`${runs.size} of ${runnable.length} ran\n${stderr}`);
  }, ALL_WITHIN_MS);

  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await server.close();
  });

  it('is found in the README, every guide and the comments of the source', () => {
    const files = new Set(blocks.map(({ file }) => file));
    for (const file of [
      'README.md',
      'docs/getting-started.md',
      'docs/guides/locks.md',
      'docs/recipes/shutting-down.md',
      'src/client.ts',
      'src/locks/lock.ts',
    ]) {
      expect([...files]).toContain(file);
    }
  });

  it('runs in plain JavaScript on every version of Node.js that is supported, where it says js', () => {
    const plain = blocks.filter(({ language }) => language === 'js');
    expect(plain.length).toBeGreaterThan(1);
    expect(plain.filter(({ code }) => hasUsing(code))).toEqual([]);
    expect(hasUsing('await using hold = await lock.lock();')).toBe(true);
  });

  for (const [i, block] of blocks.entries()) {
    const title = `${block.file}:${block.line}`;
    if (block.needs.length > 0) {
      it(`${title} compiles; it is not run, since it needs ${block.needs.join(', ')}`, () => {
        expect(block.needs.filter(isInstalled)).toEqual([]);
        expect(wrong.get((modules[i] as BlockModule).path)).toEqual([]);
      });
      continue;
    }
    const { runBy } = block;
    if (runBy !== null) {
      it(`${title} compiles; ${runBy} runs it`, () => {
        expect(existsSync(join(ROOT, runBy))).toBe(true);
        expect(wrong.get((modules[i] as BlockModule).path)).toEqual([]);
      });
      continue;
    }
    const isSkipped = needsProcess(block) && !hasProcess;
    it.skipIf(isSkipped)(isSkipped ? `${title} ${NEEDS_PROCESS}` : title, () => {
      const { path, prints } = modules[i] as BlockModule;
      expect(wrong.get(path)).toEqual([]);
      const { failure, printed } = runs.get(path) as BlockRun;
      expect(failure).toBeNull();
      let from = 0;
      for (const expected of prints) {
        const at = wherePrinted(printed, expected, from);
        if (at < 0) expect(printed.slice(from)).toContainEqual(expect.stringMatching(expected));
        from = at + 1;
      }
    });
  }
});
