/**
 * Runs programs out of Debian packages without installing them: apt-get downloads a package with all it depends on,
 * dpkg-deb unpacks them into a folder, and a script there runs the program with these libraries.
 *
 * Which programs, and where they are kept, is left to the callers.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

export interface DebianProgram {
  /** The release of Debian, by its code name. */
  readonly release: string;
  /** The name of the program in /usr/bin or /bin, and of its package. */
  readonly program: string;
  /** Other programs of the package that are wanted. */
  readonly others?: readonly string[];
}

const WITHIN_MS = 180_000;

async function run(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { timeout: WITHIN_MS, maxBuffer: 1e8 });
  return stdout;
}

/** The archive that this machine itself gets its packages from. */
async function archive(): Promise<string> {
  const targets = await run('apt-get', [
    'indextargets',
    '--format',
    '$(CODENAME) $(COMPONENT) $(REPO_URI)',
    'Created-By: Packages',
  ]);
  // `bookworm main`, not `bookworm-updates main`.
  const uri = /^[a-z]+ main (\S+)$/m.exec(targets)?.[1];
  if (uri === undefined) throw new Error(`apt-get knows no release of Debian: ${targets}`);
  return uri;
}

/** Downloads the package and its dependencies, as for a machine on which nothing is installed. */
async function download(folder: string, { release, program }: DebianProgram): Promise<string> {
  const archives = join(folder, 'apt/cache/archives');
  await mkdir(join(archives, 'partial'), { recursive: true });
  await mkdir(join(folder, 'apt/state/lists/partial'), { recursive: true });
  await writeFile(join(folder, 'apt/status'), '');
  const key = '[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]';
  await writeFile(join(folder, 'apt/sources.list'), `deb ${key} ${await archive()} ${release} main\n`);
  const settings = {
    'Dir::Etc::sourcelist': join(folder, 'apt/sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State': join(folder, 'apt/state'),
    'Dir::State::status': join(folder, 'apt/status'),
    'Dir::Cache': join(folder, 'apt/cache'),
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await run('apt-get', [...options, '-qq', 'update']);
  await run('apt-get', [
    ...options,
    '-qq',
    '--yes',
    '--no-install-recommends',
    '--download-only',
    'install',
    program,
  ]);
  return archives;
}

/** The folder's own dynamic loader runs the program with the folder's own libraries. */
async function writeLauncher(folder: string, program: string): Promise<void> {
  const find = async (parent: string, pattern: RegExp) => {
    const names = existsSync(join(folder, parent)) ? await readdir(join(folder, parent)) : [];
    return names.filter((name) => pattern.test(name)).map((name) => join(parent, name));
  };
  const libraries = [...(await find('lib', /-linux-gnu$/)), ...(await find('usr/lib', /-linux-gnu$/))];
  const loaders = await Promise.all(libraries.map((library) => find(library, /^ld-linux.*\.so\.\d$/)));
  const [loader] = loaders.flat();
  if (loader === undefined) throw new Error(`No dynamic loader among the packages of ${program}`);
  const programs = existsSync(join(folder, 'usr/bin', program)) ? 'usr/bin' : 'bin';
  const inFolder = libraries.map((library) => `$here/${library}`);
  // Debian's Redis 6.0 loads cjson and its kin as modules of Lua.
  const script = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export LUA_CPATH="${inFolder.map((library) => `${library}/lua/5.1/?.so`).join(';')}"
exec "$here/${loader}" --library-path "${inFolder.join(':')}" "$here/${programs}/${program}" "$@"
`;
  await writeFile(join(folder, program), script, { mode: 0o755 });
}

async function unpack(wanted: DebianProgram, home: string): Promise<void> {
  const parent = dirname(home);
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'unpacking-'));
  try {
    const archives = await download(folder, wanted);
    for (const file of await readdir(archives)) {
      if (file.endsWith('.deb')) await run('dpkg-deb', ['-x', join(archives, file), folder]);
    }
    await rm(join(folder, 'apt'), { recursive: true });
    for (const program of [wanted.program, ...(wanted.others ?? [])]) await writeLauncher(folder, program);
    await rename(folder, home);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    // Another run may have been faster.
    if (!existsSync(home)) throw error;
  }
}

/** The path of a script that runs the program; those of the others are beside it. Downloads them unless `home` exists. */
export async function debianProgram(wanted: DebianProgram, home: string): Promise<string> {
  if (!existsSync(home)) await unpack(wanted, home);
  return join(home, wanted.program);
}
