/** Finds a server program on this machine, and its version. */
import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const NAMES = ['redis-server', 'valkey-server'];

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // There is no such file, or this user may not run it.
    return false;
  }
}

/** The path of `redis-server` or `valkey-server` on PATH; null if there is neither. */
export function findServerBinary(): string | null {
  const { PATH = '' } = process.env;
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  for (const name of NAMES) {
    for (const folder of folders) {
      const path = join(folder, name);
      if (isExecutable(path)) return path;
    }
  }
  return null;
}

const majors = new Map<string, Promise<number>>();

async function readMajor(binary: string): Promise<number> {
  const { stdout } = await promisify(execFile)(binary, ['--version']);
  const version = /v=(\d+)\./.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`${binary} --version says ${JSON.stringify(stdout)}`);
  return Number(version);
}

/** The major version of a server program. */
export function majorVersion(binary: string): Promise<number> {
  const known = majors.get(binary) ?? readMajor(binary);
  majors.set(binary, known);
  return known;
}
