/**
 * Installs the packages that holdfast is compared with, the first time and whenever the lockfile has changed.
 */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BENCH } from '../folders.ts';

const WITHIN_MS = 300_000;

function changedAt(path: string): number {
  return statSync(join(BENCH, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Resolves in any case; contestants whose package is not there are reported as missing. */
export async function installPackages(say: (text: string) => void): Promise<void> {
  // npm writes this file when it has finished.
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return;
  say('Installing the other libraries into bench/node_modules');
  try {
    await promisify(execFile)('npm', ['ci', '--prefix', BENCH], { timeout: WITHIN_MS });
  } catch (error) {
    say(`npm ci failed: ${(error as Error).message}`);
  }
}
