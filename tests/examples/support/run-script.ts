/**
 * Runs a TypeScript file as a process of its own, the way a reader would, and hears it out.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { ROOT } from './doc-blocks.ts';

export interface ScriptRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly args?: readonly string[];
  /** Added to this process's environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly withinMs?: number;
}

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** Resolves when the process has ended; one that takes too long is killed, and its code is null. */
export function runScript(
  path: string,
  { args = [], env = {}, withinMs = 50_000 }: RunOptions = {},
): Promise<ScriptRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', TSX, path, ...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
  });
}
