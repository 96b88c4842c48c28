/**
 * Runs a block of documentation as a program, in as many processes as a test likes. The block names the test above its
 * fence: `<!-- run by tests/examples/one-leader.test.ts -->`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { eventually } from '../../harness/wait.ts';
import { writeModules } from './block-modules.ts';
import { findDocBlocks, ROOT } from './doc-blocks.ts';

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** One process that runs the block. */
export class BlockProcess {
  readonly pid: number;
  /** What it has printed, line by line. */
  readonly printed: string[] = [];
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly #child: ChildProcess;
  #stderr = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    this.pid = child.pid as number;
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) =>
      this.printed.push(line),
    );
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    // 'close' comes after the last line was read.
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  /** Resolves when it has printed the line so many times. */
  async until(line: string, { times = 1, withinMs = 20_000 } = {}): Promise<void> {
    await eventually(
      () => {
        if (this.printed.filter((each) => each === line).length >= times) return;
        throw new Error(`"${line}" is not among\n${this.printed.join('\n')}\n${this.#stderr}`);
      },
      { withinMs },
    );
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

/** Makes a program of the block that names this test; call it inside a test, at whose end all processes are killed. */
export function blockProgram(test: string, server: { url: string; port: number }): () => BlockProcess {
  const blocks = findDocBlocks().filter(({ runBy }) => runBy === test);
  if (blocks.length !== 1) throw new Error(`${blocks.length} blocks are run by ${test}`);
  // Inside the project, where imports of packages are found.
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.cache', 'doc-program-'));
  const [module] = writeModules(blocks, folder, server);
  const started: BlockProcess[] = [];
  onTestFinished(async () => {
    for (const each of started) each.kill('SIGKILL');
    await Promise.all(started.map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const child = spawn(process.execPath, ['--import', TSX, module?.path ?? ''], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const running = new BlockProcess(child);
    started.push(running);
    return running;
  };
}
