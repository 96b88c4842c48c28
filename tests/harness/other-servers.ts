/** Servers of other versions than the one on PATH, out of other releases of Debian. Nothing is installed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { debianProgram } from './debian-package.ts';

const RELEASES = {
  'redis-6.0': { release: 'bullseye', program: 'redis-server' },
  'redis-8.0': { release: 'trixie', program: 'redis-server' },
  'valkey-8.1': { release: 'trixie', program: 'valkey-server' },
} as const;

export type OtherServer = keyof typeof RELEASES;

const CACHE = join(import.meta.dirname, '../../.cache/servers');

/** Whether that server may be used here: on CI it is downloaded, elsewhere it must have been before. */
export function isAtHand(which: OtherServer): boolean {
  const { CI = '' } = process.env;
  return CI !== '' || existsSync(join(CACHE, which));
}

/** The path of a program that runs that server; it takes what the server takes. Downloads it at the first call. */
export function otherServer(which: OtherServer): Promise<string> {
  return debianProgram(RELEASES[which], join(CACHE, which));
}
