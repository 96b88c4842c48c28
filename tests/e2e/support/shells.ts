/** Shells that check a script for its syntax: those on PATH, and on CI those of Debian's packages. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { debianProgram } from '../../harness/debian-package.ts';

const CACHE = join(import.meta.dirname, '../../../.cache/shells');

type Shell = 'bash' | 'zsh' | 'fish';

function onPath(shell: Shell): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, shell)).find((file) => existsSync(file));
}

/** Whether it may be used here: on CI it is downloaded, elsewhere it must be there. */
export function isShellAtHand(shell: Shell): boolean {
  const { CI = '' } = process.env;
  return CI !== '' || onPath(shell) !== undefined || existsSync(join(CACHE, shell));
}

/** The path of the shell. Downloads it where it is missing. */
export async function shellProgram(shell: Shell): Promise<string> {
  return onPath(shell) ?? debianProgram({ release: 'bookworm', program: shell }, join(CACHE, shell));
}
