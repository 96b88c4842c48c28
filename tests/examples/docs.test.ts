/** Every piece of code in the documentation compiles, runs, and prints what it says it prints. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { NEEDS_PROCESS } from '../harness/skipped.ts';
import { type BlockModule, checkTypes, writeModules } from './support/block-modules.ts';
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
    const runnable = modules.filter(({ block }) => hasProcess || !needsProcess(block));
    const running = runScript(fileURLToPath(new URL('./support/run-blocks.ts', import.meta.url)), {
      args: runnable.map(({ path }) => path),
      withinMs: ALL_WITHIN_MS,
    });
    wrong = checkTypes(modules);
    const { stdout, stderr } = await running;
    for (const line of stdout.split('\n').filter((text) => text !== '')) {
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
    for (const file of ['README.md', 'docs/guides/locks.md', 'src/client.ts', 'src/locks/lock.ts']) {
      expect([...files]).toContain(file);
    }
  });

  for (const [i, block] of blocks.entries()) {
    const title = `${block.file}:${block.line}`;
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
